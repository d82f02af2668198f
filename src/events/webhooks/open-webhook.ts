import { RULE_LABELS } from '../../alerts/groups.ts'
import type { EventBody } from '../../views/event.ts'
import {
  type EventFilter,
  CursorExpired,
  readEvents,
  readLatest,
  type EventsPage,
  type ReadEvent,
  type ReadEventsOptions,
} from '../read-events.ts'
import type { Clock } from '../../clock/clock.ts'
import type {
  Store,
  LogPlace,
  StoredWebhook,
  UndeliveredEvent,
  WebhookStore,
  WebhookChange,
  WebhookProgress,
} from '../../store/store.ts'
import { before, readCursor, START, writeCursor } from '../cursor.ts'
import type { WebhookConfig } from './webhook-section.ts'
import { eventQueue, type QueuedEvent } from './event-queue.ts'
import { counted, type WebhookEvent } from './webhook-event.ts'

/** The filter of the events that a webhook wants. */
function wantedBy({ types, targets, match, backfilled }: WebhookConfig): EventFilter {
  const labels = RULE_LABELS.filter((label) => match[label] !== undefined)
  return {
    types,
    targets,
    where: ({ data }) =>
      (backfilled || !('backfilled' in data && data.backfilled)) &&
      labels.every((label) => labelsOf(data)[label] === match[label]),
  }
}

function labelsOf(data: EventBody['data']): Readonly<Record<string, unknown>> {
  return 'labels' in data ? data.labels : data
}

export type OpenOptions = {
  webhook: WebhookConfig
  store: Pick<Store, 'events' | 'latestEvents' | keyof WebhookStore>
  clock: Clock
  /** Events found before this time are expired (UNIX seconds). */
  expiredBefore: () => number
  report: (...events: WebhookEvent[]) => void
}

export type OpenWebhook = Awaited<ReturnType<typeof openWebhook>>

/** The most events in memory with their text. More are read once fewer than half are left. */
const CAPACITY = 1000
/** The most undelivered events of which only the place is in memory: failed events, and events that wait behind them. */
const MAX_WAITING = 50_000
/** How many events, and rows of undelivered events, are read at a time. */
const PAGE = 500
const ROWS = 5000

/**
 * A webhook as it was loaded from the store, and the events read for it since. Its methods reject while the store cannot be
 * used.
 *
 * @param stored undefined for a new webhook
 */
export async function openWebhook(options: OpenOptions, stored: StoredWebhook | undefined) {
  const { webhook, store, clock, expiredBefore, report } = options
  const { name } = webhook
  const filter = wantedBy(webhook)
  const { removedAt: _before, ...progress } = stored?.progress ?? (await newProgress(options))
  if (stored === undefined) await store.saveWebhook({ name, revision: 0, progress })
  const queue = eventQueue()
  const row = webhookRow(options, stored ?? { revision: 1, progress })
  let readTo = readCursor(progress.cursor) ?? START
  /** The store's undelivered events after this place are not in the queue yet. */
  let rowsAfter: LogPlace | undefined = START
  let isBehind = false
  const room = () =>
    progress.paused === undefined ? Math.min(CAPACITY - queue.withText(), MAX_WAITING - queue.size()) : 0

  async function readRows(after: LogPlace): Promise<UndeliveredEvent | undefined> {
    const rows = await store.undelivered(name, { dead: false, after, limit: ROWS })
    for (const row of rows) queue.add({ ...row, text: undefined, isListed: true, isChanged: false })
    return rows.length < ROWS ? undefined : rows.at(-1)
  }

  /** Reads a part of the log. Resolves to whether the end of the log was reached. */
  async function readOn(): Promise<boolean> {
    // If the queue is full, only expired events are read, to skip them.
    const part = room() > 0 ? { limit: Math.min(PAGE, room()) } : { limit: PAGE, until: expiredBefore() }
    const { events, next } = await readOrSkip({ cursor: readTo, filter, ...part }, options)
    const isAll = writeCursor(next) === writeCursor(readTo)
    readTo = next
    const kept = events.filter(({ foundAt }) => foundAt >= expiredBefore())
    report(...counted(name, 'expired', events.length - kept.length))
    for (const event of kept) queue.add(queued(event))
    return isAll
  }

  return {
    queue,
    /** Its cursor is the one saved last. */
    progress,
    isCurrent: row.isCurrent,
    /** Whether the queue has room again, after it was full. */
    hasRoomAgain: () => isBehind && queue.withText() < CAPACITY / 2 && queue.size() < MAX_WAITING / 2,
    /**
     * Fills the queue, first with undelivered events of the store, then from the log.
     *
     * @param added called when the queue has new events
     */
    fill: async (continues: () => boolean, added: () => void) => {
      report(...counted(name, 'expired', queue.expire(expiredBefore())))
      while (rowsAfter !== undefined && queue.size() <= MAX_WAITING - ROWS) rowsAfter = await readRows(rowsAfter)
      for (let isAll = rowsAfter !== undefined; !isAll && continues();) {
        isAll = await readOn()
        added()
      }
      isBehind = progress.paused === undefined && room() <= 0
    },
    /** Removes dead letters that have expired. */
    expireDead: async () => {
      const remove = await expiredDeadLetters(options)
      if (remove.length > 0 && (await row.change({ progress, remove })))
        report(...counted(name, 'expired', remove.length))
    },
    /**
     * Saves the webhook's position.
     *
     * @param isLast saves every undelivered event, so that none is sent twice
     * @param problem why the receiver is down
     */
    save: async ({ isLast = false, problem }: { isLast?: boolean; problem: string | undefined }) => {
      const checkpoint = queue.checkpoint(clock.monotonic(), isLast)
      const { first, put, remove } = checkpoint
      noteProblem(progress, checkpoint.problem ?? problem, options)
      const cursor = writeCursor(first === undefined ? readTo : { ...first, place: first.place - 1 })
      const next = { ...progress, cursor }
      if (row.has(next) && put.length === 0 && remove.length === 0) return
      if (!(await row.change({ progress: next, put: put.map(({ row }) => row), remove }))) return
      progress.cursor = cursor
      queue.stored(checkpoint)
    },
  }
}

