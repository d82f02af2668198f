import type { Fact } from './fact.ts'

declare global {
  interface JSON {
    /** What `JSON.stringify` writes as it is (ECMA-262, JSON.parse source text access). */
    rawJSON: (text: string) => object
  }
}

/** Above 2^53, where doubles are 2,048 apart. */
const FIRST = 18_000_000_000_000_000_000n

/**
 * The session id is a number of twenty digits on the wire; calls that began within a few minutes of each other differ in
 * the last digits only. Truth: each is a call of its own, by its decimal text.
 */
export const bigId: Fact = (life) => {
  const { shown } = life
  return {
    ...life,
    sessionId: String(FIRST + BigInt(Math.floor(life.initiatedMs / 100) % 1e9)),
    shown: (call) => ({ ...(shown?.(call) ?? call), sessionId: JSON.rawJSON(call.sessionId) }),
  }
}
