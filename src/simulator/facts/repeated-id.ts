import { whole } from '../draw.ts'
import type { Life } from '../life.ts'
import type { Fact } from './fact.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** The call is in the list twice, the same in both rows. Truth: it is one call. */
export const doubled: Fact = (life) => withRow(life, { startsEarlierMs: 0 })

/**
 * Another row has the same id: a call that was over within the hour before this one began, as where a room is used again.
 * Truth: the row that starts later is the call. When the other one is seen first depends on when one looks: set these calls
 * aside (`repeatedId`).
 */
export const repeated: Fact = (life, { random }) =>
  withRow(life, { startsEarlierMs: whole(random, 10, 60) * MINUTE_MS })

/** As `repeated`, but days earlier, so that the other row never counts. Truth: the row that starts later is the call. */
export const reused: Fact = (life, { random }) => withRow(life, { startsEarlierMs: whole(random, 1, 3) * DAY_MS })

/** Not for calls that are gone for a while: the other row would stay. */
function withRow(life: Life, otherRow: Life['otherRow'] & {}): Life | undefined {
  if (life.otherRow || life.turns?.some(({ name }) => name === 'vanished')) return undefined
  return { ...life, otherRow }
}
