import * as z from 'zod'
import type { Position } from '../calls-pages.ts'
import { parseMap } from '../../schema/path.ts'

/** PostgreSQL has no text with a NUL. */
const safeText = z.string().refine((text) => !text.includes('\0'))
const offset = z.strictObject({ offset: z.int().nonnegative() })
const after = z.strictObject({
  after: z.strictObject({
    at: z.number(),
    target: safeText.optional(),
    id: safeText.optional(),
    part: z.number().positive().optional(),
  }),
  finished: z.strictObject({ since: z.number(), until: z.number().nullable() }),
})

/** Encodes a position for the API. Clients must not depend on the content. */
export function cursorOf(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** Decodes a cursor of calls in progress or of the history; undefined for any other text. */
export function readCursor(cursor: string, isHistory: boolean): Position | undefined {
  const position = parseMap(Buffer.from(cursor, 'base64url').toString())
  return (isHistory ? after : offset).safeParse(position).data
}
