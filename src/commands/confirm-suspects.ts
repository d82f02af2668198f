import { firstValueFrom } from 'rxjs'
import { sleep, type Clock } from '../clock/clock.ts'
import type { PollConfig } from '../config/config.ts'
import type { SeenCall } from '../ledger/call.ts'
import { attempt, type AttemptOptions } from '../polling/attempt.ts'
import { isAskable, type CallsClient } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import type { StoreReader } from '../store/store-reader.ts'

export type ConfirmOptions = {
  target: string
  reader: StoreReader
  client: CallsClient
  asking: AttemptOptions
  clock: Clock
  poll: Pick<PollConfig, 'interval'>
  /** Calls that seem to differ, as they were listed. */
  suspects: ReadonlyMap<string, SeenCall>
  /** Reads the call's row again; whether the call, as it is served here, does not differ any more. */
  isSettled: (call: SeenCall) => Promise<boolean>
}

export type Confirmed = {
  /** Calls as they were served when they were asked for again. */
  asked: Map<string, SeenCall>
  /** Calls that the service did not know when they were asked for. */
  gone: Set<string>
  /** Calls that still differ and that nobody asked for. */
  unasked: number
  /** Whether a daemon looks at the target; undefined where nothing differed, and nobody waited for it. */
  daemonLooks: boolean | undefined
  /** Why the asking came to an end. */
  problem: string | undefined
}

/** A daemon may count a call between the answer about it and the reading of its row, but hardly each time. */
const ROUNDS = 2
/** So many differing calls in a round say enough (calls). */
const MOST_DIFFERING = 100

/** Asks again for each call that seems to differ, after the daemon has had the time to count it. */
export async function confirmSuspects(options: ConfirmOptions): Promise<Confirmed> {
  const { client, asking, isSettled } = options
  const suspects = new Map(options.suspects)
  const confirmed: Confirmed = {
    asked: new Map(),
    gone: new Set(),
    unasked: 0,
    daemonLooks: undefined,
    problem: undefined,
  }

  const dropSettled = async () => {
    for (const [id, call] of suspects) if (await isSettled(call)) suspects.delete(id)
  }
  const ask = async (id: string): Promise<void> => {
    try {
      const { call } = await firstValueFrom(attempt('get_call', (signal) => client.getCall(id, signal), asking))
      if (call === undefined) return
      confirmed.asked.set(id, call)
      if (await isSettled(call)) suspects.delete(id)
      else suspects.set(id, call)
    } catch (error) {
      if (!(error instanceof ServiceError && error.kind === 'not_found')) throw error
      confirmed.gone.add(id)
      suspects.delete(id)
    }
  }

  try {
    for (let round = 0; round < ROUNDS && suspects.size > 0; round++) {
      confirmed.daemonLooks = await nextLook(options)
      await dropSettled()
      let differing = 0
      for (const id of suspects.keys()) {
        if (differing === MOST_DIFFERING) break
        if (isAskable(id)) await ask(id)
        if (suspects.has(id)) differing += 1
      }
      if (!confirmed.daemonLooks) break
      if (suspects.size > 0) await nextLook(options)
      await dropSettled()
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    confirmed.problem = `not every call that differs could be asked for again: ${error.message}`
  }
  confirmed.unasked = [...suspects.keys()].filter((id) => !confirmed.asked.has(id)).length
  return confirmed
}

/**
 * Waits until a daemon has ended two good looks, so that the second began after now.
 *
 * @returns false where none does so in the time of three
 */
async function nextLook({ target, reader, clock, poll }: ConfirmOptions): Promise<boolean> {
  const lastGood = async () => (await reader.target(target))?.facts.lastGoodHost
  const pause = Math.min(1, Math.max(0.05, poll.interval / 4))
  const end = clock.monotonic() + 3 * poll.interval + 2
  let last = await lastGood()
  let looks = 0
  while (looks < 2 && clock.monotonic() < end) {
    await sleep(clock, pause)
    const latest = await lastGood()
    if (latest !== last) looks += 1
    last = latest
  }
  return looks === 2
}
