import { whole } from '../draw.ts'
import type { Fact } from './fact.ts'

declare global {
  interface JSON {
    /** What `JSON.stringify` writes as it is (ECMA-262, JSON.parse source text access). */
    rawJSON: (text: string) => object
  }
}

/** So far above 2^53 that doubles are 2^38 apart: with a million ids a millisecond that is four and a half minutes. */
const FIRST = 1_800_000_000_000_000_000_000_000_000n
const IDS_A_MILLISECOND = 1_000_000

/**
 * The session id is a number of 28 digits on the wire; calls that began within a few minutes of each other differ in
 * the last digits only, and so do those that began together. Truth: each is a call of its own, by its decimal text.
 */
export const bigId: Fact = (life, { random }) => {
  const { shown, initiatedMs } = life
  const place = BigInt(initiatedMs % 1e12) * BigInt(IDS_A_MILLISECOND)
  return {
    ...life,
    sessionId: String(FIRST + place + BigInt(whole(random, 0, IDS_A_MILLISECOND - 1))),
    shown: (call) => ({ ...(shown?.(call) ?? call), sessionId: JSON.rawJSON(call.sessionId) }),
  }
}
