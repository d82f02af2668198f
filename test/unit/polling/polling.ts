import { isOrderVerified } from '../../../src/ledger/known-list.ts'
import type { SeenCall } from '../../../src/ledger/call.ts'
import { horizon } from '../../../src/ledger/horizon.ts'
import type { ServiceAnswer } from '../../../src/ledger/observation.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { newListMemory } from '../../../src/polling/list/list-state.ts'
import { newPoll, type RunningPoll } from '../../../src/polling/poll.ts'
import { readList } from '../../../src/polling/list/read-list.ts'
import type { CallPage } from '../../../src/service/calls-client.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { CREATED, ledgerBook, seen } from '../../kit/ledger/seen.ts'
import { fakeService } from './fake-service.ts'

/** A call that ended `n` seconds before the target was created; with a negative `n` after that. */
export const call = (n: number): SeenCall =>
  seen(`call ${n}`, 'ended', { initiatedAt: CREATED - n, endedAt: CREATED - n })
/** An ongoing call that began `n` seconds before the target was created. */
export const ongoing = (n: number): SeenCall => seen(`call ${n}`, 'ongoing', { initiatedAt: CREATED - n })
/** Calls `from` to `to`, newest first. */
export const numbered = (from: number, to: number): SeenCall[] =>
  Array.from({ length: to - from + 1 }, (_, i) => call(from + i))
/** In an order that is the same for the same turn. */
export const shuffled = (calls: readonly SeenCall[], turn: number): SeenCall[] =>
  calls.toSorted((a, b) => hash(`${turn} ${a.id}`) - hash(`${turn} ${b.id}`))

/** A pseudo-random number, the same for the same text. */
function hash(text: string): number {
  let value = 7
  for (const char of text) value = (Math.imul(value, 31) + char.codePointAt(0)!) | 0
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
}
const BEFORE_ALL = 1_000_000

/** A page with these calls, as the client reads it, without a total. */
export function pageOf(page: number, calls: readonly SeenCall[], says: Partial<CallPage> = {}): CallPage {
  const keys = calls.map(({ id }) => id)
  const at = { serviceTime: CREATED, hostTime: CREATED, limit: undefined }
  const shown = { page, calls: [...calls], keys, items: calls.length, invalid: {} }
  return { ...at, ...shown, total: undefined, totalPages: undefined, ...says }
}

/** Polls the list of a fake service, and counts its calls in a ledger: that of an earlier process, if there is one. */
export function polling({
  lookback = BEFORE_ALL,
  pageSize = 4,
  /** Calls requested in one page, if the service shows fewer. */
  requested = 0,
  slice = 3,
  sweepInterval = 900,
  isWanted = ({ phase }: TrackedCall): boolean => phase === 'open',
  maySweep = (): boolean => true,
  book = ledgerBook({ lookback, details: 'never' }),
} = {}) {
  const running = virtualClock(CREATED + 1)
  let waited = 0
  const clock = { ...running, monotonic: () => running.monotonic() + waited }
  const service = fakeService(clock, pageSize)
  const memory = newListMemory(book.state.sync, book.state.sync.lastSweepBegan && clock.monotonic())
  const poll = async () => {
    service.asked.length = 0
    const poll = newPoll()
    const signal = new AbortController().signal
    const fetchPage = (page: number): Promise<CallPage> => service.client.listCalls(page, signal)
    const wanted = () => [...book.state.calls.values()].filter((call) => isWanted(call) && !poll.listed.has(call.id))
    const options = { memory, state: book.state, clock, horizon: horizon(book.state.sync, lookback), lookback }
    const pages = readList(poll, {
      ...options,
      sweepInterval,
      slice,
      maySweep,
      interval: 15,
      pageSize: requested || pageSize,
      callsToRequest: wanted,
      fetchPage,
    })
    // So few calls are committed at once.
    const answers: ServiceAnswer[] = []
    try {
      for await (const { serviceTime, hostTime, calls, invalid } of pages) {
        answers.push({ source: 'list', serviceTime, hostTime, calls, notFound: [], invalid })
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      poll.problem = error
    }
    book.see({ answers, ...(poll.success && { success: poll.success }) })
    await clock.advance(15)
    return poll
  }
  /** Lets an answer take that long. */
  const wait = (seconds: number) => (waited += seconds)
  const kind = ({ success }: RunningPoll) =>
    success === undefined ? 'unsuccessful' : success.endsSweep ? 'complete' : 'incremental'
  /** Polls once; the kind of that poll, and the pages that it requested. */
  const next = async () => [kind(await poll()), [...service.asked]] as const
  /** Polls until one is complete; throws after fifty. */
  const untilComplete = async () => {
    for (let polls = 0; polls < 50; polls++) if ((await poll()).success?.endsSweep) return
    throw new Error('fifty polls, and none was complete')
  }
  const isVerified = () => isOrderVerified(memory.list)
  const has = (n: number) => book.state.calls.has(`call ${n}`)
  /** The number of a call that ended just now. */
  const newest = () => -Math.floor(clock.wall() - CREATED)
  return {
    newest,
    clock,
    wait,
    service,
    book,
    memory,
    poll,
    next,
    untilComplete,
    isVerified,
    has,
    tracked: () => book.state.calls.size,
  }
}
