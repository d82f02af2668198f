import { defer, tap, type Observable } from 'rxjs'
import type { CallAnswer, CallPage } from '../service/calls-client.ts'
import { firstUnlessAborted } from '../rx/abortable.ts'
import { addSkew, checkSkew, MAX_STEP_SECONDS, skewInUse } from './clock-skew.ts'
import type { ObserveOptions } from './observe.ts'
import type { PollMemory } from './poll-memory.ts'
import { unknownClockSkew } from './poll-problems.ts'
import { requestWithRetries, type RequestOptions, type RequestRecord } from './request-with-retries.ts'

type Dated = Pick<CallPage, 'serviceTime' | 'hostTime' | 'isUndated' | 'limit'>

export type PollRequests = ReturnType<typeof pollRequests>

/**
 * The requests of one poll. Each rejects with a {@link ServiceError}, or with an {@link AbortedError} once the poll is
 * aborted. If the clock of an answer has moved by more than an hour, the answer is rejected until enough answers agree with
 * it.
 */
export function pollRequests(options: ObserveOptions, aborted: AbortSignal) {
  const { client, clock, rateLimiter, ledger, memory, settings } = options
  const sent: RequestRecord[] = []
  const requestOptions: RequestOptions = { ...options, ...settings, onRequest: (record) => void sent.push(record) }
  /** Whether an answer of this poll was rejected because of its clock. */
  let hasStepped = false
  /** The first page, if `measureSkew` has read it and `page` has not returned it yet. */
  let firstPage: CallPage | undefined

  function checkClock({ serviceTime, hostTime, isUndated }: Dated): void {
    const inUse = skewInUse({ ledger, memory })
    if (inUse === undefined || isUndated === true) return
    const checked = checkSkew(memory.clock, serviceTime - hostTime, {
      inUse,
      isCounted: hasStepped,
      now: clock.monotonic(),
    })
    memory.clock = checked.clock
    hasStepped ||= !checked.isAccepted
    if (!checked.isAccepted) throw unknownClockSkew(checked.clock)
  }

  function answerOf<T extends Dated>(request$: Observable<T>): Promise<T> {
    const answer$ = request$.pipe(
      tap(({ limit }) => limit && rateLimiter.note(limit)),
      tap((answer) => checkClock(answer)),
    )
    return firstUnlessAborted(answer$, aborted)
  }

  /** @param withoutRetries for a page that the poll does not need */
  async function page(number: number, withoutRetries = false): Promise<CallPage> {
    const first = number === 1 ? firstPage : undefined
    firstPage = undefined
    if (first !== undefined) return first
    const retries = withoutRetries ? 0 : settings.retries
    const list = (signal: AbortSignal) => client.listCalls(number, signal)
    return answerOf(requestWithRetries('list_calls', list, { ...requestOptions, retries }))
  }

  return {
    /** The completed requests. */
    sent,
    page,
    /** Requests a session for these calls of it. */
    calls: async (session: string, ids: readonly string[]): Promise<CallAnswer> => {
      const request$ = defer(() => {
        for (const id of ids) memory.requestedAt.set(id, clock.monotonic())
        return requestWithRetries('get_call', (signal) => client.getCall(session, signal), requestOptions)
      })
      const answer = await answerOf(request$)
      for (const id of ids) noteAnswer(memory, id, answer)
      return answer
    },
    /** If the clock skew is unknown, reads the first page to measure it. Returns whether it is known. */
    measureSkew: async (): Promise<boolean> => {
      if (ledger.sync.clockSkew !== undefined) return true
      memory.clock = { ...memory.clock, accepted: undefined }
      const first = await page(1)
      const skew = first.isUndated === true ? undefined : first.serviceTime - first.hostTime
      memory.clock = addSkew(memory.clock, skew, clock.monotonic())
      const { accepted } = memory.clock
      if (isNear(skew, accepted)) firstPage = first
      return accepted !== undefined
    },
  }
}

/** Notes whether Get Call has shown a call, or others of its session alone. */
function noteAnswer({ regressions, replaced }: PollMemory, id: string, { calls }: CallAnswer): void {
  const isShown = calls.some((call) => call.id === id)
  if (isShown) regressions.answered(id)
  if (isShown || calls.length === 0) replaced.delete(id)
  else replaced.add(id)
}

/** If answers do not agree, their median is used, and an answer may be far from it. One without a `Date` has the host's time. */
const isNear = (skew: number | undefined, accepted = NaN) =>
  skew === undefined ? accepted === 0 : Math.abs(skew - accepted) <= MAX_STEP_SECONDS
