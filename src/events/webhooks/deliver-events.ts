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
import type { Clock } from '../../clock/clock.ts'
import { DeliveryError } from '../../network/delivery-error.ts'
import { onlyStoreErrors, StoreError, type Store } from '../../store/store.ts'
import type { LogPlace, StoredWebhook, WebhookBook, WebhookChange, WebhookProgress } from '../../store/webhook-book.ts'
import { before, readCursor, START, writeCursor, type Cursor } from '../cursor.ts'
import { CursorExpired, readEvents, readLatest, readOne, type ReadEvent } from '../read-events.ts'
import { eventQueue, type EventQueue, type QueuedEvent } from './event-queue.ts'
import type { PostEvent } from './post-event.ts'
import { wantedBy } from './wanted-events.ts'
import type { WebhookConfig } from './webhook-section.ts'

/** What happened to the events of a webhook, or to it. */
export type WebhookEvent = { webhook: string } & (
  | { kind: 'events'; outcome: WebhookOutcome; n: number; problem?: string }
  /** An event has failed several times; none has any more. */
  | { kind: 'failing'; problem: string }
  | { kind: 'recovered' }
  | { kind: 'paused'; problem: string }
  /** The log does not go on where the webhook was: events may have been missed. */
  | { kind: 'gap' }
)

/** `dead` is a dead letter, `expired` was deleted by the retention before it was delivered. */
export type WebhookOutcome = 'delivered' | 'retried' | 'dead' | 'expired'

export type DeliverEventsOptions = {
  webhook: WebhookConfig
  post: PostEvent
  store: Pick<Store, 'events' | 'latestEvents' | keyof WebhookBook>
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  /** How long events are kept (seconds). */
  retention: number
  isLeader: () => boolean
  /** Emits when nothing more is to be sent. */
  stop$: Observable<unknown>
}

/** Requests at the same time. */
const CONCURRENT = 16
/** Events in memory that are sent next; more are read once there are fewer than half. */
const CAPACITY = 1000
/** Undelivered events of which only the place is in memory: those that failed, and those behind them. */
const MAX_WAITING = 50_000
const PAGE = 500
const ROWS = 5000
/** Seconds between two savings of how far it is, which is what a crash may repeat. */
const SAVED_EACH = 1
/** Delays of the retries of one event (seconds), without what is drawn. */
const MAX_DELAY = 300
/**
 * So many events in a row are not answered at their first attempt, or as of a receiver that is down: then one at a time is
 * sent, with delays up to this (seconds).
 */
const DOWN_AFTER = 5
const MAX_PROBE_DELAY = 15
const DOWN: readonly (number | undefined)[] = [undefined, 429, 502, 503, 504]
/** Their `Retry-After` is of the receiver, that of others of the event. */
const BUSY: readonly (number | undefined)[] = [429, 503]
const MAX_RETRY_AFTER = 3600
/** How long an event that is refused is sent again (seconds). */
const REFUSED_FOR = 600
/** Requests under way have so long when the daemon stops (seconds). */
const DRAIN = 3
const [TIMEOUT, TOO_EARLY, GONE] = [408, 425, 410]

/** A webhook as it is delivered to. */
type State = {
  revision: number
  /** Its cursor is the one that is stored. */
  progress: WebhookProgress
  /** The progress as it is stored (JSON). */
  saved: string
  queue: EventQueue
  readTo: Cursor
  /** Undelivered events of the store after this place are not in the queue yet. */
  rowsAfter: LogPlace | undefined
  /** There may be more events in the log than there is room for. */
  isBehind: boolean
}

const BEGINNING: LogPlace = { position: 0, place: -1 }

/**
 * Delivers the events of the log that a webhook wants, each at least once, in order for each call, until `stop$`. One that
 * fails is retried with longer and longer delays, and holds up later events of its call only. How far it is is in the store.
 */
