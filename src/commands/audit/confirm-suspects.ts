import { firstValueFrom } from 'rxjs'
import { sleep } from '../../clock/clock.ts'
import type { PollConfig } from '../../polling/poll-section.ts'
import { finalStatus, type SeenCall } from '../../ledger/call.ts'
import { requestWithRetries } from '../../polling/request-with-retries.ts'
import { isRequestable, type CallsClient } from '../../service/calls-client.ts'
import { ServiceError } from '../../service/service-error.ts'
import type { AuditTargetOptions } from './target.ts'

type ConfirmOptions = Pick<AuditTargetOptions, 'target' | 'reader' | 'asking' | 'clock'> & {
  poll: Pick<PollConfig, 'interval'>
  client: CallsClient
  /** Calls that seem to differ, as the list showed them. */
  suspects: readonly SeenCall[]
  /** Reads the call's row again. Returns whether the row equals the call as the service shows it. Sets the id of the call. */
  isEqualNow: (call: SeenCall) => Promise<boolean>
}

/** A daemon may count a call between the service's answer and the read of its row, but hardly in each round. */
const ROUNDS = 2
/** The most differing calls that a round requests again. */
const MAX_DIFFERING = 100

/**
 * Requests each call that seems to differ again, after the daemon had time to count it.
 *
 * @returns how the service showed the calls that were `requested` again; the open ones that it did not know (`gone`); how many still
 * differ and were not requested again; whether a daemon polls the target, if anything differed; and why the requests stopped
 */
export async function confirmSuspects(options: ConfirmOptions) {
  const { client, asking, isEqualNow } = options
  const suspects = new Map(options.suspects.map((call) => [call, call]))
  const requested = new Map<SeenCall, SeenCall>()
  const gone = new Set<SeenCall>()
  let daemonPolls: boolean | undefined
  let problem: string | undefined

  const dropSettled = async () => {
    for (const [first, call] of suspects) if (await isEqualNow(call)) suspects.delete(first)
  }
  const request = async (first: SeenCall): Promise<void> => {
    const call = await showAgain(suspects.get(first)!)
    if (call === undefined) gone.add(first)
    else requested.set(first, call)
    if (call === undefined || (await isEqualNow(call))) suspects.delete(first)
    else suspects.set(first, call)
  }
  const showAgain = async (listed: SeenCall): Promise<SeenCall | undefined> => {
    // A service may show the latest call of a session alone, or no calls that are over. Such a call is as it was listed.
    const over = finalStatus(listed) === undefined ? undefined : listed
    try {
      const get = (signal: AbortSignal) => client.getCall(listed.session, signal)
      const { calls } = await firstValueFrom(requestWithRetries('get_call', get, asking))
      return calls.find(({ id }) => id === listed.id) ?? over
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'not_found') return over
      throw error
    }
  }

  try {
    for (let round = 0; round < ROUNDS && suspects.size > 0; round++) {
      daemonPolls = await nextPoll(options)
      await dropSettled()
      let differing = 0
      for (const first of suspects.keys()) {
        if (differing === MAX_DIFFERING) break
        if (isRequestable(first.session)) await request(first)
        if (suspects.has(first)) differing += 1
      }
      if (!daemonPolls) break
      if (suspects.size > 0) await nextPoll(options)
      await dropSettled()
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    problem = `not every differing call could be requested again: ${error.message}`
  }
  const notRequested = [...suspects.keys()].filter((first) => !requested.has(first)).length
  return { requested, gone, notRequested, daemonPolls, problem }
}

/**
 * Waits until a daemon has completed two successful polls, so that the second one began after now.
 *
 * @returns false if no daemon does so in the time of three polls
 */
async function nextPoll({ target, reader, clock, poll }: ConfirmOptions): Promise<boolean> {
  const lastSuccess = async () => (await reader.target(target))?.sync.lastSuccessHostTime
  const pause = Math.min(1, Math.max(0.05, poll.interval / 4))
  const end = clock.monotonic() + 3 * poll.interval + 2
  let last = await lastSuccess()
  let polls = 0
  while (polls < 2 && clock.monotonic() < end) {
    await sleep(clock, pause)
    const latest = await lastSuccess()
    if (latest !== last) polls += 1
    last = latest
  }
  return polls === 2
}
