import { DEADLINE_INTERVALS } from '../clock/intervals.ts'
import type { LedgerState } from '../ledger/state.ts'
import { horizon } from '../ledger/horizon.ts'
import { sessionOf } from '../ledger/identity.ts'
import type { Observation, ServiceAnswer } from '../ledger/observation.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import type { CallPage, CallsClient } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { StoreError } from '../store/store-error.ts'
import { AbortedError, deadlineOf } from '../rx/abortable.ts'
import { activeTime } from './active-time.ts'
import { chooseFollowUps, followUps, requestCalls } from './follow-ups.ts'
import { forgetReadings } from './list/list-state.ts'
import { newPoll, type RunningPoll } from './poll.ts'
import type { PollMemory } from './poll-memory.ts'
import type { PollConfig } from './poll-section.ts'
import { endedEarly, rateLimitPause, unknownClockSkew } from './poll-problems.ts'
import { reportOf, type PollReport } from './poll-report.ts'
import { pollRequests, type PollRequests } from './poll-requests.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { RequestOptions } from './request-with-retries.ts'
import { readList } from './list/read-list.ts'
import { checkShrunkList, missingCalls } from './list/shrunk-list.ts'

export type ObserveOptions = Pick<RequestOptions, 'clock' | 'rateLimiter' | 'random'> & {
  client: CallsClient
  ledger: LedgerState
  memory: PollMemory
  settings: PollConfig
  /** Sessions that hints named. Then the poll sweeps nothing, and requests only their open calls one by one. */
  hinted?: ReadonlySet<string> | undefined
}

/** The most calls in one commit, plus up to a page. */
const MAX_CALLS = 500
/** How long each poll may take, however short its interval is. */
const MIN_DEADLINE_SECONDS = 30

/**
 * One poll of a target. Its parts, in order:
 *
 * 1. `poll-requests.ts` checks the service's clock (`clock-skew.ts`) with the first answer. All requests use it, and through
 *    it `request-with-retries.ts` and `rate-limiter.ts`.
 * 2. `list/read-list.ts` reads the list, with the states of `list-state.ts` next to it:
 *    - `read-pages.ts` requests the pages of a reading; `reading.ts` decides after each of them what it needs next, `joint.ts`
 *      where it joins what was known, and `last-page.ts` where a list that grows at its last page ends
 *    - `read-open-calls.ts` reads on if that saves follow-ups
 *    - the service client decides which rows of a page are which calls as soon as it has read them (`call-identities.ts`)
 * 3. `status-regressions.ts` withholds calls whose listed status went back.
 * 4. `follow-ups.ts` requests calls that the list did not show, one by one.
 * 5. `list/shrunk-list.ts` decides whether to accept a list that has shrunk.
 * 6. `poll-report.ts` sums the poll up.
 *
 * The next pages are read while an observation is committed. Each observation must be committed before the next one is
 * requested. If that fails, the caller throws the {@link StoreError} into the generator, which ends the poll. The report has
 * all problems of service and store; this only throws because of a bug in callwatch.
 *
 * @param aborted ends the poll early; it still yields what it has seen by then
 */
export async function* observe(options: ObserveOptions, aborted: AbortSignal): AsyncGenerator<Observation, PollReport> {
  const { clock, ledger, memory, settings } = options
  const begun = clock.monotonic()
  const parts = beginPoll(options, aborted)
  const { poll, requests, deadline, budget } = parts
  let remaining: number | undefined
  let storeProblem: StoreError | undefined

  memory.unreadTime = undefined
  memory.regressions.startPoll()
  memory.identities.startPoll(memory.list.catchUp !== undefined)
  memory.shownOpen.startPoll(ledger)
  try {
    for await (const chunk of ahead(inChunks(pages(parts)), deadline.dispose)) {
      remaining = chunk.at(-1)?.limit?.remaining ?? remaining
      const answers = chunk.map((page): ServiceAnswer => {
        return { ...page, source: 'list', calls: memory.regressions.withhold(page.calls, ledger), notFound: [] }
      })
      memory.regressions.endChunk()
      yield { answers, clockSkew: memory.clock.accepted }
      memory.identities.committed()
    }
    yield* conclude(poll, await singleCalls(parts), options)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    storeProblem = error
    // Pages that were not committed must be read again.
    forgetReadings(memory.list, ledger.sync)
  } finally {
    deadline.dispose()
  }
  const measured = { seconds: clock.monotonic() - begun, requests: [...requests.sent], remaining }
  const { unreadTime } = memory
  return {
    ...reportOf({ poll, memory: memory.list, settings, slice: budget.slice, storeProblem }, measured),
    unreadTime,
  }
}

