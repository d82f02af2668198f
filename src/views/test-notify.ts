import * as z from 'zod'
import { namedObject } from './shapes.ts'

/** What became of the samples that were sent to the receivers. */
export const testNotifyAnswer = namedObject('TestNotify', {
  results: z.array(
    z.object({
      receiver: z.string(),
      problem: z.string().nullable().describe('Why it has not accepted all; null if it has'),
    }),
  ),
})
export type TestNotify = z.output<typeof testNotifyAnswer>
