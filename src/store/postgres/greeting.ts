import type { Row } from '../sql.ts'
import { RefusedByOthers } from '../store-error.ts'
import { readOnlyError } from './postgres-error.ts'

/** The oldest version with every feature that is used here. */
const OLDEST_VERSION = 13

/**
 * What callwatch sets for each of its sessions, as startup parameters: these outrank what a role, a database or a server sets. A pooler
 * may not pass them on. Then the session must have what is `accepted`, if anything can go wrong otherwise.
 */
const SETTINGS: Readonly<Record<string, { value: string; accepted?: RegExp }>> = {
  /** A commit waits for the row that another one changes, and then sees the change. */
  default_transaction_isolation: { value: 'read committed', accepted: /^read committed$/ },
  /** What was committed must be there after a crash, and after a failover to the synchronous standby. */
  synchronous_commit: { value: 'on', accepted: /^(on|remote_apply)$/ },
  /** Numbers are read as they were written. */
  extra_float_digits: { value: '1', accepted: /^[1-3]$/ },
  bytea_output: { value: 'hex', accepted: /^hex$/ },
  standard_conforming_strings: { value: 'on', accepted: /^on$/ },
  /** Functions of PostgreSQL, and not others of the same name. */
  search_path: { value: 'pg_catalog' },
  DateStyle: { value: 'ISO' },
  TimeZone: { value: 'UTC' },
  /** The timeout of a statement includes its locks. */
  lock_timeout: { value: '0' },
}

/** @param patience seconds that a statement may take */
export function startupParameters(patience: number): Record<string, string> {
  const values = Object.entries(SETTINGS).map(([name, { value }]) => [name, value] as const)
  return { ...Object.fromEntries(values), statement_timeout: String(Math.round(patience * 800)) }
}

/** Timeouts that not every version has, so that they cannot be startup parameters. */
const NEW_TIMEOUTS = ['idle_session_timeout', 'transaction_timeout'].map((name) => `'${name}'`)

export const WITHOUT_NEW_TIMEOUTS = `
  SELECT set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN (${NEW_TIMEOUTS.join(', ')})`

export const GREETING = `
  SELECT current_setting('server_version_num')::int / 10000 AS version, pg_backend_pid() AS pid,
    pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS reads_only,
    current_setting('server_encoding') AS encoding,
    concat(${NEW_TIMEOUTS.map((name) => `current_setting(${name}, true)`).join(', ')}) ~ '[1-9]' AS has_new_timeouts,
    ${Object.keys(SETTINGS)
      .map((name) => `current_setting('${name}') AS "${name}"`)
      .join(', ')}`

/**
 * Refuses a server that is too old, a session with settings that callwatch cannot use, and, unless `mayRead`, a server that only reads
 * or that cannot store all characters.
 *
 * @returns whether the connection leads to the server itself, and not to a pooler, and whether {@link WITHOUT_NEW_TIMEOUTS} is needed
 */
export function readGreeting(rows: readonly Row[], place: string, mayRead: boolean) {
  const row = rows[0]!
  const refused = (what: string) => new RefusedByOthers(`${place} ${what}`)
  if (Number(row['version']) < OLDEST_VERSION) {
    const needed = `callwatch needs ${OLDEST_VERSION} or later: upgrade it, or name another one`
    throw refused(`is PostgreSQL ${Number(row['version'])}; ${needed}`)
  }
  if (row['reads_only'] === true && !mayRead) throw readOnlyError(place)
  if (row['encoding'] !== 'UTF8' && !mayRead)
    throw refused(
      `has the encoding ${String(row['encoding'])}, which lacks characters that callwatch stores; make a database with ` +
        "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name that one in store.url",
    )
  for (const [name, { value, accepted }] of Object.entries(SETTINGS)) {
    if (accepted?.test(String(row[name])) !== false) continue
    throw refused(
      `has ${name} = ${String(row[name])} for this user, which a pooler does not let callwatch change; run ` +
        `ALTER ROLE "the user of the pooler" SET ${name} = '${value}', and make the pooler connect again`,
    )
  }
  // A pooler's greeting has a different process id than the server that answers.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property that its types leave out
  const isDirect = (rows as unknown as { state: { pid: number } }).state.pid === row['pid']
  return { isDirect, hasNewTimeouts: row['has_new_timeouts'] === true }
}
