import { isBug, RefusedByOthers, StoreError } from '../store-error.ts'

/** Why a connection was dropped: the database did not answer. */
export class HungError extends Error {
  override readonly name = 'HungError'
}

type Meaning = { kind: StoreError['kind']; say: (place: string, message: string) => string }

const refused = (say: Meaning['say']): Meaning => ({ kind: 'refused', say })
const unavailable = (say: Meaning['say']): Meaning => ({ kind: 'unavailable', say })

const badCredentials = refused(
  (place, message) =>
    `${place} does not let this user in (${message}); check user and password in store.url, and pg_hba.conf`,
)
const badCertificate = refused(
  (place, message) =>
    `the certificate of ${place} is not trusted (${message}); name its root in sslrootcert, or set another sslmode in store.url`,
)
const noPrivilege = refused((place, message) => {
  const remedy = message.includes('for database')
    ? 'let its administrator run CREATE SCHEMA callwatch AUTHORIZATION "the user in store.url"'
    : 'a daemon has to own the schema callwatch and all in it; for commands that only read, USAGE of the schema and SELECT on its tables are enough'
  return `a privilege is missing in ${place} (${message}); ${remedy}`
})
const noTls = unavailable(
  (place, message) =>
    `${place} failed the TLS handshake (${message}); enable TLS there, or set another sslmode in store.url`,
)
const unreachable = unavailable(
  (place, message) => `${place} cannot be reached (${message}); see that it runs, and check store.url`,
)

/**
 * The SQLSTATEs of a server that cannot do it, though another one may: a read-only server, and the classes of connections, of missing
 * resources, of shutdowns and recoveries, and of the system's files. In 53400, one statement exceeded a limit.
 */
const SERVER_CANNOT = /^(25006|08...|53(?!400)...|57P..|58...)$/

const QUERY_CANCELED = '57014'
export const LOCK_NOT_AVAILABLE = '55P03'

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), or by Node's own code. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  '28P01': badCredentials,
  '28000': badCredentials,
  '3D000': refused((place) => `${place} does not exist; create it, or name another one in store.url`),
  '42501': noPrivilege,
  '25006': unavailable(
    (place) => `${place} is read-only (a standby, or default_transaction_read_only); callwatch needs a writable server`,
  ),
  '53100': unavailable((place, message) => `the disk of ${place} is full (${message}); make room there`),
  '53300': unavailable((place, message) => `${place} has no connection left (${message}); raise its max_connections`),
  [QUERY_CANCELED]: unavailable((place) => `${place} reached the timeout of a statement; check its load`),
  [LOCK_NOT_AVAILABLE]: unavailable(
    (place) => `another session has locked tables of ${place} for long, as pg_dump does; try again when it has ended`,
  ),
  '57P01': unreachable,
  '57P02': unreachable,
  '57P03': unreachable,
  ERR_TLS_CERT_ALTNAME_INVALID: badCertificate,
  // The certificate may be renewed, or this host's clock may be set.
  CERT_HAS_EXPIRED: { ...badCertificate, kind: 'unavailable' },
  DEPTH_ZERO_SELF_SIGNED_CERT: badCertificate,
  SELF_SIGNED_CERT_IN_CHAIN: badCertificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: badCertificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: badCertificate,
}

const NETWORK = /^(E[A-Z]+|CONNECTION_(CLOSED|DESTROYED|ENDED)|CONNECT_TIMEOUT|ERR_SSL_.+|ERR_SOCKET_.+|ERR_STREAM_.+)$/

/**
 * Converts an error of PostgreSQL or of the network to a StoreError. Its message never contains the password. A bug is returned
 * unchanged.
 */
export function postgresError(error: unknown, place: string): Error {
  if (error instanceof StoreError || isBug(error)) return error
  const message = messageOf(error)
  const code = codeOf(error)
  const isNetwork = error instanceof HungError || (code !== undefined && NETWORK.test(code))
  const known = code === undefined ? undefined : MEANINGS[code]
  const way = /secure TLS connection/.test(message) ? noTls : unreachable
  const meaning = known ?? (isNetwork ? way : undefined)
  if (meaning?.kind === 'refused') return new RefusedByOthers(meaning.say(place, message), error)
  if (meaning !== undefined) return new StoreError(meaning.kind, meaning.say(place, message), error)
  return new StoreError('unavailable', `${place} cannot be used: ${message}`, error)
}

/** Why callwatch refuses a read-only server. */
export function readOnlyError(place: string): StoreError {
  const { kind, say } = MEANINGS['25006']!
  return new StoreError(kind, say(place, 'read only'))
}

/** The SQLSTATE of an error or of its cause. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof StoreError) return codeOf(error.cause)
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Whether the server failed, whatever the statement was: it did not answer in time, or says that it cannot do it. */
export function isOfServer(error: unknown): boolean {
  if (error instanceof StoreError && error.cause instanceof HungError) return true
  const code = codeOf(error) ?? ''
  return code === QUERY_CANCELED || SERVER_CANNOT.test(code)
}

/** Whether the server refused the statement, and the connection can still be used. */
export function isAnswer(error: unknown): boolean {
  if (error instanceof StoreError) return isAnswer(error.cause)
  const isSoft = error instanceof Error && 'severity' in error && error.severity === 'ERROR'
  return isSoft && !SERVER_CANNOT.test(codeOf(error) ?? '')
}

/** The AggregateError of a name with several addresses has no message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
