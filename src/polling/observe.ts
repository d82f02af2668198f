import { EmptyError } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { NO_LIST_FACTS, type LedgerState } from '../ledger/state.ts'
import { horizon } from '../ledger/horizon.ts'
import type { Observation, Answer } from '../ledger/observation.ts'
import type { CallPage, CallsClient } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { StoreError } from '../store/store.ts'
import { activeTime } from './active-time.ts'
import { deadlineOf } from './abortable.ts'
import type { AttemptOptions } from './attempt.ts'
import { askAll, chooseFollowUps, followUps } from './follow-ups.ts'
import { forgetProgress } from './list-memory.ts'
import { newPoll } from './poll.ts'
import type { PollMemory } from './poll-memory.ts'
import { askedToWait, cutOff, unsettledClock } from './poll-problems.ts'
import { reportOf, type PollReport } from './poll-report.ts'
import { pollRequests } from './poll-requests.ts'
import { readList } from './read-list.ts'
import { missingCalls, weighShrunkList } from './shrunk-list.ts'

export type ObserveOptions = {
  clock: Clock
  client: CallsClient
  attempt: Omit<AttemptOptions, 'clock' | 'onRequest'>
  ledger: LedgerState
  memory: PollMemory
  settings: PollSettings
}

/** From the configuration's `poll`, in seconds. */
export type PollSettings = {
  interval: number
  lookback: number
  sweepInterval: number
  maxRequestsPerMinute: number
  /** Calls asked for in one page. */
  pageSize: number
}

/** Calls that one commit holds at most, a page more or less. */
const CHUNK = 500
/** A poll may take so many intervals, and so many seconds in any case. */
const LONGEST_INTERVALS = 4
const LONGEST_SECONDS = 30

/**
 * One poll of a target: reads the list, and asks for what the list did not show. Each observation is to be committed before
 * the next one is asked for; a {@link StoreError} is thrown into the generator instead, which ends the poll. What goes wrong
 * with service or store is in the report; throws only what is neither, a mistake of our own.
 *
 * @param aborted ends the poll early; what it has seen by then is an observation all the same
 */
export async function* observe(options: ObserveOptions, aborted: AbortSignal): AsyncGenerator<Observation, PollReport> {
  const { clock, ledger, memory, settings } = options
  const { interval, lookback, sweepInterval, maxRequestsPerMinute, pageSize } = settings
  const begun = clock.monotonic()
  const longest = Math.max(LONGEST_SECONDS, LONGEST_INTERVALS * interval)
  // Waiting for the rate limit is no reason to end it: the next poll would wait as well. A long Retry-After is.
  const { budget, passed, after$ } = activeTime(options.attempt.budget, clock)
  const deadline = deadlineOf(after$(longest), aborted)
  const requests = pollRequests({ ...options, attempt: { ...options.attempt, budget, clock } }, deadline.signal)
  const poll = newPoll()
  // Half of what may be asked for in an interval is for a sweep, the other half for calls that were not listed.
  const half = Math.max(1, Math.floor((maxRequestsPerMinute * interval) / 120))
  let remaining: number | undefined
  let storeProblem: StoreError | undefined

  const dueCalls = (limit: number) =>
    chooseFollowUps(
      ledger,
      poll.listed,
      memory.askedAt,
      { now: poll.now, monotonic: clock.monotonic() },
      { limit, interval, longest: sweepInterval },
    )

  /** The list, as far as it can be read. */
  async function* pages(): AsyncGenerator<CallPage, void> {
    try {
      if (budget.heldFor() > longest) throw askedToWait(budget.heldFor())
      if (!(await requests.settleClock())) {
        poll.pages = 1
        throw unsettledClock(memory.clock)
      }
      yield* readList(poll, {
        memory: memory.list,
        state: ledger,
        clock,
        horizon: horizon(ledger.sync, lookback),
        sweepInterval,
        slice: half,
        interval,
        wanted: () => dueCalls(Infinity),
        passed,
        pageSize,
        fetchPage: requests.page,
      })
    } catch (error) {
      if (error instanceof EmptyError) {
        const held = budget.heldFor()
        poll.problem ??= held > longest ? askedToWait(held) : cutOff(poll, passed() < longest - 1e-3)
      } else if (error instanceof ServiceError) poll.problem ??= error
      else throw error
    }
  }

  /** Calls that the list did not show, as they are by now. */
  async function askFor(): Promise<Answer[]> {
    if (poll.pages === 0 || ledger.sync.clockSkew === undefined) return []
    const limit = Math.max(5, half)
    const doubtful = memory.backward.doubtful(ledger).slice(0, limit)
    const due = [...doubtful, ...dueCalls(limit).filter((call) => !doubtful.some(({ id }) => id === call.id))]
    const missing = missingCalls(poll, ledger)
    const others = missing.filter((call) => !due.some(({ id }) => id === call.id))
    const asking = {
      fetchCall: requests.call,
      aborted: deadline.signal,
      wall: clock.wall,
      onProblem: (problem: ServiceError) => void (poll.problem ??= problem),
    }
    const onDistrust = () => {
      poll.end = undefined
      forgetProgress(memory.list)
    }
    const asked = [...(await followUps(due, poll.listed, { ...asking, onDistrust })), ...(await askAll(others, asking))]
    weighShrunkList({ poll, memory: memory.list, now: clock.monotonic(), lookback }, asked, missing)
    // A call that was seen after the list was read may have ended after that.
    for (const { now } of asked) poll.now = Math.max(poll.now, now)
    return asked
  }

  /** The last observations of the poll. */
  function* conclude(asked: Answer[]): Generator<Observation, void> {
    const { list } = memory
    const end = poll.end && { ...poll.end, now: poll.now, limited: poll.limited }
    if (end !== undefined && poll.size !== undefined && poll.size !== list.facts.size)
      list.facts = { ...list.facts, size: poll.size }
    const isNews = ledger.sync.clockSkew !== undefined && list.facts !== (ledger.sync.listFacts ?? NO_LIST_FACTS)
    for (; asked.length > CHUNK; asked = asked.slice(CHUNK)) yield { answers: asked.slice(0, CHUNK) }
    if (end === undefined && asked.length === 0 && !isNews) return
    yield { answers: asked, ...(isNews && { listFacts: list.facts }), ...(end && { end }) }
  }

  memory.backward.begin()
  try {
    for await (const chunk of inChunks(pages())) {
      remaining = chunk.at(-1)?.remaining ?? remaining
      const answers = chunk.map(({ now, host, calls, invalid }): Answer => {
        return { source: 'list', now, host, calls: memory.backward.withhold(calls, ledger), notFound: [], invalid }
      })
      memory.backward.committed()
      yield { answers, clockSkew: memory.clock.settled }
    }
    yield* conclude(await askFor())
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    storeProblem = error
    // What was read but not committed must be read again.
    forgetProgress(memory.list)
  } finally {
    deadline.end()
  }
  const measured = { seconds: clock.monotonic() - begun, requests: [...requests.made], remaining }
  return reportOf({ poll, memory: memory.list, settings, slice: half, storeProblem }, measured)
}

/** Gathers pages until they have enough calls for a commit. */
async function* inChunks(pages: AsyncIterable<CallPage>): AsyncGenerator<CallPage[], void> {
  let chunk: CallPage[] = []
  let items = 0
  for await (const page of pages) {
    chunk.push(page)
    items += page.items
    if (items < CHUNK) continue
    yield chunk
    chunk = []
    items = 0
  }
  if (chunk.length > 0) yield chunk
}
