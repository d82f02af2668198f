import type { StoreMessage } from '../message.ts'
import { formatSeconds, formatTime } from '../../text/format.ts'

/** The most that a message for people shows of the problem (characters). */
export const MAX_PROBLEM = 500

/**
 * The text of a store message: since when, why, and what it means for the counts.
 *
 * @param shown the problem as the receiver shows it; default: as it is
 */
export function storeText({ state, problem, since, at }: StoreMessage, shown = (text: string) => text) {
  const lasted = formatSeconds(at - since)
  if (state === 'recovered') {
    return {
      title: 'callwatch can write to its store again',
      line:
        `It was not writable from ${formatTime(since)} on, for ${lasted}: ${shown(problem)}. ` +
        'callwatch now counts what happened to calls meanwhile, if the service still lists them.',
    }
  }
  return {
    title: 'callwatch cannot write to its store',
    line:
      `Since ${formatTime(since)} (${lasted}): ${shown(problem)}. ` +
      'Until callwatch can write again, it counts nothing new and sends no further alerts. ' +
      'After that it counts every call that the service still lists.',
  }
}
