import { firstValueFrom } from 'rxjs'
import type { Clock } from '../../clock/clock.ts'
import type { PollConfig } from '../../polling/poll-section.ts'
import { imbalancesOf, type Imbalance } from '../../ledger/balance.ts'
import type { SeenCall } from '../../ledger/call.ts'
import { compareCall, difference, isMissed, type Verdict } from '../../ledger/delta/compare-call.ts'
import { compareStart } from '../../ledger/delta/repeated-id.ts'
import type { TrackedCalls } from '../../ledger/tracked-calls.ts'
import { newLedger, type SyncState } from '../../ledger/state.ts'
import { horizon } from '../../ledger/horizon.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { requestWithRetries, type RequestOptions } from '../../polling/request-with-retries.ts'
import { isOrderVerified } from '../../ledger/known-list.ts'
import { newListMemory } from '../../polling/list/list-state.ts'
import { newPoll, type RunningPoll } from '../../polling/poll.ts'
import { readList } from '../../polling/list/read-list.ts'
import type { CallsClient } from '../../service/calls-client.ts'
import { ServiceError } from '../../service/service-error.ts'
import type { StoreReader } from '../../store/reader.ts'
import { confirmSuspects } from './confirm-suspects.ts'

/** A listed call, its row in the ledger, and how they compare; `gone` if the service no longer knows the call. */
export type ComparedCall = { seen: SeenCall; counted: TrackedCall | undefined; verdict: Verdict | { kind: 'gone' } }

/** The comparison of one target. */
export type TargetAudit = {
  target: string
  /** Why the comparison is incomplete; undefined if it is complete. */
  problem?: string | undefined
  /**
   * How far back calls were compared, and when the daemon's last successful poll ended (UNIX seconds); undefined if unknown.
   */
  horizon?: number
  lastPoll?: number | undefined
  /** Each call that was listed with a valid status. */
  calls: ComparedCall[]
  /** The number of invalid items in the list. */
  rejected: number
  /** The number of lost calls in the ledger. */
  lost: number
  /** The number of counted calls within the horizon that the service no longer lists; undefined if the list is incomplete. */
  unlisted?: number | undefined
  /** Whether a daemon polls the target now; undefined if nothing differed. */
  daemonPolls?: boolean | undefined
  /** The list was read back to the horizon only, and no sweep has verified its order. */
  orderUnverified: boolean
  /** How many differing calls were not requested again, because there were too many. */
  notRequested: number
  /** Where the counters differ from the sums of the calls; undefined if the store does not know the target. */
  imbalances?: Imbalance[]
}

export type AuditTargetOptions = {
  target: string
  sync: SyncState
  reader: StoreReader
  client: CallsClient
  asking: RequestOptions
  clock: Clock
  poll: PollConfig
  /** Whether to read the list to its end, beyond the horizon. */
  full: boolean
}

/**
 * Lists the whole lookback of a target, and compares it with the store, call by call. Before a difference is reported, the
 * call is requested again and its row is read again, because a running daemon keeps counting.
 *
 * @throws {StoreError} if the store cannot be read
 */
