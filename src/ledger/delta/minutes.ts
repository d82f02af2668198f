import type { CallType, SeenCall, SeenMinutes } from '../call.ts'

/** The four kinds of minutes of a call, which are counted separately. */
export const MEASURES = [
  { level: 'call', media: 'audio' },
  { level: 'call', media: 'video' },
  { level: 'participant', media: 'audio' },
  { level: 'participant', media: 'video' },
] as const
type Measure = (typeof MEASURES)[number]

export const minutesOf = ({ level, media }: Measure) => `${level} ${media} minutes` as const

/**
 * The minutes that an answer shows for a call, in the order of {@link MEASURES}; `undefined` if it shows none. Minutes
 * without a medium count for the call's type. At call level they count only once the call is final, because a later answer
 * may still split them.
 */
export function servedMinutes(seen: SeenCall, type: CallType, final: boolean): (number | undefined)[] {
  const call = final ? assignTotal(seen.callMinutes, type) : seen.callMinutes
  const participants = assignTotal(seen.participantMinutes, type)
  return [call.audio, call.video, participants.audio, participants.video]
}

/** Assigns minutes without a medium to the call's type. */
export function assignTotal(minutes: SeenMinutes, type: CallType): Pick<SeenMinutes, 'audio' | 'video'> {
  const { audio, video, total } = minutes
  if (total === undefined) return minutes
  return type === 'video' ? { audio, video: (video ?? 0) + total } : { audio: (audio ?? 0) + total, video }
}

/**
 * The minutes of a call that are counted after an answer. While it is open, its minutes only grow. Once it is final they may
 * decrease, so that minutes less corrections equal the latest values of the service.
 */
export function minutesAfter(counted: number, served: number | undefined, final: boolean): number {
  if (served === undefined) return counted
  return final ? served : Math.max(counted, served)
}

/** The order of an answer's entries, in which minutes are added, may change, and sums of floats depend on it. */
const TOLERANCE = 1e-9

/** Whether two sums are equal. The tolerance is relative for sums above 1, else absolute. */
export function isEqual(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b))
}
