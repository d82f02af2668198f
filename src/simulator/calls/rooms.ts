import type { Switches } from '../switches.ts'
import { retimed, type Life } from './life.ts'
import type { World } from './world.ts'

/** A session that the meetings of a group use one after the other: how many began, and when the next may (milliseconds since 1970). */
export type Room = { calls: number; freeMs: number }

/** A meeting begins so long after the one before, which lasts at least as long: two that begin in one second cannot be told apart. */
const GAP_MS = 1000
/** If a room is in use for longer, the meeting has a session of its own. */
const MAX_WAIT_MS = 180_000

/** The call as it begins now; if it waits for the room of its group, it is one that begins later. */
export function inRoom({ rooms }: World, life: Life, { sessions }: Pick<Switches, 'sessions'>): Life {
  const { mode, receiverType, receiver, initiatedMs, endedMs } = life
  if (sessions === 'unique' || mode === 'call' || receiverType !== 'group') return life
  const { calls, freeMs } = rooms.get(receiver) ?? { calls: 0, freeMs: -Infinity }
  const waitMs = freeMs - initiatedMs
  if (waitMs > MAX_WAIT_MS) return life
  if (waitMs > 0) return retimed(life, (ms) => ms + waitMs)
  rooms.set(receiver, { calls: calls + 1, freeMs: Math.max(endedMs, initiatedMs + GAP_MS) + GAP_MS })
  return { ...life, sessionId: receiver, callId: calls === 0 ? receiver : `${receiver}#${calls + 1}` }
}
