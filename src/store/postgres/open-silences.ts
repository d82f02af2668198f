import type { SilenceBook } from '../silence-book.ts'
import { connectBeside } from './beside.ts'
import { postgresSilences } from './silences.ts'

/**
 * Opens a store for its silences alone: the daemons that use it see them the next time that they look.
 *
 * @throws {StoreError} refused: nothing of callwatch is in the database, or of another schema, or it lets nobody in
 */
export async function openPostgresSilences(url: string): Promise<SilenceBook> {
  const session = await connectBeside(url)
  return { ...postgresSilences(session), close: session.close }
}
