import type { CallMode, CallStatus } from '../ledger/call.ts'
import { FAILURES } from '../ledger/failure-ratio.ts'
import { capital, formatSeconds } from '../text/format.ts'
import type { CallView } from './call.ts'

/** What a call says of itself. */
export type DescribedCall = Pick<
  CallView,
  | 'type'
  | 'mode'
  | 'receiver_type'
  | 'status'
  | 'began'
  | 'finished'
  | 'end_unknown'
  | 'duration_seconds'
  | 'answer_delay_seconds'
>

const OUTCOMES: Record<CallStatus | 'lost', string> = {
  initiated: 'nobody has answered yet',
  ongoing: 'is connected',
  ended: 'ended',
  unanswered: 'nobody answered',
  rejected: 'rejected',
  canceled: 'canceled by the caller',
  other: 'has a status that is not documented',
  lost: 'the service no longer knows it, and callwatch never saw its end',
}

/** Meetings do not ring. */
export const rings = (mode: CallMode | undefined) => mode === undefined || mode === 'call'

/**
 * `rang 44s, nobody answered`
 *
 * @param times how long it rang, and has been connected (seconds); null where that is not known
 * @param atLeast whether it was last seen ringing then
 */
export function outcomeText(
  status: CallStatus | 'lost',
  { rang, connected, atLeast = false }: { rang: number | null; connected: number | null; atLeast?: boolean },
): string {
  const isShown = rang !== null && (rang > 0 || connected === null)
  const ringing = isShown ? `rang ${atLeast ? 'at least ' : ''}${formatSeconds(rang)}` : []
  const connection = status === 'ongoing' ? 'connected so far' : 'connected for'
  return [ringing, connected === null ? OUTCOMES[status] : `${connection} ${formatSeconds(connected)}`]
    .flat()
    .join(', ')
}

/**
 * A call in a sentence: `Audio call to a user, 21:56:25 UTC: rang 44s, nobody answered.`
 *
 * @param began when it began, as the reader reads it
 * @param now ISO 8601
 */
export function callSentence(call: DescribedCall, began: string, now: string): string {
  const { type, mode, receiver_type: receiver } = call
  const noun = { call: 'call', meet: 'meeting', presenter: 'presentation', other: 'call' }[mode]
  const to = receiver === 'other' ? '' : ` ${mode === 'meet' ? 'with' : 'to'} a ${receiver}`
  const head = capital(`${type === 'other' ? '' : `${type} `}${noun}${to}`)
  return `${head}, ${began}: ${outcomeOf(call, now)}.`
}

function outcomeOf(call: DescribedCall, now: string): string {
  const { status, mode, duration_seconds: duration, answer_delay_seconds: delay, end_unknown: atLeast } = call
  if (status === 'ended') {
    // Without the time of the answer, the ringing is a part of what is known.
    if (duration !== undefined && delay === undefined && rings(mode)) return `ended after ${formatSeconds(duration)}`
    return outcomeText(status, { rang: delay ?? null, connected: duration ?? null })
  }
  const [{ at: began }, last] = timesOf(call, now)
  const isRinging = rings(mode) && last !== undefined && ['initiated', ...FAILURES].includes(status)
  const rang = isRinging ? (Date.parse(last.at) - Date.parse(began)) / 1000 : null
  return outcomeText(status, { rang, connected: null, ...(atLeast && { atLeast }) })
}

type Time = { at: string; what: string }

/**
 * When a call began to ring, was answered, and finished, or now while it is in progress (ISO 8601), as far as that is known: what finished
 * when it began has no known end. Where the service does not say the end, the time is that of the last poll that showed the call.
 */
export function timesOf(call: DescribedCall, now: string): [Time, ...Time[]] {
  const { status, mode, began, finished, end_unknown: isLastSeen, answer_delay_seconds: delay } = call
  const isRinging = rings(mode) && (status !== 'ended' || delay !== undefined)
  const first = { at: began, what: isRinging ? 'rings' : 'begins' }
  const answered = delay ? [{ at: new Date(Date.parse(began) + delay * 1000).toISOString(), what: 'talks' }] : []
  const last =
    finished === undefined
      ? { at: now, what: 'now' }
      : { at: finished, what: isLastSeen ? `last seen, then ${status}` : status }
  return [first, ...answered, ...(Date.parse(last.at) > Date.parse(began) ? [last] : [])]
}
