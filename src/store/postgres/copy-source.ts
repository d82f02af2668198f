import type { CopySource } from '../copy-tables.ts'
import { connectAlone } from './copy-alone.ts'
import { copyRows } from './copy-rows.ts'

/**
 * Opens a store for a copy of it, and keeps every daemon away from it meanwhile; a standby will do.
 *
 * @throws {StoreError} refused: a daemon uses it, it is not ours or of another schema, or it lets nobody in
 */
export async function openPostgresSource(url: string): Promise<CopySource> {
  const connection = await connectAlone(url, { readOnly: true })
  return {
    place: connection.place,
    rows: (table) => copyRows(connection, table),
    close: connection.close,
  }
}
