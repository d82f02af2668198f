import type { Clock } from '../../clock/clock.ts'
import type { Store } from '../../store/store.ts'
import type {
  LogPlace,
  StoredWebhook,
  UndeliveredEvent,
  WebhookProgress,
  WebhookStore,
} from '../../store/webhook-store.ts'
import { readCursor, START, writeCursor } from '../cursor.ts'
import { CursorExpired, cursorSince, readEvents, type EventsPage, type ReadEventsOptions } from '../read-events.ts'
import { waitingEvents, type WaitingEvents } from './waiting-events.ts'
import { wantedBy } from './wanted-events.ts'
import { counted, type WebhookEvent } from './webhook-event.ts'
import type { WebhookConfig } from './webhook-section.ts'

export type OpenOptions = {
  webhook: WebhookConfig
  store: Pick<Store, 'events' | 'latestEvents' | keyof WebhookStore>
  clock: Clock
  /** Events found before this time are expired (UNIX seconds). */
  expiredBefore: () => number
  report: (...events: WebhookEvent[]) => void
}

export type OpenWebhook = Awaited<ReturnType<typeof openWebhook>>

/** The most events in memory with their text. More are read each second, and once fewer than half are left. */
const CAPACITY = 1000
/** The most events in memory: failed events, and events that wait behind them, are there without their text. */
const MAX_WAITING = 50_000
/** How many events, rows of undelivered events, and dead letters that may have expired, are read at a time. */
const PAGE = 500
const ROWS = 5000
const DEAD_LETTERS = 100
/** An event that failed this often counts as failing. */
const FAILING_AFTER_ATTEMPTS = 3

/**
 * A webhook as it is in the store, and the events that were read for it since. Its methods reject while the store cannot be used.
 */
export async function openWebhook(options: OpenOptions) {
  const { webhook, store } = options
  const stored = await storedWebhook(options)
  const { removedAt: _before, ...progress } = stored?.progress ?? {
    cursor: writeCursor(await cursorSince(store, webhook.from === 'now' ? Infinity : -Infinity)),
  }
  const waiting = waitingEvents()
  const save = savingOf(stored, { waiting, progress }, options)
  if (stored === undefined) await save(undefined)
  return { waiting, progress, save, ...readingFor(waiting, progress, options) }
}

/** Reads the events of a webhook into memory, and moves its cursor: all events before it were delivered, are not wanted, or wait. */
function readingFor(waiting: WaitingEvents, progress: WebhookProgress, options: OpenOptions) {
  const { webhook, store, expiredBefore, report } = options
  const filter = wantedBy(webhook)
  /** The store's rows after this place are not in memory yet. */
  let rowsAfter: LogPlace | undefined = START
  /** Whether the log has more than fits into memory. */
  let isBehind = false
  const room = () =>
    progress.paused === undefined ? Math.min(CAPACITY - waiting.texts.size, MAX_WAITING - waiting.all().length) : 0

  async function readRows(after: LogPlace): Promise<UndeliveredEvent | undefined> {
    const rows = await store.undelivered(webhook.name, { dead: false, after, limit: ROWS })
    waiting.addRows(rows)
    return rows.length < ROWS ? undefined : rows.at(-1)
  }

  /** Reads a part of the log. Resolves to whether the end of the log was reached. */
  async function readOn(): Promise<boolean> {
    isBehind = room() <= 0
    // If the memory is full, only expired events are read, to skip them.
    const part = isBehind ? { limit: PAGE, until: expiredBefore() } : { limit: Math.min(PAGE, room()) }
    const { cursor } = progress
    const { events, next } = await readOrSkip({ cursor: readCursor(cursor) ?? START, filter, ...part }, options)
    progress.cursor = writeCursor(next)
    const kept = events.filter(({ foundAt }) => foundAt >= expiredBefore())
    report(...counted(webhook.name, 'expired', events.length - kept.length))
    for (const { at: place, foundAt: at, series, event } of kept)
      waiting.add({ ...place, at, series, dead: false, attempts: 0 }, JSON.stringify(event))
    return progress.cursor === cursor
  }

  return {
    /** Whether the memory was full, and more than half of it is free now. */
    hasRoomAgain: () => isBehind && waiting.texts.size < CAPACITY / 2 && room() > CAPACITY / 2,
    /**
     * Reads as many events as there is room for: first the rows, then the log.
     *
     * @param added called when there are new events
     */
    fill: async (continues: () => boolean, added: () => void): Promise<void> => {
      report(...counted(webhook.name, 'expired', waiting.expire(expiredBefore())))
      while (rowsAfter !== undefined && waiting.all().length <= MAX_WAITING - ROWS)
        rowsAfter = await readRows(rowsAfter)
      for (let isAll = rowsAfter !== undefined; !isAll && continues();) {
        isAll = await readOn()
        added()
      }
    },
  }
}

/**
 * Saves how far a webhook is: its cursor, and a row for each event before it that waits now. Resolves to false if another process has
 * changed the webhook meanwhile.
 *
 * @param stored undefined for a new webhook
 */
function savingOf(
  stored: StoredWebhook | undefined,
  { waiting, progress }: { waiting: WaitingEvents; progress: WebhookProgress },
  options: OpenOptions,
) {
  const { webhook, store, expiredBefore, report } = options
  let revision = stored?.revision ?? 0
  let saved = JSON.stringify(stored?.progress)
  /** @param receiverProblem why the receiver is down */
  return async (receiverProblem: string | undefined): Promise<boolean> => {
    const known = await storedWebhook(options)
    if ((known?.revision ?? 0) !== revision) return false
    const page = { dead: true, after: START, limit: DEAD_LETTERS }
    const letters = known?.dead ? await store.undelivered(webhook.name, page) : []
    const expired = letters.filter(({ at }) => at < expiredBefore())
    const failing = waiting.all().find(({ attempts }) => attempts >= FAILING_AFTER_ATTEMPTS)
    noteProblem(progress, failing?.problem ?? receiverProblem, options)
    const data = JSON.stringify(progress)
    const { put, remove, stored: noteStored } = waiting.changes()
    remove.push(...expired)
    if (data === saved && put.length === 0 && remove.length === 0) return true
    if (!(await store.saveWebhook({ name: webhook.name, revision, progress, put, remove }))) return false
    revision += 1
    saved = data
    noteStored()
    report(...counted(webhook.name, 'expired', expired.length))
    return true
  }
}

async function storedWebhook({ webhook, store }: OpenOptions): Promise<StoredWebhook | undefined> {
  return (await store.webhooks()).find(({ name }) => name === webhook.name)
}

/** Reads a part of the log. If the events after the cursor were deleted, it skips them and reports the gap. */
async function readOrSkip(part: ReadEventsOptions, { store, webhook, report }: OpenOptions): Promise<EventsPage> {
  return readEvents(store, part).catch((error: unknown) => {
    if (!(error instanceof CursorExpired)) throw error
    report({ webhook: webhook.name, kind: 'gap' })
    return { events: [], next: readCursor(error.oldest) ?? START }
  })
}

/** Notes and reports whether an event keeps failing, or the receiver is down. */
function noteProblem(progress: WebhookProgress, problem: string | undefined, options: OpenOptions): void {
  const { webhook, clock, report } = options
  const wasFailing = progress.problem !== undefined
  progress.problem = problem
  progress.failingSince = problem === undefined ? undefined : (progress.failingSince ?? clock.wall())
  if (problem === undefined && wasFailing) report({ webhook: webhook.name, kind: 'recovered' })
  if (problem !== undefined && !wasFailing) report({ webhook: webhook.name, kind: 'failing', problem })
}
