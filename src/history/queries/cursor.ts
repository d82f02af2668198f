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

const POSITIONS = { inProgress: offset, finished: after, every: z.union([offset, after]) }

/** Decodes a cursor of such calls; undefined for any other text. */
export function readCursor(cursor: string, which: keyof typeof POSITIONS): Position | undefined {
  return POSITIONS[which].safeParse(parseMap(Buffer.from(cursor, 'base64url').toString())).data
}
