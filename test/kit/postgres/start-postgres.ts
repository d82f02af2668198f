import { execFile, spawn, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Connection } from '../../../src/store/postgres/connection.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { eventually } from '../eventually.ts'

/** Where Debian has the programs of PostgreSQL 15; PG_BIN names another place. */
export const BIN = process.env['PG_BIN'] ?? '/usr/lib/postgresql/15/bin'

/** How to get what is missing; undefined where nothing is. */
export const MISSING_POSTGRES = existsSync(join(BIN, 'initdb'))
  ? undefined
  : `no PostgreSQL in ${BIN}: apt-get install postgresql, or name the folder of another one in PG_BIN`

/** A PostgreSQL server in a temporary folder, on a free port of loopback. */
export type PostgresServer = {
  readonly port: number
  readonly folder: string
  /** The postmaster, for signals. */
  readonly pid: () => number
  /** The address of its database `callwatch`, as store.url takes it. */
  readonly url: string
  /** The address of another database of it, made where it is not there. */
  readonly database: (name: string) => Promise<string>
  /** From now on a user of it has to say his password; all others are let in without one. */
  readonly demandPasswords: (user: string) => void
  /** From now on it offers TLS with this certificate. */
  readonly useTls: (key: string, certificate: string) => Promise<void>
  /** A connection of the superuser. */
  readonly connect: () => Promise<Connection>
  /** Halts the postmaster and all its backends, as if its machine were suspended, until `resume`. */
  readonly halt: () => void
  readonly resume: () => void
  /** kill -9 of the postmaster and all its backends, as if the machine had died. */
  readonly kill: () => Promise<void>
  /** Starts it again in the same folder, on the same port. */
  readonly restart: () => Promise<void>
  /** Of a standby: makes it the primary. */
  readonly promote: () => Promise<void>
  /** Ends it and removes its folder. */
  readonly stop: () => Promise<void>
}

export type PostgresOptions = {
  /** Whether it writes to disk as it would in production; else a crash of the machine (not of the server) loses data. */
  durable?: boolean
  /** Further lines of postgresql.conf. */
  settings?: Readonly<Record<string, string>>
}

const TIMEOUT_SECONDS = 60

/** Settings under which a server starts and commits fast, and takes a standby. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '2GB',
  wal_level: 'replica',
  max_wal_senders: '8',
  hot_standby: 'on',
  log_min_messages: 'error',
} as const
const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off' } as const

/** Starts a primary with an empty database `callwatch`. */
export async function startPostgres({ durable = false, settings = {} }: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = temporaryFolder()
  await makeCluster(folder)
  configure(folder, { ...SETTINGS, ...(durable ? {} : NOT_DURABLE), ...settings })
  const server = await startIn(folder)
  await server.database('callwatch')
  return server
}

