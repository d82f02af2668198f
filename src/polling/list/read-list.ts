import { POSTPONED_INTERVALS } from '../../clock/intervals.ts'
import type { CallPage } from '../../service/calls-client.ts'
import type { ServiceError } from '../../service/service-error.ts'
import { type PollContext, isSweepDue, newPollContext, type PollContextOptions } from '../poll-context.ts'
import { isOrderVerifiedRecently, isUnordered, withLateRow, type KnownList } from '../../ledger/known-list.ts'
import type { RunningPoll } from '../poll.ts'
import { refusedFrom } from '../poll-problems.ts'
import { type Sweep, noteTotal, resetTripwire } from './list-state.ts'
import { type Reading, listedIds, newReading } from './reading.ts'
import { jointAfter } from './joint.ts'
import { growingEnd, readPages, type ReadingEnd } from './read-pages.ts'
import { confirmSweep } from './confirmed.ts'
import { readOpenCalls } from './read-open-calls.ts'

/** How much of the interval a reading may take: a poll that misses the next tick must wait for the one after it. */
const SHARE = 0.9
/** The same for a reading that an earlier poll began: there is no other work for the next polls. */
const SHARE_RESUMED = 1.9
/** The same for a sweep, so that the poll ends before the next one is due. */
const SHARE_OF_SWEEP = 0.5
/** How often a poll may switch to the other end of the list: some lists change their order all the time. */
const MOST_TURNS = 2
/** The most pages that a poll reads beyond where it joins. */
const MOST_OVERLAP_PAGES = 3
/** A list with fewer rows shows no order. */
const ROWS_IN_ORDER = 10

/**
 * Reads as much of the list as this poll needs, page by page:
 *
 * 1. From the end where new calls appear to where it joins what was known. If it joins nowhere, to the horizon or the end of
 *    the list, over several polls if the list is long. Then the poll is successful.
 * 2. Further, while the next page shows calls that would otherwise be requested one by one.
 * 3. A slice of a sweep, if one is due: from there to the horizon or the end of the list.
 *
 * @throws {ServiceError} if a page cannot be read
 */
export async function* readList(poll: RunningPoll, options: PollContextOptions): AsyncGenerator<CallPage, void> {
  const context = newPollContext(poll, options)
  const { memory } = context
  const reading = yield* catchUp(context)
  if (reading === undefined) return
  poll.success = {
    endsSweep: false,
    ...began(reading, poll),
    serviceTime: poll.serviceTime,
    hostTime: poll.hostTime,
    listed: listedIds(reading.rows),
    list: memory.list!,
  }
  if (memory.sweep.state !== 'read') {
    yield* readOpenCalls(context, reading)
    if (isSweepDue(context) && maySlice(context)) yield* sweep(context, reading)
  }
  if (memory.sweep.state === 'read') endSweep(context, memory.sweep)
}

/** Reads the calls that appeared since the last successful poll; undefined if the next poll must continue. */
async function* catchUp(context: PollContext): AsyncGenerator<CallPage, Reading | undefined> {
  const { memory, interval } = context
  for (let turns = 0; ;) {
    const reading = (memory.catchUp ??= startReading(context))
    const isResumed = reading.pages.read > 0
    const maxSeconds = interval * (isResumed ? SHARE_RESUMED : SHARE)
    const ended = yield* readPages(context, reading, { maxPages: Infinity, maxSeconds, mayTurn: turns < MOST_TURNS })
    if (ended === undefined) return undefined
    memory.catchUp = undefined
    if (ended.at === 'refused' && hidesNewest(context, reading, ended.error)) return undefined
    if (ended.at === 'other end') {
      turns += 1
      continue
    }
    endReading(context, reading, ended.at)
    // Calls that appeared while this reading took several polls need a second reading.
    const needsSecond = isResumed && !reading.isSecond && mayJoin(context)
    if (!needsSecond) return reading
    memory.catchUp = startReading(context, reading)
  }
}

function mayJoin({ memory, poll }: PollContext): boolean {
  return growingEnd(memory).isKnown && !isUnordered(memory.list, poll.serviceTime)
}

/** Records what a reading found out. A reading that did not join has swept the list, or continues as a sweep. */
function endReading(context: PollContext, reading: Reading, at: ReadingEnd['at']): void {
  const { memory, poll, clock } = context
  if (at === 'joint') noteTotal(memory.total, reading.pages.previous?.total, reading.rows.found, clock.monotonic())
  else {
    poll.ended = { reading, at }
    memory.sweep = sweepAfter(context, reading, at)
  }
  noteList(context, reading, at)
  memory.list = { ...memory.list, ...jointOf(reading, memory.list, at) }
}

function startReading({ memory, clock, goal, pageSize, state }: PollContext, first?: Reading): Reading {
  const now = clock.wall() + (state.sync.clockSkew ?? 0)
  return newReading({
    list: memory.list,
    end: growingEnd(memory).end,
    goal: goal === 'joint' && isUnordered(memory.list, now) ? 'end' : goal,
    isSecond: first !== undefined,
    ...(first && { readBefore: first.pages.read }),
    startedAt: clock.monotonic(),
    requested: pageSize,
  })
}

