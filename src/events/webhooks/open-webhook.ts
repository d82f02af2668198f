import type { Clock } from '../../clock/clock.ts'
import type { Store } from '../../store/store.ts'
import type { StoredWebhook, UndeliveredEvent, WebhookProgress, WebhookStore } from '../../store/webhook-store.ts'
import { readCursor, START, writeCursor } from '../cursor.ts'
import { CursorExpired, cursorSince, readEvents, type EventsPage, type ReadEventsOptions } from '../read-events.ts'
import { waitingEvents, type WaitingEvents } from './waiting-events.ts'
import { wantedBy } from './wanted-events.ts'
import type { WebhookChange } from './webhook-event.ts'
import type { WebhookConfig } from './webhook-section.ts'

export type OpenOptions = {
  webhook: WebhookConfig
  store: Pick<Store, 'events' | 'latestEvents' | keyof WebhookStore>
  clock: Clock
  /** Events found before this time are expired (UNIX seconds). */
  expiredBefore: () => number
  /** A change of 0 events is none. */
  report: (change: WebhookChange) => void
}

export type OpenWebhook = Awaited<ReturnType<typeof openWebhook>>

/** The most events in memory with their text, and so the most that are sent in a second. */
const CAPACITY = 5000
/** The most events in memory: failed events, and events that wait behind them, are there without their text. */
const MAX_WAITING = 50_000
/** How many rows of undelivered events, and dead letters that may have expired, are read at a time. */
const ROWS = 5000
const DEAD_LETTERS = 100
/** An event that failed this often counts as failing. */
const FAILING_AFTER_ATTEMPTS = 3

/**
 * A webhook as it is in the store, and the events that were read for it since. Its methods reject while the store cannot be used.
 *
 * @throws {StoreError}
 */
export async function openWebhook(options: OpenOptions) {
  const { webhook, store, expiredBefore, report } = options
  const stored = await storedWebhook(options)
  const { removedAt: _before, ...progress } = stored?.progress ?? {
    cursor: writeCursor(await cursorSince(store, webhook.from === 'now' ? Infinity : -Infinity)),
  }
  const rows = await waitingRows(options)
  const waiting = waitingEvents()
  for (const row of rows) waiting.add(row)
  const filter = wantedBy(webhook)

  /** Reads the next part of the log, as much as there is room for, and moves the cursor behind it. */
  async function read(): Promise<void> {
    const before = expiredBefore()
    report({ kind: 'events', outcome: 'expired', n: waiting.expire(before) })
    const room = progress.paused === undefined ? roomIn(waiting) : 0
    // Where there is no room, what has expired is skipped all the same.
    const part = room > 0 ? { limit: room } : { limit: CAPACITY, until: before }
    const { events, next } = await readOrSkip(
      { cursor: readCursor(progress.cursor) ?? START, filter, ...part },
      options,
    )
    progress.cursor = writeCursor(next)
    const kept = events.filter(({ foundAt }) => foundAt >= before)
    report({ kind: 'events', outcome: 'expired', n: events.length - kept.length })
    for (const { at: place, foundAt: at, series, event } of kept)
      waiting.add({ ...place, at, series, dead: false, attempts: 0 }, JSON.stringify(event))
  }

  return { waiting, progress, read, ...savingOf(stored, rows, { waiting, progress }, options) }
}

/** Page by page, because each blocks polls for as long as it is parsed. */
async function waitingRows({ webhook, store }: OpenOptions): Promise<UndeliveredEvent[]> {
  const rows: UndeliveredEvent[] = []
  for (let isAll = false; !isAll;) {
    const page = await store.undelivered(webhook.name, { dead: false, after: rows.at(-1) ?? START, limit: ROWS })
    rows.push(...page)
    isAll = page.length < ROWS
  }
  return rows
}

function roomIn(waiting: WaitingEvents): number {
  const all = waiting.all()
  return Math.min(CAPACITY - all.filter(({ text }) => text !== undefined).length, MAX_WAITING - all.length)
}

/**
 * Saves how far a webhook is: its cursor, a row for each event before it that waits now, and the dead letters. All events before the cursor
 * were delivered, are not wanted, or have a row.
 *
 * @param stored undefined for a new webhook
 * @param rows its events that wait
 */
function savingOf(
  stored: StoredWebhook | undefined,
  rows: readonly UndeliveredEvent[],
  { waiting, progress }: { waiting: WaitingEvents; progress: WebhookProgress },
  options: OpenOptions,
) {
  const { webhook, store, report } = options
  let revision = stored?.revision ?? 0
  let saved = JSON.stringify(stored?.progress)
  let listed = new Set(rows)
  /** Those that the store does not have yet. */
  const letters: UndeliveredEvent[] = []

  return {
    /** Makes an event a dead letter. */
    bury: (letter: UndeliveredEvent): void => void letters.push(letter),
    /** Resolves to false if another process has changed the webhook meanwhile. */
    save: async (): Promise<boolean> => {
      const known = await storedWebhook(options)
      if ((known?.revision ?? 0) !== revision) return false
      const expired = await expiredLetters(known, options)
      noteProblem(progress, waiting, options)
      const data = JSON.stringify(progress)
      const now = new Set(waiting.all().map(({ row }) => row))
      const died = [...letters]
      const put = [...now.difference(listed), ...died]
      const remove = [...listed.difference(now), ...expired]
      if (data === saved && put.length === 0 && remove.length === 0) return true
      if (!(await store.saveWebhook({ name: webhook.name, revision, progress, put, remove }))) return false
      revision += 1
      saved = data
      listed = now
      letters.splice(0, died.length)
      report({ kind: 'events', outcome: 'expired', n: expired.length })
      return true
    },
  }
}

async function storedWebhook({ webhook, store }: OpenOptions): Promise<StoredWebhook | undefined> {
  return (await store.webhooks()).find(({ name }) => name === webhook.name)
}

async function expiredLetters(known: StoredWebhook | undefined, { webhook, store, expiredBefore }: OpenOptions) {
  const page = { dead: true, after: START, limit: DEAD_LETTERS }
  const letters = known?.dead ? await store.undelivered(webhook.name, page) : []
  return letters.filter(({ at }) => at < expiredBefore())
}

/** Reads a part of the log. If the events after the cursor were deleted, it skips them and reports the gap. */
async function readOrSkip(part: ReadEventsOptions, { store, report }: OpenOptions): Promise<EventsPage> {
  return readEvents(store, part).catch((error: unknown) => {
    if (!(error instanceof CursorExpired)) throw error
    report({ kind: 'gap' })
    return { events: [], next: readCursor(error.oldest) ?? START }
  })
}

/** Notes and reports whether an event keeps failing. */
function noteProblem(progress: WebhookProgress, waiting: WaitingEvents, { clock, report }: OpenOptions): void {
  const wasFailing = progress.problem !== undefined
  const { problem } = waiting.all().find(({ row }) => row.attempts >= FAILING_AFTER_ATTEMPTS)?.row ?? {}
  progress.problem = problem
  progress.failingSince = problem === undefined ? undefined : (progress.failingSince ?? clock.wall())
  if (problem === undefined && wasFailing) report({ kind: 'recovered' })
  if (problem !== undefined && !wasFailing) report({ kind: 'failing', problem })
}
