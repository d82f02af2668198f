import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { explainError } from '../../../src/commands/explain-error.ts'
import { postgresError } from '../../../src/store/postgres/postgres-error.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { openShared } from '../../kit/store/postgres/daemon.ts'
import { callwatch, emptyFolder, MAIN } from '../../kit/commands/callwatch.ts'
import { closedPort, listenOn, localServer } from '../../kit/commands/local-server.ts'

const ENV = {
  CALLWATCH_BASE_URL: 'http://127.0.0.1:1/v3',
  CALLWATCH_API_KEY: 'k',
  CALLWATCH_HTTP_HOST: '127.0.0.1',
  CALLWATCH_HTTP_PORT: '0',
}

type Start = { env: Record<string, string>; cwd?: string }

/** How the daemon starts against a database at that place. */
const database = (place: string): Start => ({ env: { CALLWATCH_STORE_URL: `postgres://me:hunter2@${place}` } })

/** A port of loopback at which a server refuses every session with this SQLSTATE. */
async function refusingServer(sqlState: string): Promise<number> {
  const fields = ['SFATAL', 'VFATAL', `C${sqlState}`, 'Mno', ''].join('\0') + '\0'
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + fields.length)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    // It declines TLS first.
    socket.once('data', () => {
      socket.write('N')
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)])))
    })
  })
  return listenOn(server)
}

const refusing = (sqlState: string) => async () => database(`127.0.0.1:${await refusingServer(sqlState)}/x`)

async function heldStore(): Promise<Start> {
  const cwd = emptyFolder()
  const store = openSqliteStore({ path: join(cwd, 'data.db') })
  onTestFinished(() => store.close())
  return { env: { CALLWATCH_STORE_PATH: 'data.db' }, cwd }
}

async function storeThatIsWritten(): Promise<Start> {
  const cwd = emptyFolder()
  await openSqliteStore({ path: join(cwd, 'data.db') }).close()
  const writer = new DatabaseSync(join(cwd, 'data.db'))
  writer.exec('BEGIN IMMEDIATE')
  onTestFinished(() => writer.close())
  return { env: { CALLWATCH_STORE_PATH: 'data.db' }, cwd }
}

async function takenPort(): Promise<Start> {
  const { port } = await localServer(() => undefined)
  return { env: { CALLWATCH_STORE_PATH: ':memory:', CALLWATCH_HTTP_PORT: String(port) } }
}

const nowhere = async (): Promise<Start> => ({ env: { CALLWATCH_HTTP_HOST: 'callwatch-test.invalid' } })

/** A target whose key is in a file with this content. */
const secretFile = (content?: string) => async (): Promise<Start> => {
  const cwd = emptyFolder()
  if (content !== undefined) writeFileSync(join(cwd, 'key'), content)
  return { env: { CALLWATCH_API_KEY: '', CALLWATCH_API_KEY_FILE: './key', CALLWATCH_STORE_PATH: ':memory:' }, cwd }
}

const noConfig = async (): Promise<Start> => ({ env: { CALLWATCH_CONFIG: '/mnt/none.yaml' } })

async function mistakenAsWell(): Promise<Start> {
  const { env, cwd } = await secretFile()()
  return { env: { ...env, CALLWATCH_POLL_INTERVAL: 'often' }, ...(cwd && { cwd }) }
}

const run = ({ env, cwd = emptyFolder() }: Start) => callwatch(['run'], { env: { ...ENV, ...env }, cwd })

