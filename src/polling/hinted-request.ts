import type { ListedCall, ServiceAnswer } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { requestCalls } from './follow-ups.ts'
import type { ObserveOptions } from './observe.ts'
import type { SingleCalls } from './poll-report.ts'
import { pollRequests } from './poll-requests.ts'
import type { RequestRecord } from './request-with-retries.ts'
import { isRegression } from './status-regressions.ts'

export type HintedRequest = { answers: ServiceAnswer[]; requests: readonly RequestRecord[]; singleCalls: SingleCalls }

/**
 * Requests one open call between polls, because a hint says that something happened to it. A server that lags behind may answer:
 * what a call was before is ignored, and so is that the service does not know the call. Later calls of the session count, because no
 * other answer may show them.
 */
export async function requestHinted(
  tracked: TrackedCall,
  options: ObserveOptions & { mask: (text: string) => string },
  aborted: AbortSignal,
): Promise<HintedRequest> {
  const { clock } = options
  const settings = { ...options.settings, retries: 0 }
  const requests = pollRequests({ ...options, settings }, aborted)
  let problem: string | undefined
  const answers = await requestCalls([tracked], {
    fetchCalls: requests.calls,
    aborted,
    wall: clock.wall,
    // The next hinted request or poll requests the call again.
    onProblem: ({ message }) => void (problem = options.mask(message)),
  })
  const isCurrent = (call: ListedCall) => !isRegression(call, options.ledger)
  const current = answers.map((answer) => ({ ...answer, calls: answer.calls.filter(isCurrent), notFound: [] }))
  return { answers: current, requests: requests.sent, singleCalls: { answered: answers.length, problem } }
}
