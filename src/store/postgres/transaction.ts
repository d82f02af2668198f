import type { Session } from './connection.ts'

/** A process that is halted in the middle of a transaction must not hold its locks for long. */
const IDLE_TIMEOUT_MS = 5000

export const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`

/**
 * Runs statements of which all or none are kept. Its settings are its own, as a transaction pooler needs it. Statements that
 * `work` does not await go to the server in one round trip.
 */
export async function transaction<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  const begun = session.run(BEGIN)
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

/**
 * The same for reading: every statement sees the database as it was at one moment. There is no limit while rows come: a
 * target may have a million calls.
 */
export async function snapshot<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  return transaction(session, async (begun) => {
    await begun.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0')
    return work(begun)
  })
}
