import { BehaviorSubject, Subject } from 'rxjs'
import type { Observation } from '../../../src/ledger/observation.ts'
import { newRateLimiter, UNLIMITED, type RateLimiter } from '../../../src/polling/rate-limiter.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Commit } from '../../../src/store/store.ts'
import { hintQueue } from '../../../src/pipeline/hint-queue.ts'
import { commitObservation, pipeline, type PipelineEvent } from '../../../src/pipeline/pipeline.ts'
import { openTarget } from '../../../src/pipeline/target.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { CREATED, ledgerBook } from '../../kit/ledger/seen.ts'
import { fakeService } from '../polling/fake-service.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'

export const INTERVAL = 15

/** Runs the pipeline of a target on a virtual clock, with a fake service, and a store in memory that fails on demand. */
export async function running({
  timeout = 10,
  retries = 0,
  offset = 0,
  pageSize = 2,
  maxRequestsPerMinute = Infinity,
  held = 0,
  interval = INTERVAL,
  lookback = 86_400,
  baseline = pollConfig().baseline,
  mask = (text: string) => text,
  /** What an earlier process counted. */
  before = [] as Observation[],
} = {}) {
  const clock = virtualClock(CREATED)
  const service = fakeService(clock, pageSize)
  const storage: { fails: boolean; bug?: Error } = { fails: false }
  const commits: Commit[] = []
  const memory = openSqliteStore({ path: ':memory:' })
  const store: typeof memory = {
    ...memory,
    commit: async (name, commit) => {
      if (storage.fails) throw storage.bug ?? new StoreError('unavailable', 'the disk is full')
      await memory.commit(name, commit)
      commits.push(commit)
    },
  }
  const poll = pollConfig({
    interval,
    lookback,
    baseline,
    pageSize,
    timeout,
    retries,
    maxRequestsPerMinute: Math.min(400, maxRequestsPerMinute),
  })
  const settings = { target: targetConfig(), poll, rules: [] }
  const open = () => openTarget({ settings, store, clock })
  const earlier = await open()
  for (const observation of before) await commitObservation(earlier, observation)
  const target = await open()
  commits.length = 0
  const unlimited: RateLimiter = { ...UNLIMITED, pausedFor: () => held }
  const rateLimiter =
    maxRequestsPerMinute === Infinity
      ? unlimited
      : newRateLimiter({ clock, maxRequestsPerMinute, pausedUntil: undefined, onPause: () => undefined })
  target.rateLimiter = rateLimiter
  const hints = hintQueue(clock, target.settings.target)
  const events: PipelineEvent[] = []
  const errors: unknown[] = []
  const draining$ = new Subject<void>()
  const aborted$ = new Subject<void>()
  const completed = new BehaviorSubject(false)
  const subscription = pipeline({
    target,
    client: service.client,
    hints,
    random: () => 0,
    offset,
    draining$,
    aborted$,
    mask,
  }).subscribe({
    next: (event) => events.push(event),
    error: (error) => void errors.push(error),
    complete: () => completed.next(true),
  })
  const reports = () => events.flatMap((event) => (event.kind === 'polled' ? [event.report] : []))
  return {
    clock,
    service,
    target,
    /** What is counted of it. */
    book: ledgerBook({ lookback }, target.ledger),
    /** What was committed, the latest last. */
    commits,
    hints,
    events,
    errors,
    draining$,
    aborted$,
    storage,
    reports,
    outcomes: () => reports().map(({ outcome }) => outcome),
    unsubscribe: () => subscription.unsubscribe(),
    skipped: () => events.filter(({ kind }) => kind === 'skipped').length,
    isCompleted: () => completed.value,
  }
}
