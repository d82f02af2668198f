import { firstValueFrom } from 'rxjs'
import type { Clock } from '../../clock/clock.ts'
import type { PollConfig } from '../../polling/poll-section.ts'
import { imbalancesOf } from '../../ledger/balance.ts'
import type { SeenCall } from '../../ledger/call.ts'
import { compareCall, difference, isMissed, type Verdict } from '../../ledger/delta/compare-call.ts'
import type { TrackedCalls } from '../../ledger/tracked-calls.ts'
import { newLedger, type SyncState } from '../../ledger/state.ts'
import { horizon } from '../../ledger/horizon.ts'
import { identify } from '../../ledger/identity.ts'
import type { TrackedCall } from '../../ledger/tracked-call.ts'
import { requestWithRetries, type RequestOptions } from '../../polling/request-with-retries.ts'
import { isOrderVerified } from '../../ledger/known-list.ts'
import { callIdentities } from '../../polling/call-identities.ts'
import { newListMemory } from '../../polling/list/list-state.ts'
import { newPoll, type RunningPoll } from '../../polling/poll.ts'
import { sweepProgress } from '../../polling/poll-memory.ts'
import { readList } from '../../polling/list/read-list.ts'
import type { CallsClient, CallsClientOptions } from '../../service/calls-client.ts'
import { ServiceError } from '../../service/service-error.ts'
import type { StoreReader } from '../../store/reader.ts'
import type { ComparedCall, TargetAudit } from '../../views/commands/audit.ts'
import { confirmSuspects } from './confirm-suspects.ts'
import { rowCounter } from './count-rows.ts'

/** So many calls are identified together. */
const CHUNK = 100

export type AuditTargetOptions = {
  target: string
  sync: SyncState
  reader: StoreReader
  clientWith: (options: Pick<CallsClientOptions, 'identify'>) => CallsClient
  asking: RequestOptions
  clock: Clock
  poll: PollConfig
  /** Whether to read the list to its end, beyond the horizon. */
  full: boolean
  /** Called before each page but the first, with how many will be read at most, if that is known. */
  onPage?: (page: number, of: number | undefined) => void
}

/**
 * Lists the whole lookback of a target, and compares it with the store, call by call. Before a difference is reported, the
 * call is requested again and its row is read again, because a running daemon keeps counting.
 *
 * @throws {StoreError} if the store cannot be read
 */
