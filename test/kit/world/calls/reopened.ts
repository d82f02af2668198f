import type { Call } from '../../../../src/simulator/calls/call.ts'
import { whole, type Random } from '../../../../src/simulator/random.ts'
import { rounded } from './ordinary-facts.ts'
import { withTurns, type Turn, type TurnedLife } from './turn.ts'

const MINUTE_MS = 60_000

/**
 * An answered call that is ongoing again from `ms` on (milliseconds since 1970), for 40 to 60 minutes of the clock, at any speed: long
 * enough for any list that is read now and then. It ends once more, with more minutes. Undefined for any other call.
 */
export function reopened(life: TurnedLife, ms: number, random: Random): TurnedLife | undefined {
  if (life.outcome !== 'ended' || life.startedMs === undefined) return undefined
  const more = whole(random, 40, 60)
  const endMs = ms + more * MINUTE_MS
  const reopen: Turn['change'] = ({ endedAt: _endedAt, ...call }) => ({ ...call, status: 'ongoing' })
  const again: Turn = { ms, name: 'reopened', change: reopen }
  const change = (call: Call): Call => ({
    ...longer(call, more),
    status: 'ended',
    endedAt: Math.floor(endMs / 1000),
    participants: call.participants.map((entry, index) => (index === 0 ? stayingLonger(entry, more) : entry)),
  })
  return withTurns(life, again, { ms: endMs, name: 'ended_again', change, undoes: again })
}

const longer = (call: Call, more: number): Call => ({
  ...call,
  totalAudioMinutes: rounded(call.totalAudioMinutes + more),
  totalDurationInMinutes: rounded(call.totalDurationInMinutes + more),
})

const stayingLonger = (entry: Call['participants'][number], more: number): Call['participants'][number] => ({
  ...entry,
  totalAudioMinutes: rounded(entry.totalAudioMinutes + more),
  totalDuration: rounded(entry.totalDuration + more),
})