describe('a start ends with exit code 1 if it may succeed later, and with 2 if no restart mends it:', () => {
  test.each<[code: number, where: string, () => Promise<Start>, RegExp]>([
    [1, 'no database is listening', async () => database(`127.0.0.1:${await closedPort()}/x`), /ECONNREFUSED/],
    [1, 'the name of its host is not known', async () => database('nowhere.invalid/x'), /ENOTFOUND|EAI_AGAIN/],
    [1, 'the database is still starting', refusing('57P03'), /cannot be reached/],
    [1, 'the database is shutting down', refusing('57P01'), /cannot be reached/],
    [1, 'the database has no connection left', refusing('53300'), /has no connection left/],
    [1, 'a pooler has no server', refusing('08P01'), /cannot be used/],
    [1, 'another daemon still uses the file', heldStore, /in use by another callwatch \(.*process \d+\); stop it/],
    [1, 'another program writes the file', storeThatIsWritten, /the store data\.db cannot be used: .*locked/],
    [1, 'its port is taken', takenPort, /EADDRINUSE: .* 127\.0\.0\.1:\d+; set another http\.host or http\.port/],
    [
      1,
      'one of two databases is away, and the other one refuses',
      async () => database(`127.0.0.1:${await closedPort()},127.0.0.1:${await refusingServer('28000')}/x`),
      /does not let this user in/,
    ],
    [
      1,
      'the name of its own host is not known',
      nowhere,
      /callwatch-test\.invalid; set another http\.host or http\.port/,
    ],
    [1, 'the database does not exist yet', refusing('3D000'), /does not exist/],
    [1, 'the role does not exist yet, or has another password', refusing('28P01'), /does not let this user in/],
    [1, 'the role has no rights yet', refusing('42501'), /a privilege is missing/],
    [
      1,
      'the file of a secret is not there yet',
      secretFile(undefined),
      /API_KEY_FILE: the file `\.\/key` does not exist/,
    ],
    [1, 'the file of a secret is still empty', secretFile(''), /API_KEY_FILE: the file `\.\/key` is empty/],
    [1, 'the file of a secret is still incomplete', secretFile('a\nb'), /API_KEY_FILE: found a value \(hidden/],
    [
      1,
      'its configuration is on a volume that is not mounted yet',
      noConfig,
      /the file `\/mnt\/none\.yaml` does not exist/,
    ],
    [
      1,
      'the root certificate of the database is not there yet',
      async () => database('127.0.0.1/x?sslrootcert=/nowhere/ca.pem'),
      /names a sslrootcert that cannot be read/,
    ],
    [2, 'a secret is not there yet, and the text has a mistake', mistakenAsWell, /found `often`/],
    [2, 'a parameter of the database is unknown', async () => database('127.0.0.1/x?foo=1'), /has a parameter foo/],
    [2, 'the address of the database is wrong', async () => database('a,b'), /CALLWATCH_STORE_URL: .*of a PostgreSQL/],
    [2, 'the file is a folder', async () => ({ env: { CALLWATCH_STORE_PATH: '.' } }), /\. is a folder/],
  ])('%i where %s', async (expected, _where, prepare, sentence) => {
    const { code, stderr } = await run(await prepare())
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringMatching(sentence) })
    expect(stderr).not.toContain('hunter2')
    const problems = stderr.trim().replace(/^1 problem in the configuration.*\n/, '')
    if (expected === 1) expect(problems).not.toContain('\n')
  })

  test('the disk has no room for the store', () => {
    // A limit of half a kilobyte for each file fails as a full disk does.
    const { status, stderr } = spawnSync('sh', ['-c', `ulimit -f 1; exec "${process.execPath}" "${MAIN}" run`], {
      cwd: emptyFolder(),
      env: { ...ENV, HOME: '/dev/null', PATH: process.env['PATH'] },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^the store .* cannot be used: .*\n$/),
    })
  })

  test('a store that this user may not write to: the sentence names what it is, whose, and what to do', () => {
    const UID = 12_345
    const isRoot = process.getuid?.() === 0
    const cases = [
      [`mkdir -m 555 data${isRoot ? `; chown ${UID} data` : ''}`, 'CWD/data: make it writable'],
      ['mkdir data', `CWD/data, which belongs to user 0: run \`chown ${UID} CWD/data\``],
      ['true', `CWD, which belongs to user 0: create CWD/data for user ${UID}`],
      [
        `mkdir data; touch data/callwatch.db; chown ${UID} data`,
        `data/callwatch.db, which belongs to user 0: run \`chown ${UID} data/callwatch.db\``,
      ],
      [
        `mkdir data; touch data/callwatch.db.lock; chown -R ${UID} data; chown 0 data/callwatch.db.lock`,
        `data/callwatch.db.lock, which belongs to user 0: run \`chown ${UID} data/callwatch.db.lock\``,
      ],
    ].slice(0, isRoot ? undefined : 1)
    const folders = cases.map(([prepare]) => {
      const cwd = emptyFolder()
      execFileSync('sh', ['-c', `chmod 755 .; ${prepare}`], { cwd })
      return cwd
    })
    const script = `
      const { openSqliteStore } = await import('${new URL('../../../src/store/open-sqlite.ts', import.meta.url).href}')
      for (const cwd of ${JSON.stringify(folders)}) {
        process.chdir(cwd)
        try {
          openSqliteStore({ path: 'data/callwatch.db' })
        } catch ({ kind, message }) {
          console.log(kind + message.replaceAll(cwd, 'CWD'))
        }
      }`
    const user = isRoot ? { uid: UID, gid: UID } : {}
    const said = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      ...user,
      encoding: 'utf8',
    })
    const begin = /^unavailable.*; user \d+ may not write to /
    expect(
      said
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(begin, '')),
    ).toEqual(cases.map(([, sentence]) => `${sentence}, or name another file in store.path`))
  })

  test.each([
    ['CERT_HAS_EXPIRED', 1],
    ['SELF_SIGNED_CERT_IN_CHAIN', 1],
  ])('the certificate of the database may be renewed or replaced: %s', (code, exitCode) => {
    const error = postgresError(Object.assign(new Error('certificate'), { code }), 'the database x')
    expect(explainError(error, 'run')).toEqual({
      code: exitCode,
      text: expect.stringContaining('the certificate of the database x is not trusted'),
    })
  })

  inPostgres('the daemons that run', ({ newDatabase }) => {
    test('have other settings', async () => {
      const url = await newDatabase()
      const { cluster } = await openShared(url)
      await cluster.join('first', '{}', { 'poll.interval': '1h' })
      const { code, stderr } = await run({ env: { CALLWATCH_STORE_URL: url } })
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is not that of first') })
    })
  })
})
