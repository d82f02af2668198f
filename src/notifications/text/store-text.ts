import type { StoreMessage } from '../message.ts'
import { formatSeconds, formatTime } from '../../text/format.ts'

/** What a problem of the store means, in sentences around the problem. {@link storeText} inserts the problem itself. */
export type StoreText = { title: string; before: string; problem: string; after: string }

/** The text of a store message: since when, why, and what it means for the counts. */
export function storeText({ state, problem, since, at }: StoreMessage): StoreText {
  const lasted = formatSeconds(at - since)
  if (state === 'recovered') {
    return {
      title: 'callwatch can write to its store again',
      before: `It was not writable from ${formatTime(since)} on, for ${lasted}: `,
      problem,
      after: '. callwatch now counts what happened to calls meanwhile, if the service still lists them.',
    }
  }
  return {
    title: 'callwatch cannot write to its store',
    before: `Since ${formatTime(since)} (${lasted}): `,
    problem,
    after:
      '. Until callwatch can write again, it counts nothing new and sends no further alerts. ' +
      'After that it counts every call that the service still lists.',
  }
}
