import { whole } from '../draw.ts'
import type { Fact } from './fact.ts'

/** The session id is a number on the wire. Truth: it is the same call as the one of its decimal text. */
export const numericId: Fact = (life, { random }) => {
  const { shown } = life
  return {
    ...life,
    sessionId: String(whole(random, 1e14, 9e15)),
    shown: (call) => ({ ...(shown?.(call) ?? call), sessionId: Number(call.sessionId) }),
  }
}