/** If the order of the list is not verified, the sweep continues past the horizon. */
function sweepAfter({ memory, poll, horizon, goal }: PollContext, reading: Reading, at: ReadingEnd['at']): Sweep {
  const { last, state } = memory.sweep
  const isVerified = isOrderVerifiedRecently(memory.list, { now: poll.serviceTime, horizon })
  if (at !== 'horizon' || goal === 'horizon' || isVerified) return { state: 'read', reading, at, last }
  if (state === 'running') return memory.sweep
  reading.goal = 'end'
  return { state: 'running', reading, last }
}

/** Whether enough requests are left for a slice of a sweep, or the sweep was postponed for long. */
function maySlice({ memory, clock, sweepInterval, maySweep }: PollContext): boolean {
  return maySweep() || clock.monotonic() - (memory.sweep.last?.at ?? -Infinity) >= POSTPONED_INTERVALS * sweepInterval
}

/** Reads a slice of a sweep, which starts where the poll has joined. An error here never fails the poll. */
async function* sweep(context: PollContext, joined: Reading): AsyncGenerator<CallPage, void> {
  const { memory, poll, horizon, slice, interval } = context
  const { sweep, total } = memory
  const reading = sweep.state === 'running' ? sweep.reading : joined
  if (sweep.state !== 'running') {
    const isVerified = isOrderVerifiedRecently(memory.list, { now: poll.serviceTime, horizon })
    reading.goal = isVerified && total.state === 'watched' ? 'horizon' : 'end'
    if (total.state === 'tripped') total.state = 'checked'
    memory.sweep = { state: 'running', reading, last: sweep.last }
  }
  const limits = { maxPages: slice, maxSeconds: interval * SHARE_OF_SWEEP, mayTurn: true }
  const ended = yield* readPages(context, reading, limits)
  if (ended === undefined) return
  const isLost = ended.at === 'other end' || (ended.at === 'refused' && hidesNewest(context, reading, ended.error))
  memory.sweep = isLost
    ? { state: 'idle', last: sweep.last }
    : { state: 'read', reading, at: ended.at, last: sweep.last }
}

/** Completes a sweep with a successful poll: it has seen all that the service showed back to the horizon. */
function endSweep(context: PollContext, { reading, at }: Extract<Sweep, { state: 'read' }>): void {
  const { memory, poll, clock, lookback, sweepInterval } = context
  const { startedAt, pages, rows, reachedHorizon } = reading
  resetTripwire(memory.total, rows.found > 0, clock.monotonic())
  noteList(context, reading, at)
  const last = { at: startedAt, seconds: clock.monotonic() - startedAt, pages: pages.read }
  const { isConfirmed, unsure } = confirmSweep(reading, at, memory.list?.unsure, {
    now: poll.serviceTime,
    lookback,
    sweepInterval,
  })
  memory.list = { ...memory.list!, unsure }
  memory.sweep = { state: 'idle', last }
  poll.ended = { reading, at }
  poll.success = {
    ...poll.success!,
    endsSweep: true,
    ...began(reading, poll),
    listed: listedIds(rows),
    isConfirmed,
    limited: at === 'refused' && !reachedHorizon,
    list: memory.list,
  }
}

/**
 * Whether the service refuses a page that may have new calls, because it is not known that new calls appear at the start of
 * the reading.
 */
function hidesNewest({ memory, poll }: PollContext, reading: Reading, error: ServiceError): boolean {
  const { end, isKnown } = growingEnd(memory)
  if (reading.reachedHorizon || (isKnown && end === reading.end)) return false
  poll.problem = refusedFrom(reading.next, error)
  return true
}

/** When a reading began, by both clocks. */
function began({ began }: Reading, { serviceTime, hostTime }: RunningPoll) {
  return { beganServiceTime: began?.serviceTime ?? serviceTime, beganHostTime: began?.hostTime ?? hostTime }
}

/** What the next reading joins. */
function jointOf({ end, joining }: Reading, list: KnownList | undefined, at: ReadingEnd['at']) {
  const hasJoined = at === 'joint'
  const joint = jointAfter(joining, hasJoined && list !== undefined ? list.joint : [])
  const isWhole = hasJoined
    ? list?.isWhole === true && joint.at(-1) === list.joint.at(-1)
    : at === 'end' && joint.length === joining.rows
  return { end, joint, isWhole }
}

/** Records where a reading found calls that appeared elsewhere, and whether the list was sorted by time. */
function noteList(
  { memory, poll }: PollContext,
  { rows, joining, order, pages, began, end }: Reading,
  at: ReadingEnd['at'],
): void {
  const { list = { end, joint: [], isWhole: false } } = memory
  const now = poll.serviceTime
  const isLate = rows.lateBy !== undefined
  memory.list = isLate ? withLateRow(list, rows.lateBy!, { now, most: MOST_OVERLAP_PAGES * pages.size }) : list
  // What the sweep finds from here on counts for the sweep.
  Object.assign(rows, { found: 0, lateBy: undefined })
  const growing = growingEnd(memory)
  const isLong = at === 'end' && joining.rows >= ROWS_IN_ORDER
  if (growing.isKnown && (isLong || order.isBroken))
    memory.list = {
      ...memory.list,
      order: { isByTime: !order.isBroken && growing.end === end, at: began?.serviceTime ?? now },
    }
}
