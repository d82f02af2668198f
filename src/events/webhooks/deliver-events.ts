import {
  concat,
  concatMap,
  defer,
  delay,
  endWith,
  exhaustMap,
  ignoreElements,
  merge,
  mergeMap,
  Subject,
  take,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../../clock/clock.ts'
import { DeliveryError } from '../../network/delivery-error.ts'
import { onlyStoreErrors, StoreError } from '../../store/store-error.ts'
import type { WebhookProgress } from '../../store/store.ts'
import { readOne } from '../read-events.ts'
import type { EventQueue, QueuedEvent } from './event-queue.ts'
import { openWebhook, type OpenOptions, type OpenWebhook } from './open-webhook.ts'
import type { PostEvent } from './post-event.ts'
import { counted, type WebhookEvent } from './webhook-event.ts'

type DeliverEventsOptions = Omit<OpenOptions, 'report'> & {
  post: PostEvent
  /** A random number from 0 to 1. */
  random: () => number
  isLeader: () => boolean
  /** Emits when no further request may be sent. */
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
/** How long requests in flight may take when the daemon stops (seconds). */
const DRAIN_SECONDS = 3
const [TIMEOUT, TOO_EARLY, GONE] = [408, 425, 410]

/**
 * Delivers the events of the log that a webhook wants until `draining$`: each at least once, and in order for each call. A
 * failed event is retried with longer and longer delays, and delays only later events of its call. The store keeps the
 * webhook's position.
 */
export function deliverEvents(options: DeliverEventsOptions): Observable<WebhookEvent> {
  const { webhook, store, clock, isLeader, draining$ } = options
  return defer(() => {
    const low$ = new Subject<void>()
    const sender = newSender(options, () => low$.next())
    /** Events that were not reported yet. They are reported even if later work fails. */
    const unreported: WebhookEvent[] = []
    const report = (...events: WebhookEvent[]) => void unreported.push(...events)
    let checkedAt = -Infinity

    /** Opens the webhook again if another process changed it. Resolves to whether it is open. */
    async function open(): Promise<boolean> {
      const stored = (await store.webhooks()).find(({ name }) => name === webhook.name)
      if (sender.opened?.isCurrent(stored) !== true) {
        sender.opened = undefined
        // With a new queue, requests in flight would be sent twice.
        if (sender.active > 0) return false
        // After a user resumes the webhook or replays events, an earlier Retry-After no longer applies.
        sender.receiver.reset()
        sender.opened = await openWebhook({ ...options, report }, stored)
      }
      if ((stored?.dead ?? 0) > 0) await sender.opened.expireDead()
      return true
    }

    const save = async (isLast = false) => sender.opened?.save({ isLast, problem: sender.receiver.problem() })

    /** Reads as many events as the queue has room for, and saves the webhook's position. */
    async function work(): Promise<WebhookEvent[]> {
      if (!isLeader()) return []
      const isDue = sender.opened === undefined || clock.monotonic() - checkedAt >= SAVE_INTERVAL_SECONDS
      if (isDue) checkedAt = clock.monotonic()
      if (isDue && !(await open())) return []
      await sender.opened?.fill(() => !sender.isDraining && isLeader(), sender.pump)
      if (isDue) await save()
      sender.opened?.queue.wake(clock.monotonic())
      sender.pump()
      return unreported.splice(0)
    }

    const worked$ = merge(timer(0, SAVE_INTERVAL_SECONDS * 1000, clock.scheduler), low$).pipe(
      takeUntil(draining$),
      exhaustMap(() => work().catch(onlyStoreErrors<WebhookEvent[]>([]))),
    )
    const last$ = defer(async () => {
      if (isLeader()) await save(true).catch(onlyStoreErrors(undefined))
      return unreported
    })
    return concat(merge(sender.sent$, worked$), last$).pipe(concatMap((events) => events))
  })
}

/**
 * Sends the events of a webhook's queue, as many at a time as the receiver may get.
 *
 * @param onRoom called when the queue has room again
 */
function newSender(options: DeliverEventsOptions, onRoom: () => void) {
  const { post, store, clock, random, isLeader } = options
  const { name } = options.webhook
  const attempts$ = new Subject<QueuedEvent>()
  const aborting = new AbortController()
  const jittered = (delay: number) => delay * (0.5 + random() / 2)
  const receiver = throttle(clock, jittered)

  async function attempt(event: QueuedEvent): Promise<WebhookEvent[]> {
    const { queue, progress } = sender.opened!
    try {
      const text = event.text ?? (await readOne(store, event).catch(unreadable))
      if (text === undefined) {
        queue.done(event)
        return counted(name, 'expired', 1)
      }
      queue.setText(event, text)
      if (!isLeader()) throw new DeliveryError('another daemon now delivers the events', { retryable: true })
      await post(`${event.id}-${event.place}`, text, aborting.signal)
      queue.done(event)
      receiver.accepted()
      progress.deliveredAt = clock.wall()
      return counted(name, 'delivered', 1)
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      const outcome = counted(name, noteFailure(event, error, { queue, clock, jittered }), 1, error.message)
      if (aborting.signal.aborted) return outcome
      return [...outcome, ...noteReceiver(event, error, { name, receiver, progress })]
    } finally {
      sender.active -= 1
      sender.pump()
      if (sender.isDraining && sender.active === 0) attempts$.complete()
      if (sender.opened?.hasRoomAgain() === true) onRoom()
    }
  }

  function drain(): void {
    sender.isDraining = true
    if (sender.active === 0) attempts$.complete()
  }

  const sender = {
    receiver,
    opened: undefined as OpenWebhook | undefined,
    /** How many requests are in flight. */
    active: 0,
    isDraining: false,
    /** Sends as many events as the receiver may get now. */
    pump: (): void => {
      if (sender.isDraining || sender.opened?.progress.paused !== undefined || !isLeader()) return
      while (receiver.permits(sender.active)) {
        const event = sender.opened?.queue.take(clock.monotonic())
        if (event === undefined) return
        sender.active += 1
        receiver.sent(event)
        attempts$.next(event)
      }
    },
    /** What became of each attempt. Completes when no request is in flight any more after `draining$`. */
    sent$: merge(
      attempts$.pipe(mergeMap(attempt)),
      drained(attempts$, drain, () => aborting.abort(), options),
    ),
  }
  return sender
}

/** At `draining$` calls `drain`, and `abort` if `attempts$` has not completed some seconds later. */
function drained(
  attempts$: Observable<unknown>,
  drain: () => void,
  abort: () => void,
  { draining$, clock }: Pick<DeliverEventsOptions, 'draining$' | 'clock'>,
): Observable<never> {
  return draining$.pipe(
    take(1),
    tap(drain),
    delay(DRAIN_SECONDS * 1000, clock.scheduler),
    tap(abort),
    ignoreElements(),
    takeUntil(attempts$.pipe(ignoreElements(), endWith(undefined))),
  )
}

/** Postpones an event, or makes it a dead letter if the receiver has refused it for long. */
function noteFailure(
  event: QueuedEvent,
  error: DeliveryError,
  { queue, clock, jittered }: { queue: EventQueue; clock: Clock; jittered: (delay: number) => number },
): 'dead' | 'retried' {
  const { message, status, retryable } = error
  const wall = clock.wall()
  const isRefused = !retryable && status !== TIMEOUT && status !== TOO_EARLY && status !== GONE
  event.attempts += 1
  event.problem = message
  event.refusedSince = isRefused ? (event.refusedSince ?? wall) : undefined
  if (event.refusedSince !== undefined && wall - event.refusedSince >= MAX_REFUSED_SECONDS) {
    queue.bury(event)
    return 'dead'
  }
  const pause = jittered(Math.min(MAX_DELAY_SECONDS, 2 ** Math.min(event.attempts - 1, 20)))
  queue.postpone(event, clock.monotonic() + Math.max(pause, delayOfEvent(error)))
  return 'retried'
}

/** Slows down, or pauses the webhook if its receiver is gone. */
function noteReceiver(
  event: QueuedEvent,
  error: DeliveryError,
  { name, receiver, progress }: { name: string; receiver: ReturnType<typeof throttle>; progress: WebhookProgress },
): WebhookEvent[] {
  if (error.status !== GONE) receiver.failed(event, error)
  if (error.status !== GONE || progress.paused !== undefined) return []
  progress.paused = error.message
  return [{ webhook: name, kind: 'paused', problem: error.message }]
}

/** The event's text cannot be read from the store now, so the attempt is retried. */
function unreadable(error: unknown): never {
  if (error instanceof StoreError) throw new DeliveryError(error.message, { retryable: true })
  throw error
}

/** The most requests at the same time. */
const CONCURRENT = 16
/** If this many events in a row fail at their first attempt with one of these statuses, the receiver is down. */
const DOWN_AFTER_FAILURES = 5
const DOWN: readonly (number | undefined)[] = [undefined, 429, 502, 503, 504]
/** The longest delay between two requests to a receiver that is down (seconds). */
const MAX_PROBE_DELAY_SECONDS = 15
/** With these statuses, `Retry-After` applies to the receiver; with others, only to the event. */
const BUSY: readonly (number | undefined)[] = [429, 503]
const MAX_RETRY_AFTER_SECONDS = 3600

/**
 * How much callwatch may send to a receiver: many events at once; while the receiver is down, one at a time with delays; none
 * while the receiver asks to wait.
 *
 * @param jittered randomizes a delay (seconds)
 */
function throttle(clock: Clock, jittered: (delay: number) => number) {
  let failures = 0
  let problem = ''
  let pausedUntil = 0
  /** The event that is sent while the receiver is down. */
  let probe: QueuedEvent | undefined
  const isDown = () => failures >= DOWN_AFTER_FAILURES
  const pauseFor = (seconds: number) => (pausedUntil = Math.max(pausedUntil, clock.monotonic() + seconds))

  return {
    /** Whether another event may be sent while so many are being sent. */
    permits: (active: number) => clock.monotonic() >= pausedUntil && active < (isDown() ? 1 : CONCURRENT),
    /** Call it when an event is sent. */
    sent: (event: QueuedEvent) => void (probe = isDown() ? event : undefined),
    accepted: () => void (failures = 0),
    /** Call it when an event was not accepted, after counting the attempt. */
    failed: (event: QueuedEvent, { message, status, retryAfter = 0 }: DeliveryError) => {
      if (BUSY.includes(status)) pauseFor(Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS))
      if (!DOWN.includes(status)) {
        failures = 0
        return
      }
      // Events that were already being sent when the receiver went down give no new information.
      if (isDown() ? event !== probe : event.attempts > 1) return
      failures += 1
      problem = message
      if (isDown())
        pauseFor(jittered(Math.min(MAX_PROBE_DELAY_SECONDS, 2 ** Math.min(failures - DOWN_AFTER_FAILURES, 20))))
    },
    /** Forgets failures and pauses. */
    reset: () => {
      failures = 0
      pausedUntil = 0
    },
    /** Why the receiver is down; undefined if it is not. */
    problem: () => (isDown() ? problem : undefined),
  }
}

/** How long a receiver asks callwatch to wait with this event alone (seconds). */
function delayOfEvent({ status, retryAfter = 0 }: DeliveryError): number {
  return BUSY.includes(status) ? 0 : Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS)
}