type Begun = ReturnType<typeof beginPoll>

/** What the parts of a poll share. */
function beginPoll(options: ObserveOptions, aborted: AbortSignal) {
  const { clock, settings } = options
  const longest = Math.max(MIN_DEADLINE_SECONDS, DEADLINE_INTERVALS * settings.interval)
  // Waiting for the rate limiter does not end a poll, because the next poll would wait as well. A long Retry-After does.
  const { rateLimiter, elapsed, after$ } = activeTime(options.rateLimiter, clock)
  const deadline = deadlineOf(after$(longest), aborted)
  const requests = pollRequests({ ...options, rateLimiter }, deadline.signal)
  const poll = newPoll()
  const dueCalls = () => singleCallsDue(options, poll)
  const reserved = (singleCalls: number) => requests.sent.length + Math.min(singleCalls, dueCalls().length)
  const budget = requestBudget(rateLimiter.pace(), settings, reserved)
  const isOver = () => elapsed() >= longest - 1e-3
  const whyAborted = () =>
    rateLimiter.pausedFor() > longest ? rateLimitPause(rateLimiter.pausedFor()) : endedEarly(poll, !isOver())
  return { options, longest, rateLimiter, elapsed, deadline, requests, poll, dueCalls, budget, isOver, whyAborted }
}

/** Reads the list. A problem of the service ends it, and is in the report. */
async function* pages(parts: Begun): AsyncGenerator<CallPage, void> {
  const { longest, rateLimiter, elapsed, requests, poll, dueCalls, budget, isOver, whyAborted } = parts
  const { clock, ledger, memory, settings, hinted } = parts.options
  try {
    if (rateLimiter.pausedFor() > longest) throw rateLimitPause(rateLimiter.pausedFor())
    if (!(await requests.measureSkew())) {
      poll.pages = 1
      throw unknownClockSkew(memory.clock)
    }
    yield* readList(poll, {
      ...settings,
      ...budget,
      ...(hinted && { maySweep: () => false }),
      memory: memory.list,
      state: ledger,
      clock,
      horizon: horizon(ledger.sync, settings.lookback),
      callsToRequest: dueCalls,
      elapsed,
      fetchPage: untilDeadline(requests.page, () => (isOver() ? whyAborted() : undefined)),
    })
  } catch (error) {
    const problem = error instanceof AbortedError ? whyAborted() : error
    if (!(problem instanceof ServiceError)) throw problem
    poll.problem ??= problem
  }
}

/** Requests single calls: withheld ones, open calls that the list did not show, and calls that a shrunk list lacks. */
async function singleCalls({ options, requests, deadline, poll, dueCalls, budget }: Begun): Promise<ServiceAnswer[]> {
  const { clock, ledger, memory } = options
  if (poll.pages === 0 || ledger.sync.clockSkew === undefined) return []
  const limit = budget.singleCalls(requests.sent.length)
  const unconfirmed = memory.regressions.unconfirmed(ledger).slice(0, limit)
  const others = dueCalls().slice(0, limit)
  const due = [...unconfirmed, ...others.filter((call) => !unconfirmed.some(({ id }) => id === call.id))]
  const missing = missingCalls(poll, ledger)
  const rest = missing.filter((call) => !due.some(({ id }) => id === call.id))
  let failed: ServiceError | undefined
  const callOptions = {
    fetchCalls: requests.calls,
    aborted: deadline.signal,
    wall: clock.wall,
    onProblem: (problem: ServiceError) => {
      poll.problem ??= problem
      failed ??= problem
    },
  }
  const onDistrust = () => {
    poll.success = undefined
    forgetReadings(memory.list, ledger.sync)
  }
  const answered = [
    ...(await followUps(due, poll.listed, { ...callOptions, onDistrust })),
    ...(await requestCalls(rest, callOptions)),
  ]
  // A call that is listed with an earlier status is requested, too. It is not lost if Get Call lags behind the list.
  const isUnlisted = (id: string) => !poll.listed.has(id)
  const answers = answered.map((answer) => ({ ...answer, notFound: answer.notFound.filter(isUnlisted) }))
  if (answers.length > 0 || failed !== undefined)
    poll.singleCalls = { answered: answers.length, problem: failed?.message }
  checkShrunkList(poll, options, answers, missing)
  // Such a call may have ended after the list was read.
  for (const { serviceTime } of answers) poll.serviceTime = Math.max(poll.serviceTime, serviceTime)
  return answers
}

