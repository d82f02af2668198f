import type { CallType, SeenCall, SeenMinutes } from './call.ts'

/** The four quantities of minutes that are counted of a call, each by itself. */
export const MEASURES = [
  { level: 'call', media: 'audio' },
  { level: 'call', media: 'video' },
  { level: 'participant', media: 'audio' },
  { level: 'participant', media: 'video' },
] as const
export type Measure = (typeof MEASURES)[number]

/**
 * The minutes that one answer gave of a call, in the order of {@link MEASURES}; `undefined` where it said nothing.
 * Minutes without a medium go to that of the call's type. At call level such a total is believed only once the call is
 * over, because the two media may still come apart while it runs.
 */
export function servedMinutes(seen: SeenCall, type: CallType, final: boolean): (number | undefined)[] {
  const call = final ? allot(seen.callMinutes, type) : seen.callMinutes
  const participants = allot(seen.participantMinutes, type)
  return [call.audio, call.video, participants.audio, participants.video]
}

function allot(
  { audio, video, total }: SeenMinutes,
  type: CallType,
): { audio: number | undefined; video: number | undefined } {
  if (total === undefined) return { audio, video }
  return type === 'video' ? { audio, video: (video ?? 0) + total } : { audio: (audio ?? 0) + total, video }
}

/**
 * What a served value changes (minutes): `add` goes to the counter, `correction` to the corrections, and `counted` is
 * what the call's row says from now on. While a call is open its minutes only grow; once it is over the service has the
 * last word, so that minutes less corrections equal the values last served.
 */
export function countMinutes(
  counted: number,
  served: number | undefined,
  final: boolean,
): { counted: number; add: number; correction: number } {
  if (served === undefined || served === counted) return { counted, add: 0, correction: 0 }
  if (served > counted) return { counted: served, add: served - counted, correction: 0 }
  return final ? { counted: served, add: 0, correction: counted - served } : { counted, add: 0, correction: 0 }
}