/** Reads a part of the log. If the events after the cursor were deleted, it skips them and reports the gap. */
async function readOrSkip(part: ReadEventsOptions, { store, webhook, report }: OpenOptions): Promise<EventsPage> {
  return readEvents(store, part).catch((error: unknown) => {
    if (!(error instanceof CursorExpired)) throw error
    report({ webhook: webhook.name, kind: 'gap' })
    return { events: [], next: readCursor(error.oldest) ?? START }
  })
}

async function expiredDeadLetters({ webhook, store, expiredBefore }: OpenOptions): Promise<UndeliveredEvent[]> {
  const dead = (limit: number) => store.undelivered(webhook.name, { dead: true, after: START, limit })
  const isExpired = ({ at }: UndeliveredEvent) => at < expiredBefore()
  return (await dead(1)).some(isExpired) ? (await dead(ROWS)).filter(isExpired) : []
}

/** The webhook's row in the store, as this process has read or written it. */
function webhookRow({ webhook: { name }, store }: OpenOptions, known: Pick<StoredWebhook, 'revision' | 'progress'>) {
  let { revision } = known
  let saved = JSON.stringify(known.progress)
  let isLost = false
  return {
    /** Whether the webhook is unchanged in the store. */
    isCurrent: (stored: StoredWebhook | undefined) => !isLost && stored?.revision === revision,
    has: (progress: WebhookProgress) => JSON.stringify(progress) === saved,
    /** Saves a change, unless another process changed the webhook meanwhile. */
    change: async (what: Omit<WebhookChange, 'name' | 'revision'>): Promise<boolean> => {
      isLost = !(await store.saveWebhook({ name, revision, ...what }))
      if (isLost) return false
      revision += 1
      saved = JSON.stringify(what.progress)
      return true
    },
  }
}

function noteProblem(progress: WebhookProgress, problem: string | undefined, options: OpenOptions): void {
  const { webhook, clock, report } = options
  const isKnown = progress.problem !== undefined
  if (problem === undefined) {
    delete progress.problem
    delete progress.failingSince
    if (isKnown) report({ webhook: webhook.name, kind: 'recovered' })
    return
  }
  progress.problem = problem
  progress.failingSince ??= clock.wall()
  if (!isKnown) report({ webhook: webhook.name, kind: 'failing', problem })
}

/** Where a new webhook begins. */
async function newProgress({ webhook, store }: OpenOptions): Promise<WebhookProgress> {
  if (webhook.from === 'now') return { cursor: writeCursor((await readLatest(store, 0)).next) }
  const [first] = await store.events(1, 0)
  return { cursor: writeCursor(first === undefined || first.position === 1 ? START : before(first)) }
}

function queued({ at: { position, place, id }, foundAt, series, event }: ReadEvent): QueuedEvent {
  const text = JSON.stringify(event)
  return { position, place, id, at: foundAt, dead: false, attempts: 0, series, text, isListed: false, isChanged: false } // oxfmt-ignore
}
