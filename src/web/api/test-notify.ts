import * as z from 'zod'
import { namedObject } from '../../views/shapes.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

const results = namedObject('TestNotify', {
  results: z.array(
    z.object({
      receiver: z.string(),
      problem: z.string().nullable().describe('Why it has not accepted all; null if it has'),
    }),
  ),
})

/** Whether messages arrive. */
export const testNotifyRoute = route(
  'POST /api/v1/test-notify',
  'Send a sample firing and a sample resolved message to each receiver; needs http.auth',
  { answers: { 200: results }, atATime: 1 },
  ({ testNotify, auth, onEvent }: WebOptions) =>
    async ({ ip: peer }) => {
      onEvent({ kind: 'receivers tested', peer, user: auth?.().username ?? '' })
      return { results: await testNotify() }
    },
)
