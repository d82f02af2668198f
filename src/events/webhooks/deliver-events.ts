import {
  concat,
  connect,
  defer,
  delay,
  exhaustMap,
  filter,
  finalize,
  ignoreElements,
  merge,
  mergeMap,
  repeat,
  Subject,
  take,
  takeUntil,
  takeWhile,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../../clock/clock.ts'
import { delayAfter } from '../../clock/delay-after.ts'
import { DeliveryError } from '../../network/delivery-error.ts'
import { onlyStoreErrors, StoreError } from '../../store/store-error.ts'
import { storeRetried } from '../../store/store-retried.ts'
import type { UndeliveredEvent } from '../../store/webhook-store.ts'
import { readOne } from '../read-events.ts'
import { openWebhook, type OpenOptions, type OpenWebhook } from './open-webhook.ts'
import { eventPoster, type PostEvent } from './post-event.ts'
import type { WaitingEvent } from './waiting-events.ts'
import type { WebhookEvent } from './webhook-event.ts'

type Options = OpenOptions & {
  /** Default: by HTTP. */
  post?: PostEvent
  isLeader: () => boolean
  /** Rejects with a StoreError if another daemon is the leader by the store. */
  expectLeader: () => Promise<void>
  /** Emits when no further request may be sent (replays). */
  draining$: Observable<unknown>
}

/** The pause between two rounds (seconds). After a crash, events delivered since the last round are sent again. */
const ROUND_SECONDS = 1
/** The longest delay between two attempts of an event, unless the receiver asks for more (seconds). */
const MAX_DELAY_SECONDS = 300
/** The longest pause of a receiver that is down, unless it asks for more (seconds). */
const MAX_PAUSE_SECONDS = 15
const MAX_RETRY_AFTER_SECONDS = 3600
/** How long callwatch retries an event that the receiver refuses (seconds). */
const MAX_REFUSED_SECONDS = 600
/** The most requests at the same time. */
const CONCURRENT = 16
/** How long requests in flight may take when the daemon stops (seconds). */
const DRAIN_SECONDS = 3
const GONE = 410
/** Below 500, only these answers refuse no event: timeout, gone, too early, too many requests. */
const NO_REFUSALS: readonly number[] = [408, GONE, 425, 429]
/** With these answers the receiver is down: no other event would be accepted. */
const DOWN: readonly number[] = [429, 502, 503, 504]

/**
 * Delivers the events of the log that a webhook wants until `draining$`: each at least once, and in order for each call. A
 * failed event is retried with longer and longer delays, and delays only later events of its call. The store keeps the
 * webhook's position.
 */
export function deliverEvents(given: Omit<Options, 'report'>): Observable<WebhookEvent> {
  return defer(() => {
    const { webhook, clock, isLeader, draining$ } = given
    const reported$ = new Subject<WebhookEvent>()
    const options: Options = {
      ...given,
      report: (change) => {
        if (change.kind !== 'events' || change.n > 0) reported$.next({ webhook: webhook.name, ...change })
      },
    }
    const opened$ = everySecond(clock).pipe(
      filter(isLeader),
      take(1),
      mergeMap(() => openWebhook(options)),
      storeRetried(clock),
      takeUntil(draining$),
    )
    const delivered$ = opened$.pipe(
      mergeMap((opened) => deliverTo(opened, options)),
      // After a change by another process or of the leader, the webhook is opened again.
      repeat({ delay: () => timer(0, clock.scheduler).pipe(takeUntil(draining$)) }),
      ignoreElements(),
      finalize(() => reported$.complete()),
    )
    return merge(reported$, delivered$)
  })
}

const everySecond = ({ scheduler }: Clock) => timer(0, ROUND_SECONDS * 1000, scheduler)

/**
 * Each second it saves what became of the events, reads further ones, and sends those that are due: until another process changes the
 * webhook, this daemon is not the leader any more, or `draining$`.
 */
function deliverTo(opened: OpenWebhook, options: Options): Observable<unknown> {
  const { clock, isLeader, expectLeader, draining$ } = options
  const { waiting, save, read } = opened
  const aborting = new AbortController()
  const { attempt, permits } = attemptsFor(opened, options, aborting.signal)
  let due = waiting.due(-Infinity)
  let isOver = false

  async function round(): Promise<void> {
    // What one that was paused saves, the leader of now would read as a change, and send again what it has not saved.
    await expectLeader()
    // Draining may begin meanwhile, and must not be forgotten.
    if (!isLeader() || !(await save())) isOver = true
    if (isOver) return
    await read()
    due = waiting.due(clock.monotonic())
  }

  const goesOn = () => !isOver && permits()

  /** Sends one event after the other, while any is due. */
  async function send(): Promise<void> {
    while (goesOn()) {
      const series = due.next().value
      if (series === undefined) return
      do await attempt(series[0]!)
      while (series[0]?.due === -Infinity && goesOn())
    }
  }

  const rounds$ = everySecond(clock).pipe(
    takeUntil(draining$.pipe(tap(() => (isOver = true)))),
    exhaustMap(() => round().catch(onlyStoreErrors(undefined))),
    takeWhile(() => !isOver),
  )
  const sent$ = rounds$.pipe(
    connect((round$) => merge(...Array.from({ length: CONCURRENT }, () => round$.pipe(exhaustMap(send))))),
    takeUntil(draining$.pipe(delay(DRAIN_SECONDS * 1000, clock.scheduler))),
    finalize(() => aborting.abort()),
  )
  const last$ = defer(async () => {
    if (isLeader()) await expectLeader().then(save).catch(onlyStoreErrors(undefined))
  })
  return concat(sent$, last$)
}

/**
 * The attempts to deliver events.
 *
 * @param aborted aborts the requests
 */
function attemptsFor({ waiting, progress, bury }: OpenWebhook, options: Options, aborted: AbortSignal) {
  const { webhook, store, clock, isLeader, expectLeader, report } = options
  const { post = eventPoster(webhook, clock) } = options
  /** How often in a row the receiver was down, and until when it gets nothing (monotonic seconds). */
  let [downs, pausedUntil] = [0, -Infinity]

  /** Sends an event. Postpones it if it was not accepted. */
  async function attempt(event: WaitingEvent): Promise<void> {
    event.due = Infinity
    try {
      const text = event.text ?? (await readOne(store, event.row))
      await expectLeader()
      if (!isLeader()) throw new StoreError('stale', 'another daemon is the leader')
      if (text !== undefined) {
        await post(idIn(text), text, aborted)
        downs = 0
        progress.deliveredAt = clock.wall()
      }
      waiting.remove(event)
      report({ kind: 'events', outcome: text === undefined ? 'expired' : 'delivered', n: 1 })
    } catch (error) {
      if (error instanceof StoreError) event.due = clock.monotonic() + ROUND_SECONDS
      else if (error instanceof DeliveryError) failed(event, error)
      else throw error
    }
  }

  function failed(event: WaitingEvent, error: DeliveryError): void {
    const { message: problem, status } = error
    const row = afterFailure(event.row, error, clock.wall())
    report({ kind: 'events', outcome: row.dead ? 'dead' : 'retried', n: 1, problem })
    if (row.dead) {
      waiting.remove(event)
      bury(row)
      return
    }
    const retryAfter = Math.min(error.retryAfter ?? 0, MAX_RETRY_AFTER_SECONDS)
    const delay = Math.max(retryAfter, delayAfter(row.attempts, 1, MAX_DELAY_SECONDS))
    waiting.postpone(event, row, clock.monotonic() + delay)
    if (isDown(error)) pause(retryAfter)
    if (status === GONE && progress.paused === undefined) {
      progress.paused = problem
      report({ kind: 'paused', problem })
    }
  }

  /** Sends nothing to a receiver that is down for a while. @param retryAfter how long it asks to wait (seconds), or 0 */
  function pause(retryAfter: number): void {
    const now = clock.monotonic()
    // What was under way when the pause began says nothing new.
    if (now >= pausedUntil) downs += 1
    pausedUntil = Math.max(pausedUntil, now + (retryAfter || delayAfter(downs, 1, MAX_PAUSE_SECONDS)))
  }

  return {
    attempt,
    /** Whether the receiver may get another event now. */
    permits: () => progress.paused === undefined && isLeader() && clock.monotonic() >= pausedUntil,
  }
}

/**
 * An event after an attempt that failed: a dead letter, if the receiver has refused it for long.
 *
 * @param now UNIX seconds
 */
function afterFailure(
  row: UndeliveredEvent,
  { message: problem, status }: DeliveryError,
  now: number,
): UndeliveredEvent {
  const isRefused = status !== undefined && status < 500 && !NO_REFUSALS.includes(status)
  const refusedSince = isRefused ? (row.refusedSince ?? now) : undefined
  const dead = refusedSince !== undefined && now - refusedSince >= MAX_REFUSED_SECONDS
  return { ...row, attempts: row.attempts + 1, problem, refusedSince, dead }
}

const isDown = ({ status, mayHaveArrived }: DeliveryError) =>
  status === undefined ? !mayHaveArrived : DOWN.includes(status)

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own event
const idIn = (event: string) => (JSON.parse(event) as { id: string }).id
