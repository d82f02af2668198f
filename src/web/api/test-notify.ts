import { testNotifyAnswer } from '../../views/test-notify.ts'
import type { WebOptions } from '../server.ts'
import { route } from './route.ts'

/** Whether messages arrive. */
export const testNotifyRoute = route(
  'POST /api/v1/test-notify',
  'Send a sample firing and a sample resolved message to each receiver; needs http.auth',
  { answers: { 200: testNotifyAnswer }, atATime: 1 },
  ({ testNotify, auth, onEvent }: WebOptions) =>
    async ({ ip: peer }) => {
      onEvent({ kind: 'receivers tested', peer, user: auth?.().username ?? '' })
      return { results: await testNotify() }
    },
)