/** Makes an empty cluster: a copy of one that is kept, since initdb takes ten times as long. */
async function makeCluster(folder: string): Promise<void> {
  const kept = join(
    import.meta.dirname,
    '../../../node_modules/.cache/callwatch',
    await program('initdb', ['--version']),
  )
  if (existsSync(kept)) return void (await promisify(execFile)('cp', ['-a', `${kept}/.`, folder]))
  await program('initdb', ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N'])
  const partial = `${kept}.${process.pid}`
  mkdirSync(dirname(kept), { recursive: true })
  await promisify(execFile)('cp', ['-a', folder, partial])
  try {
    renameSync(partial, kept)
  } catch {
    // Another process was faster.
    rmSync(partial, { recursive: true, force: true })
  }
}

/**
 * Starts a standby that copies everything from a primary; with `synchronous`, the primary then answers no commit before it
 * is on the standby, too.
 */
export async function startStandby(
  primary: PostgresServer,
  { synchronous = true }: { synchronous?: boolean } = {},
): Promise<PostgresServer> {
  const folder = temporaryFolder()
  const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`
  await program('pg_basebackup', ['-D', folder, '-d', from, '-R', '-X', 'stream', '-c', 'fast'])
  const standby = await startIn(folder)
  if (!synchronous) return standby
  const connection = await primary.connect()
  await connection.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
  await connection.run('SELECT pg_reload_conf()')
  const isSynchronous = async () => {
    const rows = await connection.run("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")
    return rows.length === 1
  }
  await eventually(async () => ((await isSynchronous()) ? true : undefined), TIMEOUT_SECONDS)
  await connection.close()
  // Promoted, it must not wait for the one that is dead.
  configure(folder, { synchronous_standby_names: '' })
  return standby
}

async function startIn(folder: string): Promise<PostgresServer> {
  const port = await freePort()
  let postmaster = await launch(folder, port)
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const admin = () => connect(urlOf('postgres'), { readOnly: true })
  const end = async (signal: NodeJS.Signals) => {
    if (postmaster.exitCode !== null || postmaster.signalCode !== null) return
    const ended = new Promise((resolve) => postmaster.once('exit', resolve))
    postmaster.kill('SIGCONT')
    postmaster.kill(signal)
    await ended
  }
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of [postmaster.pid!, ...childrenOf(postmaster.pid!)]) signalIfThere(pid, signal)
  }
  const restart = async () => {
    await end('SIGINT')
    postmaster = await launch(folder, port)
  }
  return {
    port,
    folder,
    pid: () => postmaster.pid!,
    url: urlOf('callwatch'),
    database: async (name) => {
      const connection = await admin()
      const known = await connection.run('SELECT FROM pg_database WHERE datname = $1', [name])
      if (known.length === 0) await connection.run(`CREATE DATABASE "${name}"`)
      await connection.close()
      return urlOf(name)
    },
    demandPasswords: (user) => {
      const path = join(folder, 'pg_hba.conf')
      writeFileSync(path, `host all ${user} 127.0.0.1/32 scram-sha-256\n${readFileSync(path, 'utf8')}`)
      postmaster.kill('SIGHUP')
    },
    useTls: async (key, certificate) => {
      for (const [name, text] of Object.entries({ 'server.key': key, 'server.crt': certificate })) {
        const path = join(folder, name)
        writeFileSync(path, text, { mode: 0o600 })
        const { uid, gid } = unprivileged()
        if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
      }
      configure(folder, { ssl: 'on' })
      await restart()
    },
    connect: admin,
    halt: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    kill: async () => {
      const backends = childrenOf(postmaster.pid!)
      await end('SIGKILL')
      for (const pid of backends) signalIfThere(pid, 'SIGKILL')
    },
    restart,
    promote: async () => {
      const connection = await admin()
      // It may take longer than any statement may.
      await connection.run('SELECT pg_promote(false)')
      await eventually(async () => {
        const [row] = await connection.run('SELECT pg_is_in_recovery() AS is_standby')
        return row?.['is_standby'] === false ? true : undefined
      }, 60)
      await connection.close()
    },
    stop: async () => {
      await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function launch(folder: string, port: number): Promise<ChildProcess> {
  rmSync(join(folder, 'postmaster.pid'), { force: true })
  const log: string[] = []
  const postmaster = spawn(join(BIN, 'postgres'), ['-D', folder, '-p', String(port)], {
    ...unprivileged(),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {},
  })
  // It does not outlive this process.
  const endWithTest = () => postmaster.kill('SIGQUIT')
  process.once('exit', endWithTest)
  postmaster.once('exit', () => process.off('exit', endWithTest))
  postmaster.stderr.on('data', (text: Buffer) => log.push(String(text)))
  postmaster.once('error', (error) => log.push(String(error)))
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const isUp = async () => {
    if (postmaster.exitCode !== null) throw new Error(`postgres ended: ${log.join('')}`)
    const connection = await connect(url, { readOnly: true }).catch(() => undefined)
    await connection?.close()
    return connection !== undefined ? true : undefined
  }
  try {
    await eventually(isUp, TIMEOUT_SECONDS)
  } catch (error) {
    endWithTest()
    throw error
  }
  return postmaster
}

function configure(folder: string, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
  appendFileSync(join(folder, 'postgresql.auto.conf'), lines.join(''))
}

/** A folder of the one who is to run the server: PostgreSQL refuses to be run by root. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-postgres-'))
  const { uid, gid } = unprivileged()
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  chmodSync(folder, 0o700)
  return folder
}

/** Runs one of PostgreSQL's programs. @returns what it prints */
async function program(name: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(join(BIN, name), args, { ...unprivileged(), env: {} })
  return stdout.trim()
}

/** For root, the user `postgres`, or nobody. */
export function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = users.find((user) => user.startsWith('postgres:')) ?? users.find((user) => user.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) }
}

function childrenOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`
  return existsSync(path) ? readFileSync(path, 'utf8').split(' ').filter(Boolean).map(Number) : []
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
