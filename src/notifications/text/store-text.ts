import type { StoreMessage } from '../message.ts'
import { formatSeconds, formatTime } from '../../text/format.ts'

/** What the problem with the store means, in sentences around the problem itself, which is put in by {@link storeText}. */
export type StoreText = { title: string; before: string; problem: string; after: string }

/** That the store cannot be written, or can again: since when, why, and what it means for the counts. */
export function storeText({ state, problem, since, at }: StoreMessage): StoreText {
  const lasted = formatSeconds(at - since)
  if (state === 'recovered') {
    return {
      title: 'callwatch can write to its store again',
      before: `It was not writable from ${formatTime(since)} on, for ${lasted}: `,
      problem,
      after: '. What happened to calls meanwhile is counted now, as far as the service still lists it.',
    }
  }
  return {
    title: 'callwatch cannot write to its store',
    before: `Since ${formatTime(since)} (${lasted}): `,
    problem,
    after:
      '. Nothing new is counted, and no further alert is sent, until it can be written to again. ' +
      'No call is lost that the service still lists then.',
  }
}
