import { firstValueFrom } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { PollConfig } from '../config/config.ts'
import { imbalancesOf, type Imbalance } from '../ledger/balance.ts'
import type { SeenCall } from '../ledger/call.ts'
import { compareCall, type Verdict } from '../ledger/compare-call.ts'
import { compareStart } from '../ledger/observe-call.ts'
import type { RememberedCalls } from '../ledger/remembered-calls.ts'
import { newLedger, NO_LIST_FACTS, type Facts } from '../ledger/state.ts'
import { horizon } from '../ledger/step.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { attempt, type AttemptOptions } from '../polling/attempt.ts'
import { isOrderProven } from '../ledger/list-facts.ts'
import { newListMemory } from '../polling/list-memory.ts'
import { newLook, readList } from '../polling/look.ts'
import type { Look } from '../polling/page-reader.ts'
import type { CallsClient } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import type { StoreReader } from '../store/store-reader.ts'
import { confirmSuspects } from './confirm-suspects.ts'

/** A listed call, what the ledger has of it, and how the two compare; `gone` where the service does not know it any more. */
export type ComparedCall = { seen: SeenCall; counted: TrackedCall | undefined; verdict: Verdict | { kind: 'gone' } }

/** What came of comparing one target. */
export type TargetAudit = {
  target: string
  /** Why not everything could be compared; undefined where it was. */
  problem: string | undefined
  /** How far back calls were compared, and when the daemon last looked (UNIX seconds); undefined where that is not known. */
  horizon: number | undefined
  lastLook: number | undefined
  /** Each call that was listed with a usable status, once. */
  calls: ComparedCall[]
  /** Listed items that could not be used. */
  rejected: number
  /** Calls that the ledger has as lost. */
  lost: number
  /** Counted calls within the horizon that the service does not list any more; undefined where it was not listed whole. */
  unlisted: number | undefined
  /** Whether a daemon looks at the target now; undefined where nobody needed to know. */
  daemonLooks: boolean | undefined
  /** The list was read back to the horizon alone, though no reading to its end has proven its order yet. */
  orderUnproven: boolean
  /** Differing calls that were not asked for again, because there were so many. */
  unasked: number
  /** Where the counters are not what the calls come to; undefined where that is not known. */
  imbalances: Imbalance[] | undefined
}

export type AuditTargetOptions = {
  target: string
  facts: Facts
  reader: StoreReader
  client: CallsClient
  asking: AttemptOptions
  clock: Clock
  poll: PollConfig
  /** Whether the list is read to its end, whatever its order. */
  full: boolean
}

/**
 * Lists the whole lookback of a target now, and compares it with the store call by call. A call that differs is
 * asked for again, and its row read again, before that is believed: a running daemon moves on meanwhile.
 *
 * @throws {StoreError} when the store cannot be read
 */
export async function auditTarget(options: AuditTargetOptions): Promise<TargetAudit> {
  const { target, reader, poll, facts } = options
  const before = await reader.calls(target)
  const { seen, rejected, problem, isEarly } = await listWhole(options, before)
  const rows = await reader.calls(target)
  let latest = (await reader.target(target))?.facts ?? facts
  const judge = (call: SeenCall) => compareCall(rows.get(call.id), call, latest, poll)

  const suspects = new Map([...seen].filter(([, call]) => isSuspect(judge(call))))
  const confirmed = await confirmSuspects({
    ...options,
    suspects,
    isSettled: async (call) => {
      const row = await reader.call(target, call.id)
      latest = (await reader.target(target))?.facts ?? latest
      if (row === undefined) rows.delete(call.id)
      else rows.set(row)
      return !isSuspect(judge(call))
    },
  })
  const calls = [...seen].map(([id, first]): ComparedCall => {
    const call = confirmed.asked.get(id) ?? first
    const verdict = confirmed.gone.has(id) ? { kind: 'gone' as const } : judge(call)
    return { seen: call, counted: rows.get(id), verdict }
  })
  const oldest = horizon(latest, poll.lookback)
  const isMissing = ({ id, finish }: TrackedCall) => finish !== undefined && finish.at >= oldest && !seen.has(id)
  return {
    target,
    problem: problem ?? confirmed.problem,
    horizon: oldest,
    lastLook: latest.lastGood,
    calls,
    rejected,
    lost: [...rows.values()].filter(({ phase }) => phase === 'lost').length,
    unlisted: problem === undefined ? [...before.values()].filter(isMissing).length : undefined,
    daemonLooks: confirmed.daemonLooks,
    unasked: confirmed.unasked,
    orderUnproven: isEarly && !isOrderProven(facts.listing ?? NO_LIST_FACTS),
    imbalances: imbalancesOf(await reader.balance(target)),
  }
}

/** An unknown open call may be newer than the daemon's last look, and anything that differs older than its latest. */
function isSuspect({ kind }: Verdict): boolean {
  return kind === 'difference' || kind === 'new'
}

/** Every call that the service lists back to the horizon, as it was listed last. */
async function listWhole(options: AuditTargetOptions, rows: RememberedCalls) {
  const { facts, client, asking, clock, poll, full } = options
  const memory = newListMemory({ ...facts, list: undefined }, undefined)
  const seen = new Map<string, SeenCall>()
  const unusable = new Set<string>()
  const read = async (): Promise<Look> => {
    const look = newLook()
    const pages = readList(look, {
      memory,
      state: { ...newLedger(facts.created), facts: { ...facts, list: undefined }, calls: rows },
      clock,
      horizon: horizon(facts, poll.lookback),
      sweepInterval: poll.sweepInterval,
      slice: Infinity,
      interval: Infinity,
      wanted: () => [],
      pageSize: poll.pageSize,
      reach: full ? 'end' : 'horizon',
      fetchPage: (page) => firstValueFrom(attempt('list_calls', (signal) => client.listCalls(page, signal), asking)),
    })
    for await (const { calls, keys } of pages) {
      for (const call of calls) {
        if ('phase' in call) continue
        const other = seen.get(call.id)
        if (other === undefined || compareStart(other, call) !== -1) seen.set(call.id, call)
      }
      for (const key of keys) unusable.add(key)
    }
    return look
  }
  const readAgain = (error: unknown) => {
    // A deep page that is refused once may be a passing trouble; refused twice it is a limit.
    if (memory.refusedFrom === undefined) throw error
    return read()
  }
  let problem: string | undefined
  let isEarly = false
  try {
    const look = await read().catch(readAgain)
    // To its end, a reading would have learned the order itself.
    isEarly = look.end?.whole === true && memory.facts.provenAt === facts.listing?.provenAt
    if (look.limited) problem = `the service shows no page from ${memory.refusedFrom} on`
    else if (look.end === undefined) problem = look.problem?.message ?? 'its list came to no end'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    problem = error.message
  }
  for (const id of seen.keys()) unusable.delete(id)
  return { seen, rejected: unusable.size, problem, isEarly }
}
