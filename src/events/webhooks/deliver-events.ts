import {
  concat,
  concatMap,
  defer,
  endWith,
  exhaustMap,
  ignoreElements,
  merge,
  mergeMap,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import { DeliveryError } from '../../network/delivery-error.ts'
import { onlyStoreErrors, StoreError } from '../../store/store-error.ts'
import type { WebhookProgress } from '../../store/webhook-store.ts'
import { readOne } from '../read-events.ts'
import type { EventQueue, QueuedEvent } from './event-queue.ts'
import { openWebhook, type OpenOptions, type OpenWebhook } from './open-webhook.ts'
import type { PostEvent } from './post-event.ts'
import { delayOfEvent, throttle } from './throttle.ts'
import { counted, type WebhookEvent } from './webhook-event.ts'

export type DeliverEventsOptions = Omit<OpenOptions, 'report'> & {
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
  const { webhook, post, store, clock, random, isLeader, draining$ } = options
  const { name } = webhook
  return defer(() => {
    const [attempts$, low$] = [new Subject<QueuedEvent>(), new Subject<void>()]
    const aborting = new AbortController()
    const jittered = (delay: number) => delay * (0.5 + random() / 2)
    const receiver = throttle(clock, jittered)
    /** Events that were not reported yet. They are reported even if later work fails. */
    const unreported: WebhookEvent[] = []
    let opened: OpenWebhook | undefined
    let active = 0
    let isDraining = false
    let checkedAt = -Infinity

    /** Sends as many events as the receiver may get now. */
    function pump(): void {
      if (opened === undefined || opened.progress.paused !== undefined || isDraining || !isLeader()) return
      while (receiver.permits(active)) {
        const event = opened.queue.take(clock.monotonic())
        if (event === undefined) return
        active += 1
        receiver.sent(event)
        attempts$.next(event)
      }
    }

    async function attempt(event: QueuedEvent): Promise<WebhookEvent[]> {
      const { queue, progress } = opened!
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
        return failed(event, error, { queue, progress })
      } finally {
        active -= 1
        pump()
        if (isDraining && active === 0) attempts$.complete()
        if (opened?.hasRoomAgain() === true) low$.next()
      }
    }

    function failed(
      event: QueuedEvent,
      error: DeliveryError,
      { queue, progress }: { queue: EventQueue; progress: WebhookProgress },
    ): WebhookEvent[] {
      const { message, status, retryable } = error
      const wall = clock.wall()
      const isRefused = !retryable && status !== TIMEOUT && status !== TOO_EARLY && status !== GONE
      event.attempts += 1
      event.problem = message
      event.refusedSince = isRefused ? (event.refusedSince ?? wall) : undefined
      const isDead = event.refusedSince !== undefined && wall - event.refusedSince >= MAX_REFUSED_SECONDS
      const delay = jittered(Math.min(MAX_DELAY_SECONDS, 2 ** Math.min(event.attempts - 1, 20)))
      if (isDead) queue.bury(event)
      else queue.postpone(event, clock.monotonic() + Math.max(delay, delayOfEvent(error)))
      const outcome = counted(name, isDead ? 'dead' : 'retried', 1, message)
      if (aborting.signal.aborted) return outcome
      if (status !== GONE) {
        receiver.failed(event, error)
        return outcome
      }
      if (progress.paused !== undefined) return outcome
      progress.paused = message
      return [...outcome, { webhook: name, kind: 'paused', problem: message }]
    }

    /** Reads as many events as the queue has room for, and saves the webhook's position. */
    async function work(): Promise<WebhookEvent[]> {
      if (!isLeader()) return []
      const isDue = opened === undefined || clock.monotonic() - checkedAt >= SAVE_INTERVAL_SECONDS
      if (isDue) {
        checkedAt = clock.monotonic()
        const stored = (await store.webhooks()).find((known) => known.name === name)
        if (opened?.isCurrent(stored) !== true) {
          opened = undefined
          // With a new queue, requests in flight would be sent twice.
          if (active > 0) return []
          // After a user resumes the webhook or replays events, an earlier Retry-After no longer applies.
          receiver.reset()
          opened = await openWebhook({ ...options, report: (...events) => void unreported.push(...events) }, stored)
        }
        if ((stored?.dead ?? 0) > 0) await opened.expireDead()
      }
      await opened?.fill(() => !isDraining && isLeader(), pump)
      if (isDue) await opened?.save({ problem: receiver.problem() })
      opened?.queue.wake(clock.monotonic())
      pump()
      return unreported.splice(0)
    }

    const drained$ = draining$.pipe(
      take(1),
      tap(() => {
        isDraining = true
        if (active === 0) attempts$.complete()
      }),
      switchMap(() => timer(DRAIN_SECONDS * 1000, clock.scheduler)),
      tap(() => aborting.abort()),
      ignoreElements(),
      takeUntil(attempts$.pipe(ignoreElements(), endWith(undefined))),
    )
    const worked$ = merge(timer(0, SAVE_INTERVAL_SECONDS * 1000, clock.scheduler), low$).pipe(
      takeUntil(draining$),
      exhaustMap(() => work().catch(onlyStoreErrors<WebhookEvent[]>([]))),
    )
    const last$ = defer(async () => {
      if (isLeader())
        await opened?.save({ isLast: true, problem: receiver.problem() }).catch(onlyStoreErrors(undefined))
      return unreported
    })
    return concat(merge(attempts$.pipe(mergeMap(attempt)), worked$, drained$), last$).pipe(
      concatMap((events) => events),
    )
  })
}

/** The event's text cannot be read from the store now, so the attempt is retried. */
function unreadable(error: unknown): never {
  if (error instanceof StoreError) throw new DeliveryError(error.message, { retryable: true })
  throw error
}
