import { Subject } from 'rxjs'
import type { Observation } from '../../src/ledger/step.ts'
import { rateBudget, type RateBudget } from '../../src/polling/rate-budget.ts'
import { watchTarget, type WatchEvent } from '../../src/polling/watch-target.ts'
import { StoreError } from '../../src/store/store.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { CREATED, ledgerBook } from '../ledger/seen.ts'
import { fakeService } from './fake-service.ts'

export const INTERVAL = 15

/** Watches a fake service on a virtual clock, and keeps a ledger of what was folded. */
export function watching({
  timeout = 10,
  retries = 0,
  offset = 0,
  pageSize = 2,
  maxRequestsPerMinute = Infinity,
  held = 0,
  interval = INTERVAL,
  lookback = 86_400,
  before = [] as Observation[],
} = {}) {
  const clock = virtualClock(CREATED)
  const service = fakeService(clock, pageSize)
  const book = ledgerBook({ lookback })
  for (const observation of before) book.see(observation)
  const folded: Observation[] = []
  const ticks: number[] = []
  const events: WatchEvent<number>[] = []
  const errors: unknown[] = []
  const stop$ = new Subject<void>()
  const abandon$ = new Subject<void>()
  const storage: { fails: boolean; mistake?: Error } = { fails: false }
  const unlimited: RateBudget = { take: async () => undefined, holdBack: () => undefined, heldFor: () => held }
  const budget =
    maxRequestsPerMinute === Infinity
      ? unlimited
      : rateBudget({ clock, maxRequestsPerMinute, heldUntil: undefined, onHold: () => undefined })
  let completed = false
  const watch$ = watchTarget<number>({
    clock,
    client: service.client,
    attempt: { budget, timeout, retries, random: () => 0 },
    state: book.state,
    fold: async (observation) => {
      if (storage.fails) throw storage.mistake ?? new StoreError('unavailable', 'the disk is full')
      folded.push(observation)
      return book.see(observation)?.facts.seq
    },
    tick: async () => {
      ticks.push(clock.monotonic())
      if (storage.fails) throw storage.mistake ?? new StoreError('unavailable', 'the disk is full')
      return undefined
    },
    poll: {
      interval,
      lookback,
      sweepInterval: 900,
      pageSize,
      maxRequestsPerMinute: Math.min(400, maxRequestsPerMinute),
    },
    offset,
    stop$,
    abandon$,
  })
  watch$.subscribe({
    next: (event) => events.push(event),
    error: (error) => void errors.push(error),
    complete: () => (completed = true),
  })
  const reports = () => events.flatMap((event) => (event.kind === 'cycle' ? [event.report] : []))
  const outcomes = () => reports().map(({ outcome }) => outcome)
  const skipped = () => events.filter(({ kind }) => kind === 'skipped').length
  const isCompleted = () => completed
  return {
    clock,
    service,
    book,
    folded,
    ticks,
    events,
    errors,
    stop$,
    abandon$,
    storage,
    reports,
    outcomes,
    skipped,
    isCompleted,
  }
}
