import { spawn } from 'node:child_process'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../../src/store/postgres/connection.ts'
import { eventually } from '../eventually.ts'
import { freePort, temporaryFolder, unprivileged, type PostgresServer } from './start-postgres.ts'

const PGBOUNCER = process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer'

/** How to get it; undefined where it is there. */
export const MISSING_PGBOUNCER = existsSync(PGBOUNCER)
  ? undefined
  : `no ${PGBOUNCER}: apt-get install pgbouncer, or name another one in PGBOUNCER`

/** A pooler before a server: each transaction is run on whichever of a few connections is free. */
export type Pgbouncer = {
  /** The address of a database of the server, by the pooler. */
  urlOf: (url: string) => string
  stop: () => Promise<void>
}

/** Starts a transaction pooler on a free port of loopback. */
export async function startPgbouncer(server: PostgresServer): Promise<Pgbouncer> {
  const folder = temporaryFolder()
  const port = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
    * = host=127.0.0.1 port=${server.port} user=postgres
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${port}
    unix_socket_dir =
    auth_type = any
    pool_mode = transaction
    default_pool_size = 3
    server_round_robin = 1
    max_client_conn = 200
    `.replaceAll(/^ +/gm, ''),
  )
  chmodSync(settings, 0o644)
  const pgbouncer = spawn(PGBOUNCER, ['-q', settings], { ...unprivileged(), stdio: 'ignore', env: {} })
  const urlOf = (url: string) => url.replace(`:${server.port}/`, `:${port}/`)
  await eventually(async () => {
    const connection = await connect(urlOf(server.url))
    await connection.close()
    return true
  }, 60)
  return {
    urlOf,
    stop: async () => {
      const ended = new Promise((resolve) => pgbouncer.once('exit', resolve))
      pgbouncer.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
