import {
  concat,
  concatMap,
  defer,
  delay,
  exhaustMap,
  filter,
  finalize,
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
import type { UndeliveredEvent } from '../../store/webhook-store.ts'
import { readOne } from '../read-events.ts'
import { openWebhook, type OpenOptions, type OpenWebhook } from './open-webhook.ts'
import { eventPoster, type PostEvent } from './post-event.ts'
import { delayOfEvent, throttle } from './throttle.ts'
import type { Series } from './waiting-events.ts'
import { counted, type WebhookEvent } from './webhook-event.ts'

type Options = OpenOptions & {
  /** Default: by HTTP. */
  post?: PostEvent
  /** A random number from 0 to 1. */
  random: () => number
  isLeader: () => boolean
  /** Rejects with a StoreError if another daemon is the leader by the store. */
  expectLeader: () => Promise<void>
  /** Emits when no further request may be sent (replays). */
  draining$: Observable<unknown>
}

/**
 * The pause between two saves of the webhook's position (seconds). After a crash, events delivered since then are sent again.
 */
const SAVE_INTERVAL_SECONDS = 1
/** The longest delay between two attempts of an event (seconds), before jitter. */
const MAX_DELAY_SECONDS = 300
/** How long callwatch retries an event that the receiver refuses (seconds). */
const MAX_REFUSED_SECONDS = 600
/** The most requests at the same time. */
const CONCURRENT = 16
/** How long requests in flight may take when the daemon stops (seconds). */
const DRAIN_SECONDS = 3
const GONE = 410
/** Below 500, only these answers refuse no event: timeout, gone, too early, too many requests. */
const NO_REFUSALS: readonly number[] = [408, GONE, 425, 429]

/**
 * Delivers the events of the log that a webhook wants until `draining$`: each at least once, and in order for each call. A
 * failed event is retried with longer and longer delays, and delays only later events of its call. The store keeps the
 * webhook's position.
 */
export function deliverEvents(options: Omit<Options, 'report'>): Observable<WebhookEvent> {
  const { clock, isLeader, draining$ } = options
  return defer(() => {
    /** Events that were not reported yet. They are reported even if later work fails. */
    const unreported: WebhookEvent[] = []
    const reporting = { ...options, report: (...events: WebhookEvent[]) => void unreported.push(...events) }
    return everySecond(clock).pipe(
      takeUntil(draining$),
      filter(isLeader),
      exhaustMap(() => openWebhook(reporting).catch(onlyStoreErrors(undefined))),
      filter((opened) => opened !== undefined),
      take(1),
      mergeMap((opened) => deliverTo(opened, reporting)),
      // After a change by another process or of the leader, the webhook is opened again.
      repeat({ delay: () => timer(0, clock.scheduler).pipe(takeUntil(draining$)) }),
      concatMap(() => unreported.splice(0)),
    )
  })
}

const everySecond = ({ scheduler }: Clock) => timer(0, SAVE_INTERVAL_SECONDS * 1000, scheduler)

/**
 * Reads, delivers and saves every second, until another process changes the webhook, this daemon is not the leader any more, or
 * `draining$`.
 */
function deliverTo(opened: OpenWebhook, options: Options): Observable<unknown> {
  const { clock, isLeader, draining$ } = options
  const { waiting } = opened
  /** Series whose first event is sent when a request may begin. */
  const ready$ = new Subject<Series>()
  const low$ = new Subject<void>()
  const aborting = new AbortController()
  const { attempt, permits, problem } = attemptsFor(opened, options, aborting.signal)
  let isOver = false
  let isSaveDue = false

  function send(series: Series): void {
    series.due = Infinity
    ready$.next(series)
  }

  function sendDue(): void {
    if (permits()) for (const series of waiting.due(clock.monotonic())) send(series)
  }

  async function sendNow(series: Series): Promise<void> {
    if (series.events.length === 0) return
    if (isOver || !permits()) {
      // It is due at once: `sendDue` sends it when the receiver may get events again.
      series.due = -Infinity
      return
    }
    await attempt(series)
    if (series.due === Infinity) send(series)
    if (opened.hasRoomAgain()) low$.next()
  }

  async function work(): Promise<void> {
    sendDue()
    await opened.fill(() => !isOver && isLeader(), sendDue)
    if (!isSaveDue) return
    isSaveDue = false
    isOver ||= !isLeader() || !(await opened.save(problem()))
  }

  const drained$ = draining$.pipe(tap(() => (isOver = true)))
  const worked$ = merge(everySecond(clock).pipe(tap(() => (isSaveDue = true))), low$).pipe(
    takeUntil(drained$),
    exhaustMap(() => work().catch(onlyStoreErrors(undefined))),
    takeWhile(() => !isOver, true),
    finalize(() => ready$.complete()),
  )
  const sent$ = ready$.pipe(
    mergeMap(sendNow, CONCURRENT),
    takeUntil(draining$.pipe(delay(DRAIN_SECONDS * 1000, clock.scheduler))),
    finalize(() => aborting.abort()),
  )
  const last$ = defer(async () => isLeader() && opened.save(problem()).catch(onlyStoreErrors(undefined)))
  return concat(merge(sent$, worked$), last$)
}

/**
 * The attempts to deliver events.
 *
 * @param aborted aborts the requests
 */
function attemptsFor({ waiting, progress }: OpenWebhook, options: Options, aborted: AbortSignal) {
  const { webhook, store, clock, random, isLeader, expectLeader, report } = options
  const { post = eventPoster(webhook, clock) } = options
  const { name } = webhook
  const jittered = (seconds: number) => seconds * (0.5 + random() / 2)
  const receiver = throttle(clock, jittered)
  let active = 0

  /** Sends the first event of a series. Postpones it if it was not accepted. */
  async function attempt(series: Series): Promise<void> {
    const event = series.events[0]!
    series.isSending = true
    active += 1
    try {
      const text = waiting.texts.get(event) ?? (await readOne(store, event))
      await expectLeader()
      if (!isLeader()) return
      if (text !== undefined) await post(idIn(text), text, aborted)
      waiting.remove(event)
      report(...counted(name, text === undefined ? 'expired' : 'delivered', 1))
      if (text === undefined) return
      receiver.accepted()
      progress.deliveredAt = clock.wall()
    } catch (error) {
      if (error instanceof StoreError) waiting.postpone(series, event, clock.monotonic() + SAVE_INTERVAL_SECONDS)
      else if (error instanceof DeliveryError) failed(series, event, error)
      else throw error
    } finally {
      series.isSending = false
      active -= 1
    }
  }

  /** Postpones an event, or makes it a dead letter if the receiver has refused it for long. Pauses the webhook if its receiver is gone. */
  function failed(series: Series, event: UndeliveredEvent, error: DeliveryError): void {
    const { message: problem, status } = error
    const wall = clock.wall()
    const isRefused = status !== undefined && status < 500 && !NO_REFUSALS.includes(status)
    const refusedSince = isRefused ? (event.refusedSince ?? wall) : undefined
    const isDead = refusedSince !== undefined && wall - refusedSince >= MAX_REFUSED_SECONDS
    const changed = { ...event, attempts: event.attempts + 1, problem, refusedSince, dead: isDead }
    report(...counted(name, isDead ? 'dead' : 'retried', 1, problem))
    if (isDead) waiting.bury(event, changed)
    else {
      const pause = jittered(delayAfter(event.attempts + 1, 1, MAX_DELAY_SECONDS))
      waiting.postpone(series, changed, clock.monotonic() + Math.max(pause, delayOfEvent(error)))
    }
    if (status !== GONE) receiver.failed(error, event.attempts === 0)
    else if (progress.paused === undefined) {
      progress.paused = problem
      report({ webhook: name, kind: 'paused', problem })
    }
  }

  return {
    attempt,
    /** Whether the receiver may get another event now. */
    permits: () => progress.paused === undefined && isLeader() && receiver.permits(active),
    problem: receiver.problem,
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own event
const idIn = (event: string) => (JSON.parse(event) as { id: string }).id
