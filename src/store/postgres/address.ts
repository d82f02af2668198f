import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { StoreError } from '../store-error.ts'

/** The hosts and the name of a database, and its user. */
export type PostgresAddress = {
  /** In the order in which they are tried. */
  hosts: readonly Host[]
  database: string
  user: string
  password: string
  tls: Tls
  /** Whether read-only servers are skipped, even by commands that only read. */
  readWrite: boolean
  /** The name of the database in sentences, without user and password. */
  place: string
}

export type Host = { host: string; port: number }

/** As libpq has it (https://www.postgresql.org/docs/current/libpq-ssl.html): `prefer` where nothing is said. */
export type Tls = { mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'; ca: string | undefined }

const PORT = 5432
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
const KNOWN = ['sslmode', 'sslrootcert', 'target_session_attrs']

/** The name or address of a host, with or without a port. */
const HOST = String.raw`(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::[1-9]\d{0,4})?`

/** `postgres://user:password@host:port,host:port/database?…`. At least one host and the database are required. */
export const ADDRESS_FORM = new RegExp(
  String.raw`^(?<scheme>postgres(?:ql)?)://(?:(?<user>[^\s:@/?#]+)(?::(?<password>[^\s@/?#]*))?@)?` +
    String.raw`(?<hosts>${HOST}(?:,${HOST})*)/(?<database>[^\s/?#]+)(?:\?(?<query>[^\s#]*))?$`,
)

/**
 * Reads an address, which may have `sslmode=…`, `sslrootcert=…` and `target_session_attrs=…` in its query. Errors never contain the
 * password.
 *
 * @param url of the form {@link ADDRESS_FORM}
 * @throws {StoreError} refused: a parameter or a port is invalid
 */
export function readAddress(url: string): PostgresAddress {
  const { user, password = '', hosts = '', database = '', query } = ADDRESS_FORM.exec(url)?.groups ?? {}
  const settings = new URLSearchParams(query)
  const unknown = [...settings.keys()].find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) throw refused(`has a parameter ${unknown}; known are ${KNOWN.join(', ')}`)
  const read = hosts.split(',').map(readHost)
  const name = decodeURIComponent(database)
  return {
    hosts: read,
    database: name,
    user: user === undefined ? userInfo().username : decodeURIComponent(user),
    password: decodeURIComponent(password),
    tls: readTls(settings),
    readWrite: readSession(settings) === 'read-write',
    place: `the database ${name} at ${read.map(({ host, port }) => `${host}:${port}`).join(', ')}`,
  }
}

function readHost(text: string): Host {
  const [, host = '', port = String(PORT)] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535) throw refused('has an invalid host; write host or host:port')
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

function readTls(settings: URLSearchParams): Tls {
  const given = settings.get('sslmode') ?? 'prefer'
  const mode = MODES.find((known) => known === given)
  if (mode === undefined) throw refused(`has sslmode=${given}; it must be one of ${MODES.join(', ')}`)
  const file = settings.get('sslrootcert')
  if (file === null) return { mode, ca: undefined }
  try {
    // As in libpq, `require` with a root certificate checks the server's against it.
    return { mode: mode === 'require' ? 'verify-ca' : mode, ca: readFileSync(file, 'utf8') }
  } catch (error) {
    throw refused(`names a sslrootcert that cannot be read: ${String(error)}`, error)
  }
}

function readSession(settings: URLSearchParams): 'any' | 'read-write' {
  const given = settings.get('target_session_attrs') ?? 'any'
  if (given === 'any' || given === 'read-write') return given
  throw refused(`has target_session_attrs=${given}; it must be read-write or any`)
}

function refused(what: string, cause?: unknown): StoreError {
  return new StoreError('refused', `store.url ${what}`, cause)
}
