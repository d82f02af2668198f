import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { StoreError } from '../store.ts'

/** Where a database is, and who asks. */
export type PostgresAddress = {
  /** Tried in this order. */
  hosts: readonly Host[]
  database: string
  user: string
  password: string
  tls: Tls
  /** Whether a server that only reads is passed over, even by who only reads. */
  readWrite: boolean
  /** How it is called in a sentence: without user and password. */
  place: string
}

export type Host = { host: string; port: number }

/** As libpq has it (https://www.postgresql.org/docs/current/libpq-ssl.html): `prefer` where nothing is said. */
export type Tls = { mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'; ca: string | undefined }

const PORT = 5432
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
const KNOWN = ['sslmode', 'sslrootcert', 'target_session_attrs']

/**
 * Reads `postgres://user:password@host:port,host:port/database?sslmode=…&sslrootcert=…&target_session_attrs=read-write`.
 * Everything but one host may be left out. The password is never in what is thrown.
 *
 * @throws {StoreError} refused: what is wrong with it
 */
export function readAddress(url: string): PostgresAddress {
  const [, userinfo = '', hostlist = '', path = '', query = ''] =
    /^postgres(?:ql)?:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url) ?? []
  if (hostlist === '') throw refused('is no address like postgres://user:password@host:5432/database')
  const [user = '', password = ''] = splitOnce(userinfo, ':').map(decode)
  const hosts = hostlist.split(',').map(readHost)
  const settings = new URLSearchParams(query)
  const unknown = [...settings.keys()].find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) throw refused(`has a parameter ${unknown}; known are ${KNOWN.join(', ')}`)
  const name = user === '' ? userInfo().username : user
  const database = path === '' ? name : decode(path)
  return {
    hosts,
    database,
    user: name,
    password,
    tls: readTls(settings),
    readWrite: readSession(settings) === 'read-write',
    place: `the database ${database} at ${hosts.map(({ host, port }) => `${host}:${port}`).join(', ')}`,
  }
}

function readHost(text: string): Host {
  const [, host = '', port = String(PORT)] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535) throw refused('names a host that is none; write host or host:port')
  return { host: decode(host.replace(/^\[|\]$/g, '')), port: Number(port) }
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

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    throw refused('has a % that stands for nothing; write %25 for the sign itself', error)
  }
}

function refused(what: string, cause?: unknown): StoreError {
  return new StoreError('refused', `store.url ${what}`, cause)
}
