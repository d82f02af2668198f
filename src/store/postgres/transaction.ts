import type { Session } from './connection.ts'

/** A daemon that is stopped in the middle of a transaction must not hold its locks for long (milliseconds). */
const LONGEST_PAUSE = 5000

const BEGIN = `SET LOCAL idle_in_transaction_session_timeout = ${LONGEST_PAUSE}`

/**
 * Runs statements of which all or none are kept. It begins and is limited for itself alone, as a transaction pooler needs it.
 * What `work` does not wait for goes to the server in one flight.
 */
export async function transaction<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  const begun = session.run(`BEGIN; ${BEGIN}`)
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
 * The same for what only reads: all of it sees the database as it was at one moment. It may take as long as it takes, while
 * rows come: a target may have a million calls.
 */
export async function snapshot<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  return transaction(session, async (begun) => {
    await begun.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0')
    return work(begun)
  })
}