export async function auditTarget(options: AuditTargetOptions): Promise<TargetAudit> {
  const { target, reader, poll, sync, clock } = options
  const before = await reader.calls(target)
  let rows = before
  let latest = sync
  const identities = callIdentities()
  const identifyAll: Identify = (seen, now, source) =>
    identities.identify(seen, { calls: rows, sync: latest }, horizon(latest, poll.lookback), { now, source })
  const client = options.clientWith({ identify: identifyAll })
  const { seen, rowsOf, rejected, problem, isEarly } = await listLookback(options, before, identifyAll)
  // The sync state before the rows: a row that it is about is there then.
  const readSync = async () => void (latest = (await reader.target(target))?.sync ?? latest)
  await readSync()
  rows = await reader.calls(target)
  const compare = (call: SeenCall) => compareCall(rows.get(call.id), call, latest, poll)

  // The daemon may have counted some of them meanwhile.
  const again = (...calls: SeenCall[]) => {
    identities.startPoll(false)
    const now = clock.wall() + (latest.clockSkew ?? 0)
    for (let i = 0; i < calls.length; i += CHUNK) identifyAll(calls.slice(i, i + CHUNK), now, 'list')
  }
  again(...seen)
  const verdicts = new Map(seen.map((call) => [call, compare(call)]))
  const suspects = seen.filter((call) => isSuspect(verdicts.get(call)!))
  const confirmed = await confirmSuspects({
    ...options,
    client,
    suspects,
    isEqualNow: async (call) => {
      await readSync()
      const found = (await reader.callsOf(target, [call.session])).get(call.session) ?? []
      for (const { id } of rows.ofSession(call.session)) rows.delete(id)
      for (const row of found) rows.set(row)
      again(call)
      return !isSuspect(compare(call))
    },
  })
  for (const first of suspects) verdicts.set(first, compare(confirmed.requested.get(first) ?? first))
  const calls = seen.map((first): ComparedCall => {
    const call = confirmed.requested.get(first) ?? first
    const compared = confirmed.gone.has(first) ? { kind: 'gone' as const } : verdicts.get(first)!
    return withRows({ seen: call, counted: rows.get(call.id), verdict: compared, rows: rowsOf.get(first)! })
  })
  await markMissed(calls, options, latest)
  const oldest = horizon(latest, poll.lookback)
  const listed = new Set(seen.map(({ id }) => id))
  const isMissing = ({ id, finish }: TrackedCall) => finish !== undefined && finish.at >= oldest && !listed.has(id)
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

/** Differs if several rows of finished calls were taken for one call. */
function withRows(call: ComparedCall): ComparedCall {
  const { verdict, rows } = call
  if (rows <= 1) return call
  const others = 'discrepancies' in verdict ? verdict.discrepancies : []
  return {
    ...call,
    verdict: { kind: 'difference', discrepancies: [...others, { what: 'rows', counted: 1, served: rows }] },
  }
}

/** Calls before the horizon that are not in the history either, and should be, differ. */
async function markMissed(calls: ComparedCall[], { target, reader }: AuditTargetOptions, sync: SyncState) {
  const { expired = -Infinity } = (await reader.target(target)) ?? {}
  const missed = calls.filter(({ verdict, seen }) => verdict.kind === 'ignored' && isMissed(seen, sync, expired))
  const sessions = missed.map(({ seen }) => seen.session)
  const evicted = sessions.length === 0 ? undefined : await reader.evictedCalls(target, sessions)
  const answer = { now: Infinity, isReused: false, isTooOld: () => true, isShown: () => false }
  for (const call of missed) {
    const known = evicted?.get(call.seen.session) ?? []
    const [id] = identify([call.seen], known, answer)
    if (!known.some((one) => one.id === id)) call.verdict = difference('call', 'unknown', call.seen.status)
  }
}

/** An unknown open call may be newer than the daemon's last poll, and a difference older than it. */
function isSuspect({ kind }: Verdict): boolean {
  return kind === 'difference' || kind === 'new'
}

type Identify = NonNullable<CallsClientOptions['identify']>

/** Every call that the service lists back to the horizon, as it was listed last, and how many rows of it there are. */
async function listLookback(options: AuditTargetOptions, rows: TrackedCalls, identify: Identify) {
  const { sync, clientWith, asking, clock, poll, full, onPage } = options
  const counter = rowCounter()
  const client = clientWith({
    identify: (listed, now, source) => {
      identify(listed, now, source)
      counter.add(listed)
    },
  })
  const memory = newListMemory({ ...sync, list: undefined }, undefined)
  const seen = new Map<string, SeenCall>()
  const invalid = new Set<string>()
  const read = async (): Promise<RunningPoll> => {
    const reading = newPoll()
    const pages = readList(reading, {
      ...poll,
      memory,
      state: { ...newLedger(sync.created), sync: { ...sync, list: undefined }, calls: rows },
      clock,
      horizon: horizon(sync, poll.lookback),
      slice: Infinity,
      maySweep: () => true,
      interval: Infinity,
      callsToRequest: () => [],
      goal: full ? 'end' : 'horizon',
      fetchPage: (page) => {
        const { pagesRead = 0, pages: of } = sweepProgress({ list: memory }, clock.monotonic()) ?? {}
        if (pagesRead > 0) onPage?.(pagesRead + 1, of)
        return firstValueFrom(requestWithRetries('list_calls', (signal) => client.listCalls(page, signal), asking))
      },
    })
    for await (const { calls, keys } of pages) {
      for (const call of calls) {
        if (!('phase' in call)) seen.set(call.id, call)
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
    if (reading.success?.limited === true) problem = `the service shows no page from ${memory.depth.refusedFrom} on`
    else if (reading.success === undefined) problem = reading.problem?.message ?? 'the list has no end'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    problem = error.message
  }
  for (const id of seen.keys()) invalid.delete(id)
  const byCall = counter.byCall()
  const rowsOf = new Map(seen.values().map((call) => [call, byCall.get(call.id) ?? 0]))
  return { seen: [...seen.values()], rowsOf, rejected: invalid.size, problem, isEarly }
}
