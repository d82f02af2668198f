import { readFileSync } from 'node:fs'
import os from 'node:os'
import { getCACertificates } from 'node:tls'
import { RefusedByOthers, StoreError } from '../store-error.ts'

/** The hosts and the name of a database, and its user. */
export type PostgresAddress = ReturnType<typeof readAddress>

export type Host = { host: string; port: number }

/** As libpq has it (https://www.postgresql.org/docs/current/libpq-ssl.html): `prefer` where nothing is said. */
export type Tls = { mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'; ca: string | undefined }

const PORT = 5432
const MODES = ['prefer', 'disable', 'require', 'verify-ca', 'verify-full'] as const
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
export function readAddress(url: string) {
  const { user, password = '', hosts = '', database = '', query } = ADDRESS_FORM.exec(url)?.groups ?? {}
  const settings = new URLSearchParams(query)
  const unknown = [...settings.keys()].find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) throw refused(`has a parameter ${unknown}; remove it, known are ${KNOWN.join(', ')}`)
  const read = hosts.split(',').map(readHost)
  const name = decodeURIComponent(database)
  const role = user === undefined ? systemUser() : decodeURIComponent(user)
  if (role === undefined) throw refused('has no user, nor has the user of this process a name; write postgres://USER@…')
  return {
    /** In the order in which they are tried. */
    hosts: read,
    database: name,
    user: role,
    password: decodeURIComponent(password),
    tls: readTls(settings),
    /** Whether read-only servers are skipped, even by commands that only read. */
    readWrite: choice(settings, 'target_session_attrs', ['any', 'read-write']) === 'read-write',
    /** The name of the database in sentences, without user and password. */
    place: `the database ${name} at ${read.map(({ host, port }) => `${host}:${port}`).join(', ')}`,
  }
}

function readHost(text: string): Host {
  const [, host = '', port = String(PORT)] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535) throw refused('has an invalid host; write host or host:port')
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** `sslrootcert=system` trusts the authorities of the machine and of Node.js, and those of NODE_EXTRA_CA_CERTS. */
function readTls(settings: URLSearchParams): Tls {
  const file = settings.get('sslrootcert')
  const mode = choice(settings, 'sslmode', file === 'system' ? ['verify-full'] : MODES)
  if (file === null) return { mode, ca: undefined }
  if (file === 'system')
    return { mode, ca: [...getCACertificates('system'), ...getCACertificates('default')].join('\n') }
  try {
    // As in libpq, `require` with a root certificate checks the server's against it.
    return { mode: mode === 'require' ? 'verify-ca' : mode, ca: readFileSync(file, 'utf8') }
  } catch (error) {
    throw new RefusedByOthers(`store.url names a sslrootcert that cannot be read: ${String(error)}`, error)
  }
}

/** @param all the values that a parameter may have, first its default */
function choice<Value extends string>(settings: URLSearchParams, name: string, all: readonly Value[]): Value {
  const given = settings.get(name) ?? all[0]
  const known = all.find((value) => value === given)
  if (known === undefined) throw refused(`has ${name}=${given}; it must be ${all.join(' or ')}`)
  return known
}

/** The name of the operating system's user; undefined if there is none, as in some containers. */
export function systemUser(): string | undefined {
  try {
    return os.userInfo().username
  } catch {
    return undefined
  }
}

function refused(what: string): StoreError {
  return new StoreError('refused', `store.url ${what}`)
}
