import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
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
import { closedPort, localServer } from '../../kit/commands/local-server.ts'

const ENV = {
  CALLWATCH_BASE_URL: 'http://127.0.0.1:1/v3',
  CALLWATCH_API_KEY: 'k',
  CALLWATCH_HTTP_HOST: '127.0.0.1',
  CALLWATCH_HTTP_PORT: '0',
}

type Start = { env: Record<string, string>; cwd?: string }

/** How the daemon starts against a database at that place. */
const database = (place: string): Start => ({ env: { CALLWATCH_STORE_URL: `postgres://me:secret@${place}` } })

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
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen')
  return address.port
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

const run = ({ env, cwd = emptyFolder() }: Start) => callwatch(['run'], { env: { ...ENV, ...env }, cwd })

describe('a start that may succeed later ends with exit code 1:', () => {
  test.each<[string, () => Promise<Start>, RegExp]>([
    ['no database is listening', async () => database(`127.0.0.1:${await closedPort()}/x`), /ECONNREFUSED/],
    ['the name of its host is not known', async () => database('nowhere.invalid/x'), /ENOTFOUND|EAI_AGAIN/],
    ['the database is still starting', refusing('57P03'), /cannot be reached/],
    ['the database is shutting down', refusing('57P01'), /cannot be reached/],
    ['the database has no connection left', refusing('53300'), /has no connection left/],
    ['a pooler has no server', refusing('08P01'), /cannot be used/],
    ['another daemon still uses the file', heldStore, /data\.db is in use by another callwatch \(.*\); stop it/],
    ['another program writes the file', storeThatIsWritten, /the store data\.db cannot be used: .*locked/],
    ['its port is taken', takenPort, /EADDRINUSE.*; set another http\.host or http\.port/],
    [
      'one of two databases is away, and the other one refuses',
      async () => database(`127.0.0.1:${await closedPort()},127.0.0.1:${await refusingServer('28000')}/x`),
      /does not let this user in/,
    ],
  ])('%s', async (_what, prepare, sentence) => {
    const { code, stderr } = await run(await prepare())
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(sentence) })
    expect(stderr).not.toContain('secret')
    expect(stderr.trim().split('\n')).toHaveLength(1)
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

  describe('the store belongs to another user, which the sentence names with what to do:', () => {
    const UID = 12_345
    /** As that user, in a folder where it may write only what the shell command gives it. */
    const startAs = (prepare: string, cwd = emptyFolder()) => {
      execFileSync('sh', ['-c', `chmod 755 .; ${prepare}`], { cwd })
      const started = spawnSync(process.execPath, [MAIN, 'run'], {
        cwd,
        env: { ...ENV, CALLWATCH_STORE_PATH: 'data/callwatch.db' },
        encoding: 'utf8',
        timeout: 20_000,
        ...(process.getuid?.() === 0 && { uid: UID, gid: UID }),
      })
      return { code: started.status, said: started.stderr.replaceAll(cwd, 'CWD') }
    }

    test.skipIf(process.getuid?.() !== 0).each([
      ['its folder', 'mkdir data', `CWD/data, which belongs to user 0: run \`chown ${UID} CWD/data\``],
      ['the folder above one that is missing', 'true', `CWD, which belongs to user 0: create CWD/data for user ${UID}`],
      [
        'its file',
        `mkdir data; touch data/callwatch.db; chown ${UID} data`,
        `data/callwatch.db, which belongs to user 0: run \`chown ${UID} data/callwatch.db\``,
      ],
      [
        'its lock',
        `mkdir data; touch data/callwatch.db.lock; chown -R ${UID} data; chown 0 data/callwatch.db.lock`,
        `data/callwatch.db.lock, which belongs to user 0: run \`chown ${UID} data/callwatch.db.lock\``,
      ],
    ])('%s', (_what, prepare, sentence) => {
      const { code, said } = startAs(prepare)
      expect(code).toBe(1)
      expect(said).toContain(`; user ${UID} may not write to ${sentence}, or name another file in store.path\n`)
    })

    test('a folder of this user that it may not write to', () => {
      const owner = process.getuid?.() === 0 ? `; chown ${UID} data` : ''
      const { code, said } = startAs(`mkdir -m 555 data${owner}`)
      expect([code, said]).toEqual([1, expect.stringContaining('CWD/data: make it writable, or name another file')])
    })
  })

  test.each([
    ['CERT_HAS_EXPIRED', 1],
    ['SELF_SIGNED_CERT_IN_CHAIN', 2],
  ])('the certificate of the database may be renewed, but not become another one: %s', (code, exitCode) => {
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

describe('a start that no restart mends ends with exit code 2:', () => {
  test.each<[string, () => Promise<Start>, RegExp]>([
    ['the database does not exist', refusing('3D000'), /does not exist/],
    ['the password is wrong', refusing('28P01'), /does not let this user in/],
    [
      'the address of the database is wrong',
      async () => database('a,b'),
      /CALLWATCH_STORE_URL: .*expected the URL of a PostgreSQL/,
    ],
    ['the file is a folder', async () => ({ env: { CALLWATCH_STORE_PATH: '.' } }), /\. is a folder/],
  ])('%s', async (_what, prepare, sentence) => {
    const { code, stderr } = await run(await prepare())
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(sentence) })
  })
})
