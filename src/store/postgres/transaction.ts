import type { Session } from './connection.ts'

/** A process that is suspended within a transaction must not hold its locks for long. */
const IDLE_TIMEOUT_MS = 5000

const SETTINGS = `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`

export const BEGIN = `BEGIN; ${SETTINGS}`

/**
 * For reading. Every statement sees the database at the same moment. There is no time limit while rows arrive, because a target may
 * have a million calls.
 */
export const BEGIN_SNAPSHOT = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${SETTINGS}; SET LOCAL statement_timeout = 0`

/**
 * Runs statements in a transaction. The settings apply to this transaction only, as a transaction pooler requires. Statements that
 * `work` does not await share a round trip.
 */
export async function transaction<T>(
  session: Session,
  work: (session: Session) => Promise<T>,
  begin = BEGIN,
): Promise<T> {
  const begun = session.run(begin)
  begun.catch(() => undefined)
  try {
    const result = await work(session)
    await begun
    await session.run('COMMIT')
    return result
  } catch (error) {
    await session.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}
