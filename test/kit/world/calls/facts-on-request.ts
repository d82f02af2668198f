import type { Fact } from './facts.ts'
import { reopened } from './reopened.ts'
import { whole } from '../../../../src/simulator/random.ts'
import { always, withTurns, type TurnedLife } from './turn.ts'

declare global {
  interface JSON {
    /** What `JSON.stringify` writes as it is (ECMA-262, JSON.parse source text access). */
    rawJSON: (text: string) => object
  }
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const YEARS_10_MS = 3650 * DAY_MS
/** So far above 2^53 that doubles are 2^38 apart: with a million ids a millisecond that is four and a half minutes. */
const FIRST_BIG_ID = 1_800_000_000_000_000_000_000_000_000n
const IDS_A_MILLISECOND = 1_000_000

/**
 * Facts that must be asked for by name: each needs a world in which a correct daemon can be exact about it. Applied
 * after the ordinary ones, in this order.
 */
export const factsOnRequest = {
  /** Of those who join an answered call, only the first one does: the others' devices never connect. Expected: as any other call. */
  alone: (life) => {
    const first = life.seats.findIndex(({ joins }) => joins !== undefined)
    const seats = life.seats.map((seat, i) => {
      const { joins: _joins, ...absent } = seat
      return i === first ? seat : absent
    })
    return { ...life, seats }
  },
  /**
   * An answered call that never ends: it is ongoing until the world is healed, and ends then. Its figures stay as they
   * were when its participants had left. Expected: in progress until it ends.
   */
  stuck: (life) => {
    if (life.startedMs === undefined || life.turns) return undefined
    return { ...life, endedMs: life.endedMs + YEARS_10_MS, progressMs: YEARS_10_MS, endsWhenHealed: true }
  },
  /**
   * An answered call is ongoing again 5 to 40 minutes after its end, for 40 to 60 minutes (of the clock, at any speed:
   * long enough for any list that is read now and then), and ends a second time with more minutes. Expected: if it
   * ended before the set-up and is open after it, it counts whole and finishes at the second end. Where its first end
   * counts, its final status changes (`setAside`: `finalChanged`).
   */
  reopened: (life, { random }) => {
    if (life.turns) return undefined
    return reopened(life, life.endedMs + whole(random, 5, 40) * MINUTE_MS, random)
  },
  /**
   * `endedAt` is more than a day ahead, by up to two hours (a device's wrong date), and becomes plausible while a run
   * lasts. Expected: the call counts once, among those `withoutEndedAt`; or never, where it ended before the set-up.
   * Not for unknown statuses, which only an `endedAt` makes final.
   */
  ended_ahead: (life, { random }) => {
    if (life.outcome === 'failed' || life.endShownMs !== undefined) return undefined
    const ahead = 86_400 + 60 * whole(random, 30, 120)
    return withTurns(
      life,
      always(({ endedAt, ...call }) => (endedAt === undefined ? call : { ...call, endedAt: endedAt + ahead })),
    )
  },
  /**
   * The session id is a number of 28 digits on the wire; calls that began within a few minutes of each other, or
   * together, differ in the last digits only. Expected: each is a call of its own, by its decimal text.
   */
  big_id: (life, { random }) => {
    const { shown, initiatedMs } = life
    const place = BigInt(initiatedMs % 1e12) * BigInt(IDS_A_MILLISECOND)
    return {
      ...life,
      sessionId: String(FIRST_BIG_ID + place + BigInt(whole(random, 0, IDS_A_MILLISECOND - 1))),
      shown: (call) => ({ ...(shown?.(call) ?? call), sessionId: JSON.rawJSON(call.sessionId) }),
    }
  },
  /** The call is in the list twice, the same in both rows. Expected: it is one call. Not for calls that vanish for a while: the other row would stay. */
  doubled: (life) => (life.turns?.some(({ name }) => name === 'vanished') ? undefined : { ...life, isDoubled: true }),
  /** The session id begins as those that callwatch derives. Expected: as of any other session. */
  marked_id: (life) => withTextId(life, `cw:${life.sessionId}`),
  /** Neither List Calls nor Get Call shows a participant. Expected: no participant minutes, and one `unknown` of those invited. */
  without_participants: (life) =>
    withTurns(
      life,
      always((call) => ({ ...call, participants: [] })),
    ),
  /** The session id has 500 characters. Expected: as of any other session. */
  long_id: (life) => withTextId(life, life.sessionId.padEnd(500, '-')),
} satisfies Record<string, Fact>

/** Not for ids that are numbers on the wire. */
const withTextId = (life: TurnedLife, sessionId: string): TurnedLife | undefined =>
  /^\d+$/.test(life.sessionId) ? undefined : { ...life, sessionId }