export function deliverEvents(options: DeliverEventsOptions): Observable<WebhookEvent> {
  const { webhook, post, store, clock, random, retention, isLeader, stop$ } = options
  const { name } = webhook
  const filter = wantedBy(webhook)
  return defer(() => {
    const [attempts$, low$] = [new Subject<QueuedEvent>(), new Subject<void>()]
    const aborting = new AbortController()
    let state: State | undefined
    let active = 0
    let isStopped = false
    let checkedAt = -Infinity
    let failures = 0
    let pausedUntil = 0
    /** Why the receiver is down, if it is. */
    let down = ''
    /** The one that is sent while the receiver is down. */
    let probe: QueuedEvent | undefined
    /** What happened and was not reported yet: work that fails later has happened as well. */
    const unreported: WebhookEvent[] = []
    const isDown = () => failures >= DOWN_AFTER
    const jittered = (delay: number) => delay * (0.5 + random() / 2)
    const oldest = () => clock.wall() - retention
    const counted = (outcome: WebhookOutcome, n: number, problem?: string): WebhookEvent[] =>
      n === 0 ? [] : [{ webhook: name, kind: 'events', outcome, n, ...(problem !== undefined && { problem }) }]

    /** Sends what may be sent now. */
    function pump(): void {
      const now = clock.monotonic()
      if (state === undefined || state.progress.paused !== undefined || isStopped || now < pausedUntil) return
      while (active < (isDown() ? 1 : CONCURRENT)) {
        const event = state.queue.take(now)
        if (event === undefined) return
        active += 1
        probe = isDown() ? event : undefined
        attempts$.next(event)
      }
    }

    async function attempt(event: QueuedEvent): Promise<WebhookEvent[]> {
      const { queue, progress } = state!
      try {
        const text = event.text ?? (await readOne(store, event).catch(unreadable))?.text
        if (text === undefined) {
          queue.done(event)
          return counted('expired', 1)
        }
        queue.setText(event, text)
        if (!isLeader()) throw new DeliveryError('another daemon delivers the events by now', { retryable: true })
        await post(`${event.id}-${event.place}`, text, aborting.signal)
        queue.done(event)
        failures = 0
        progress.deliveredAt = clock.wall()
        return counted('delivered', 1)
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error
        const outcome = retried(event, queue, error)
        return [
          ...counted(outcome, 1, error.message),
          ...(aborting.signal.aborted ? [] : failed(event, progress, error)),
        ]
      } finally {
        active -= 1
        pump()
        if (isStopped && active === 0) attempts$.complete()
        const hasRoom = queue.withText() < CAPACITY / 2 && queue.size() < MAX_WAITING / 2
        if (state?.isBehind === true && hasRoom) low$.next()
      }
    }

    /** What becomes of an event that was not accepted. */
    function retried(
      event: QueuedEvent,
      queue: EventQueue,
      { message, status, retryable, retryAfter = 0 }: DeliveryError,
    ): WebhookOutcome {
      const wall = clock.wall()
      const isRefused = !retryable && status !== TIMEOUT && status !== TOO_EARLY && status !== GONE
      event.attempts += 1
      event.problem = message
      event.refusedSince = isRefused ? (event.refusedSince ?? wall) : undefined
      if (event.refusedSince !== undefined && wall - event.refusedSince >= REFUSED_FOR) {
        queue.bury(event)
        return 'dead'
      }
      const delay = jittered(Math.min(MAX_DELAY, 2 ** Math.min(event.attempts - 1, 20)))
      const asked = BUSY.includes(status) ? 0 : Math.min(retryAfter, MAX_RETRY_AFTER)
      queue.postpone(event, clock.monotonic() + Math.max(delay, asked))
      return 'retried'
    }

    /** What a failure says of the receiver. */
    function failed(
      event: QueuedEvent,
      progress: WebhookProgress,
      { message, status, retryAfter = 0 }: DeliveryError,
    ): WebhookEvent[] {
      const now = clock.monotonic()
      if (status === GONE) {
        if (progress.paused !== undefined) return []
        progress.paused = message
        return [{ webhook: name, kind: 'paused', problem: message }]
      }
      if (BUSY.includes(status)) pausedUntil = Math.max(pausedUntil, now + Math.min(retryAfter, MAX_RETRY_AFTER))
      if (!DOWN.includes(status)) failures = 0
      // Those that were under way when it went down say nothing new.
      const counts = isDown() ? event === probe : event.attempts === 1
      if (!DOWN.includes(status) || !counts) return []
      failures += 1
      down = message
      if (!isDown()) return []
      const delay = Math.min(MAX_PROBE_DELAY, 2 ** Math.min(failures - DOWN_AFTER, 20))
      pausedUntil = Math.max(pausedUntil, now + jittered(delay))
      return []
    }

    /** Reads what there is room for, and saves how far the webhook is. */
    async function work(): Promise<WebhookEvent[]> {
      if (!isLeader()) return []
      const isDue = state === undefined || clock.monotonic() - checkedAt >= SAVED_EACH
      if (isDue) {
        checkedAt = clock.monotonic()
        const stored = (await store.webhooks()).find((known) => known.name === name)
        if (state === undefined || stored?.revision !== state.revision) {
          state = undefined
          // Those under way would be sent a second time beside themselves.
          if (active > 0) return []
          state = await opened(stored)
        }
        if ((stored?.dead ?? 0) > 0) await expireDead(state)
      }
      if (state === undefined) return []
      await fill(state)
      if (isDue) await save(state)
      state?.queue.wake(clock.monotonic())
      pump()
      return unreported.splice(0)
    }

    async function opened(stored: StoredWebhook | undefined): Promise<State> {
      const { removedAt: _before, ...progress } = stored?.progress ?? { cursor: writeCursor(await beginning()) }
      if (stored === undefined) await store.saveWebhook({ name, revision: 0, progress })
      // Somebody who resumes it, or replays events, does not wait for what it was asked before.
      failures = 0
      pausedUntil = 0
      return {
        revision: stored?.revision ?? 1,
        progress,
        saved: JSON.stringify(stored?.progress ?? progress),
        queue: eventQueue(),
        readTo: readCursor(progress.cursor) ?? START,
        rowsAfter: BEGINNING,
        isBehind: false,
      }
    }

    /** Where a new webhook begins. */
    async function beginning(): Promise<Cursor> {
      if (webhook.from === 'now') return (await readLatest(store, 0)).next
      const [first] = await store.events(1, 0)
      return first === undefined || first.position === 1 ? START : before(first)
    }

    /** Fills the queue: with undelivered events of the store, then from the log. */
    async function fill(filled: State): Promise<void> {
      const { queue, progress } = filled
      unreported.push(...counted('expired', queue.expire(oldest())))
      while (filled.rowsAfter !== undefined && queue.size() <= MAX_WAITING - ROWS) {
        filled.rowsAfter = await readRows(filled, filled.rowsAfter)
      }
      const room = () =>
        progress.paused === undefined ? Math.min(CAPACITY - queue.withText(), MAX_WAITING - queue.size()) : 0
      const continues = () => !isStopped && isLeader()
      for (let isOver = filled.rowsAfter !== undefined; !isOver && continues();) {
        // Where there is no room, only what has expired is passed over.
        const part = room() > 0 ? { limit: Math.min(PAGE, room()) } : { limit: PAGE, until: oldest() }
        const page = await readEvents(store, { cursor: filled.readTo, filter, ...part }).catch((error: unknown) => {
          if (!(error instanceof CursorExpired)) throw error
          unreported.push({ webhook: name, kind: 'gap' })
          return { events: [], next: readCursor(error.oldest) ?? START }
        })
        isOver = writeCursor(page.next) === writeCursor(filled.readTo)
        filled.readTo = page.next
        const kept = page.events.filter(({ foundAt }) => foundAt >= oldest())
        unreported.push(...counted('expired', page.events.length - kept.length))
        for (const event of kept) queue.add(queued(event))
        pump()
      }
      filled.isBehind = progress.paused === undefined && room() <= 0
    }

    /** Reads undelivered events of the store. */
    async function readRows({ queue }: State, after: LogPlace): Promise<LogPlace | undefined> {
      const rows = await store.undelivered(name, { dead: false, after, limit: ROWS })
      for (const row of rows) queue.add({ ...row, text: undefined, isListed: true, isChanged: false, due: 0 })
      return rows.length < ROWS ? undefined : rows.at(-1)
    }

    /** Removes dead letters that the retention has deleted. */
    async function expireDead(opened: State): Promise<void> {
      const dead = (limit: number) => store.undelivered(name, { dead: true, after: BEGINNING, limit })
      const isExpired = ({ at }: { at: number }) => at < oldest()
      if (!(await dead(1)).some(isExpired)) return
      const expired = (await dead(ROWS)).filter(isExpired)
      const isRemoved = await change(opened, { progress: opened.progress, remove: expired })
      if (isRemoved) unreported.push(...counted('expired', expired.length))
    }

    async function save(saved: State, { isLast = false } = {}): Promise<void> {
      const checkpoint = saved.queue.checkpoint(clock.monotonic(), isLast)
      const { first, put, remove, problem } = checkpoint
      noteProblem(saved.progress, problem ?? (isDown() ? down : undefined))
      const cursor = writeCursor(first === undefined ? saved.readTo : { ...first, place: first.place - 1 })
      const progress = { ...saved.progress, cursor }
      if (JSON.stringify(progress) === saved.saved && put.length === 0 && remove.length === 0) return
      if (!(await change(saved, { progress, put: put.map(({ row }) => row), remove }))) return
      saved.progress.cursor = cursor
      saved.queue.stored(checkpoint)
    }

    function noteProblem(progress: WebhookProgress, problem: string | undefined): void {
      const before = progress.problem
      if (problem === undefined) {
        delete progress.problem
        delete progress.failingSince
        if (before !== undefined) unreported.push({ webhook: name, kind: 'recovered' })
        return
      }
      progress.problem = problem
      progress.failingSince ??= clock.wall()
      if (before === undefined) unreported.push({ webhook: name, kind: 'failing', problem })
    }

    /** Changes what is stored, unless somebody else has done so: then it is read anew. */
    async function change(changed: State, what: Omit<WebhookChange, 'name' | 'revision'>): Promise<boolean> {
      const isSaved = await store.saveWebhook({ name, revision: changed.revision, ...what })
      if (isSaved) {
        changed.revision += 1
        changed.saved = JSON.stringify(what.progress)
      } else if (state === changed) state = undefined
      return isSaved
    }

    const drained$ = stop$.pipe(
      take(1),
      tap(() => {
        isStopped = true
        if (active === 0) attempts$.complete()
      }),
      switchMap(() => timer(DRAIN * 1000, clock.scheduler)),
      tap(() => aborting.abort()),
      ignoreElements(),
      takeUntil(attempts$.pipe(ignoreElements(), endWith(undefined))),
    )
    const worked$ = merge(timer(0, SAVED_EACH * 1000, clock.scheduler), low$).pipe(
      takeUntil(stop$),
      exhaustMap(() => work().catch(onlyStoreErrors<WebhookEvent[]>([]))),
    )
    const last$ = defer(async () => {
      if (state !== undefined && isLeader()) await save(state, { isLast: true }).catch(onlyStoreErrors(undefined))
      return unreported
    })
    return concat(merge(attempts$.pipe(mergeMap(attempt)), worked$, drained$), last$).pipe(
      concatMap((events) => events),
    )
  })
}

/** The store cannot be read now. */
function unreadable(error: unknown): never {
  if (error instanceof StoreError) throw new DeliveryError(error.message, { retryable: true })
  throw error
}

function queued({ at: { position, place, id }, foundAt, series, text }: ReadEvent): QueuedEvent {
  return { position, place, id, at: foundAt, dead: false, attempts: 0, series, text, isListed: false, isChanged: false, due: 0 } // oxfmt-ignore
}