/** The last observations of the poll. */
function* conclude(
  poll: RunningPoll,
  answers: ServiceAnswer[],
  { memory: { replaced }, ledger }: ObserveOptions,
): Generator<Observation, void> {
  for (const id of replaced) if (!ledger.open.has(id)) replaced.delete(id)
  const isSwept = poll.success?.endsSweep === true && poll.success.isConfirmed === true
  const unlisted = isSwept ? [...replaced].filter((id) => !poll.success!.listed.has(id) && !poll.listed.has(id)) : []
  const success = poll.success && { ...poll.success, serviceTime: poll.serviceTime, replaced: unlisted }
  let rest = answers
  for (; rest.length > MAX_CALLS; rest = rest.slice(MAX_CALLS)) yield { answers: rest.slice(0, MAX_CALLS) }
  if (success === undefined && rest.length === 0) return
  yield { answers: rest, ...(success && { success }) }
}

/** The calls to request one by one: those that hints named, or else those that the list does not show. */
function singleCallsDue(
  { clock, ledger, memory, hinted, settings }: ObserveOptions,
  { listed, serviceTime: now }: RunningPoll,
): TrackedCall[] {
  if (hinted !== undefined)
    return [...ledger.open.values()].filter((call) => hinted.has(sessionOf(call)) && !listed.has(call.id))
  const times = { now, monotonic: clock.monotonic() }
  return chooseFollowUps(ledger, listed, memory.requestedAt, times, settings)
}

/** Requests pages. A page without an answer by the deadline fails like a request that timed out. */
function untilDeadline(page: PollRequests['page'], problem: () => ServiceError | undefined): PollRequests['page'] {
  return async (number, withoutRetries) => {
    try {
      return await page(number, withoutRetries)
    } catch (error) {
      throw (error instanceof AbortedError ? problem() : undefined) ?? error
    }
  }
}

/**
 * How many requests a poll may make. Half of what the limit allows in an interval is for a sweep, the other half for single
 * calls. If others use up the service's limit, the list has priority, then single calls, then sweeps.
 *
 * @param reserved requests already made, plus those that single calls will need, up to their limit
 */
function requestBudget(
  { perMinute, isSlowed }: ReturnType<RateLimiter['pace']>,
  { interval, maxRequestsPerMinute }: PollConfig,
  reserved: (singleCalls: number) => number,
) {
  const allowed = ((isSlowed ? perMinute : maxRequestsPerMinute) * interval) / 60
  const slice = Math.max(1, Math.floor(allowed / 2))
  return {
    slice,
    maySweep: () => !isSlowed || allowed - reserved(slice) >= slice,
    singleCalls: (made: number) =>
      isSlowed ? Math.max(1, Math.min(slice, Math.floor(allowed - made))) : Math.max(5, slice),
  }
}

/** Collects pages until they have enough calls for a commit. */
async function* inChunks(pages: AsyncIterable<CallPage>): AsyncGenerator<CallPage[], void> {
  let chunk: CallPage[] = []
  let items = 0
  for await (const page of pages) {
    chunk.push(page)
    items += page.items
    if (items < MAX_CALLS) continue
    yield chunk
    chunk = []
    items = 0
  }
  if (chunk.length > 0) yield chunk
}

/** Reads the next item while the previous one is being used. If that fails, `stop` ends the read. */
async function* ahead<T>(items: AsyncGenerator<T, void>, stop: () => void): AsyncGenerator<T, void> {
  let next = items.next()
  let isDone = false
  try {
    for (;;) {
      const result = await next
      isDone = result.done === true
      if (result.done === true) return
      next = items.next()
      // The next turn of the loop handles an error. Without a next turn, nobody needs the item.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    if (!isDone) stop()
    await items.return()
  }
}