export async function auditTarget(options: AuditTargetOptions): Promise<TargetAudit> {
  const { target, reader, poll, sync } = options
  const before = await reader.calls(target)
  const { seen, rejected, problem, isEarly } = await listLookback(options, before)
  const rows = await reader.calls(target)
  let latest = (await reader.target(target))?.sync ?? sync
  const compare = (call: SeenCall) => compareCall(rows.get(call.id), call, latest, poll)

  const suspects = new Map([...seen].filter(([, call]) => isSuspect(compare(call))))
  const confirmed = await confirmSuspects({
    ...options,
    suspects,
    isEqualNow: async (call) => {
      const row = await reader.call(target, call.id)
      latest = (await reader.target(target))?.sync ?? latest
      if (row === undefined) rows.delete(call.id)
      else rows.set(row)
      return !isSuspect(compare(call))
    },
  })
  const calls = [...seen].map(([id, first]): ComparedCall => {
    const call = confirmed.requested.get(id) ?? first
    const verdict = confirmed.gone.has(id) ? { kind: 'gone' as const } : compare(call)
    return { seen: call, counted: rows.get(id), verdict }
  })
  await markMissed(calls, options, latest)
  const oldest = horizon(latest, poll.lookback)
  const isMissing = ({ id, finish }: TrackedCall) => finish !== undefined && finish.at >= oldest && !seen.has(id)
  return {
    target,
    problem: problem ?? confirmed.problem,
    horizon: oldest,
    lastPoll: latest.lastSuccess,
    calls,
    rejected,
    lost: [...rows.values()].filter(({ phase }) => phase === 'lost').length,
    unlisted: problem === undefined ? [...before.values()].filter(isMissing).length : undefined,
    daemonPolls: confirmed.daemonPolls,
    notRequested: confirmed.notRequested,
    orderUnverified: isEarly && !isOrderVerified(sync.list),
    imbalances: imbalancesOf(await reader.balance(target)),
  }
}

/** Calls before the horizon that are not in the history either, and should be, differ. */
async function markMissed(calls: ComparedCall[], { target, reader, poll }: AuditTargetOptions, sync: SyncState) {
  const { expired = -Infinity } = (await reader.target(target)) ?? {}
  const missed = calls.filter(({ verdict, seen }) => verdict.kind === 'ignored' && isMissed(seen, sync, poll, expired))
  const ids = missed.map(({ seen }) => seen.id)
  const evicted = ids.length === 0 ? undefined : await reader.evictedCalls(target, ids)
  for (const call of missed)
    if (evicted?.has(call.seen.id) !== true) call.verdict = difference('call', 'unknown', call.seen.status)
}

/** An unknown open call may be newer than the daemon's last poll, and a difference older than it. */
function isSuspect({ kind }: Verdict): boolean {
  return kind === 'difference' || kind === 'new'
}

/** Every call that the service lists back to the horizon, as it was listed last. */
async function listLookback(options: AuditTargetOptions, rows: TrackedCalls) {
  const { sync, client, asking, clock, poll, full } = options
  const memory = newListMemory({ ...sync, list: undefined }, undefined)
  const seen = new Map<string, SeenCall>()
  const invalid = new Set<string>()
  const read = async (): Promise<RunningPoll> => {
    const reading = newPoll()
    const pages = readList(reading, {
      memory,
      state: { ...newLedger(sync.created), sync: { ...sync, list: undefined }, calls: rows },
      clock,
      horizon: horizon(sync, poll.lookback),
      lookback: poll.lookback,
      sweepInterval: poll.sweepInterval,
      slice: Infinity,
      maySweep: () => true,
      interval: Infinity,
      wanted: () => [],
      pageSize: poll.pageSize,
      goal: full ? 'end' : 'horizon',
      fetchPage: (page) =>
        firstValueFrom(requestWithRetries('list_calls', (signal) => client.listCalls(page, signal), asking)),
    })
    for await (const { calls, keys } of pages) {
      for (const call of calls) {
        if ('phase' in call) continue
        const other = seen.get(call.id)
        if (other === undefined || compareStart(other, call) !== -1) seen.set(call.id, call)
      }
      for (const key of keys) invalid.add(key)
    }
    return reading
  }
  const readAgain = (error: unknown) => {
    // A deep page that fails once may be a transient error. A page that is refused twice is a limit of the service.
    if (memory.depth.failing === undefined) throw error
    return read()
  }
  let problem: string | undefined
  let isEarly = false
  try {
    const reading = await read().catch(readAgain)
    isEarly = reading.ended?.at === 'horizon'
    if (reading.limited) problem = `the service shows no page from ${memory.depth.refusedFrom} on`
    else if (reading.success === undefined) problem = reading.problem?.message ?? 'the list has no end'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    problem = error.message
  }
  for (const id of seen.keys()) invalid.delete(id)
  return { seen, rejected: invalid.size, problem, isEarly }
}
