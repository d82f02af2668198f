import { defer, firstValueFrom, takeUntil, tap, type Observable } from 'rxjs'
import type { LedgerState } from '../ledger/state.ts'
import type { CallAnswer, CallPage, CallsClient } from '../service/calls-client.ts'
import { whenAborted } from './abortable.ts'
import { attempt, type AttemptOptions, type RequestRecord } from './attempt.ts'
import { followClock, settleClock } from './clock-difference.ts'
import type { PollMemory } from './poll-memory.ts'
import { unsettledClock } from './poll-problems.ts'

export type PollRequestsOptions = {
  client: CallsClient
  attempt: Omit<AttemptOptions, 'onRequest'>
  ledger: LedgerState
  memory: PollMemory
}

/**
 * The requests of one poll. Each rejects with a {@link ServiceError}, and with an `EmptyError` once the poll is aborted. An
 * answer whose clock is an hour or more from where it was is refused until it is settled which is right.
 */
export type PollRequests = {
  /** Those that were made so far. */
  readonly made: readonly RequestRecord[]
  /** @param once it is not made again where it fails */
  page: (page: number, once?: boolean) => Promise<CallPage>
  call: (id: string) => Promise<CallAnswer>
  /** Learns the service's clock from the first page, once a poll until it is settled; whether it is. */
  settleClock: () => Promise<boolean>
}

export function pollRequests(options: PollRequestsOptions, aborted: AbortSignal): PollRequests {
  const { client, ledger, memory } = options
  const made: RequestRecord[] = []
  const asking: AttemptOptions = { ...options.attempt, onRequest: (record) => void made.push(record) }
  /** Whether an answer of this poll has shown a step of one of the clocks. */
  let hasStepped = false
  /** The first page that was fetched to see the service's clock, and is still to be read. */
  let fetched: CallPage | undefined

  function checkClock({ now, host, isUndated }: Pick<CallPage, 'now' | 'host' | 'isUndated'>): void {
    const skew = ledger.sync.clockSkew
    if (skew === undefined || isUndated === true) return
    const { clock, isBelieved } = followClock(memory.clock, now - host, { skew, isCounted: hasStepped })
    memory.clock = clock
    hasStepped ||= !isBelieved
    if (!isBelieved) throw unsettledClock(clock)
  }

  function answerOf<T extends Pick<CallPage, 'now' | 'host' | 'isUndated'>>(request$: Observable<T>): Promise<T> {
    return firstValueFrom(
      request$.pipe(
        tap((answer) => checkClock(answer)),
        takeUntil(whenAborted(aborted)),
      ),
    )
  }

  async function page(number: number, once = false): Promise<CallPage> {
    const first = number === 1 ? fetched : undefined
    fetched = undefined
    if (first !== undefined) return first
    const retries = once ? 0 : asking.retries
    return answerOf(attempt('list_calls', (signal) => client.listCalls(number, signal), { ...asking, retries }))
  }

  return {
    made,
    page,
    call: async (id) => {
      const request$ = defer(() => {
        memory.askedAt.set(id, asking.clock.monotonic())
        return attempt('get_call', (signal) => client.getCall(id, signal), asking)
      })
      const answer = await answerOf(request$)
      memory.backward.answered(id)
      return answer
    },
    settleClock: async () => {
      if (ledger.sync.clockSkew !== undefined) return true
      fetched = await page(1)
      memory.clock = settleClock(memory.clock, fetched.isUndated === true ? undefined : fetched.now - fetched.host)
      return memory.clock.settled !== undefined
    },
  }
}
