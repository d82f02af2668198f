import type { Call } from '../call.ts'
import { whole } from '../draw.ts'
import { withTurns } from '../turn.ts'
import type { Turn } from '../turn.ts'
import type { Fact } from './fact.ts'

const MINUTE_MS = 60_000

/**
 * An answered call is ongoing again 5 to 40 minutes after its end, for 40 to 60 minutes (of the clock, at any speed), and
 * ends a second time with more minutes. Truth: where it was over before the set-up and open after it, it counts whole, and
 * finishes at the second end; it is open for long enough for any list that is read now and then to show it. Where its first
 * end counts, it is among those whose final status changes (`finalChanged`).
 */
export const reopened: Fact = (life, { random }) => {
  if (life.outcome !== 'ended' || life.startedMs === undefined || life.turns) return undefined
  const ms = life.endedMs + whole(random, 5, 40) * MINUTE_MS
  const lastsMinutes = whole(random, 40, 60)
  const endMs = ms + lastsMinutes * MINUTE_MS
  const again: Turn = {
    ms,
    name: 'reopened',
    change: ({ endedAt: _endedAt, ...call }) => ({ ...call, status: 'ongoing' }),
  }
  const end = (call: Call): Call => ({
    ...call,
    ...withMore(call, lastsMinutes),
    status: 'ended',
    endedAt: Math.floor(endMs / 1000),
    participants: call.participants.map((entry, index) =>
      index === 0 ? { ...entry, ...withMore(entry, lastsMinutes) } : entry,
    ),
  })
  return withTurns(life, again, { ms: endMs, name: 'ended_again', change: end, undoes: again })
}

type Minutes = Pick<Call, 'totalAudioMinutes' | 'totalDurationInMinutes'>

function withMore({ totalAudioMinutes, totalDurationInMinutes }: Minutes, more: number): Minutes {
  const rounded = (minutes: number): number => Math.round(minutes * 10_000) / 10_000
  return {
    totalAudioMinutes: rounded(totalAudioMinutes + more),
    totalDurationInMinutes: rounded(totalDurationInMinutes + more),
  }
}
