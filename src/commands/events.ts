import type * as z from 'zod'
import { setImmediate } from 'node:timers/promises'
import { definitionOf } from '../alerts/definition-of.ts'
import { formatIn } from '../alerts/signal.ts'
import { idsOf, type CallChange } from '../views/call.ts'
import type { AlertChange } from '../views/alert.ts'
import { EVENT_TYPES, type EventType, type printedEvent } from '../views/event.ts'
import {
  type ReadEvent,
  CursorExpired,
  cursorSince,
  readEvents,
  readLatest,
  type EventFilter,
  type EventsPage,
  shownLog,
} from '../events/read-events.ts'
import { titleOf } from '../alerts/text/alert-text.ts'
import { columnsOf, shortened } from '../text/columns.ts'
import { clockOf, formatNumber, formatSeconds, formatTime } from '../text/format.ts'
import { inOneLine } from '../text/plain-text.ts'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { before, readCursor, writeCursor, type Cursor } from '../events/cursor.ts'
import { openReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/reader.ts'
import { givenTime } from '../history/queries/parameters.ts'
import { SHORTEST, subcommand, Option, WIDE, widthOf, type CommandContext, type Declare } from './command.ts'
import { UsageError } from './explain-error.ts'
import { names, whole } from './options/option-values.ts'
import { declareWebhooks } from './webhooks.ts'
import { untilStopped } from './until-stopped.ts'

function eventJson({ event, cursor }: ReadEvent): string {
  return JSON.stringify({ ...event, callwatchcursor: cursor } satisfies z.output<typeof printedEvent>)
}

/**
 * `2026-11-20 08:15:30 UTC  production  ended         v1.us.…  audio call, 5m 30s, inferred`. Where it has no room for that, it is without
 * the date of today, with a short id, and without the last details.
 */
export function eventLine({ event: { type, time, data } }: Pick<ReadEvent, 'event'>, width = Infinity): string {
  const isAlert = 'alert' in data
  const [what, details] = isAlert
    ? [titleOf(data), alertDetails(data, width < Infinity)]
    : [idsOf(data), callDetails(data)]
  const at = Date.parse(time) / 1000
  const kind = type.slice(type.lastIndexOf('.') + 1).padEnd(LONGEST)
  const clock = width < Infinity ? clockOf(at, systemClock.wall()) : formatTime(at)
  // The service and the configuration may have line breaks.
  const [start, name] = [[clock, data.target, kind, ''].join('  '), what].map(inOneLine)
  const roomOf = (shown: string) => width - columnsOf(start!) - columnsOf(shown) - 2
  const shown = details.map((_, i) => inOneLine(details.slice(0, details.length - i).join(', ')))
  const fits = shown.find((each) => roomOf(each) >= (isAlert ? columnsOf(name!) : SHORTEST)) ?? shown.at(-1)!
  return `${start}${shortened(name!, Math.max(SHORTEST, roomOf(fits)))}  ${fits}`
}

const LONGEST = 'reappeared'.length

function callDetails({ type, mode, duration_seconds: duration, inferred, backfilled, ...data }: CallChange): string[] {
  return [
    ...changes(data),
    `${type} ${mode}`,
    ...(duration === undefined ? [] : [formatSeconds(duration)]),
    ...(inferred === true ? ['inferred'] : []),
    ...(backfilled ? ['backfilled'] : []),
  ]
}

/** What a correction changed: `ended → rejected`, `audio minutes 3 → 2`. */
function changes({ before, after, minutes }: Pick<CallChange, 'before' | 'after' | 'minutes'>): string[] {
  if (before === undefined || after === undefined) return []
  return [
    ...(before.status === after.status ? [] : [`${before.status} → ${after.status}`]),
    ...(['audio', 'video'] as const).flatMap((media) => {
      const [was, is] = [formatNumber(before.minutes[media], 4), formatNumber(minutes[media], 4)]
      return was === is ? [] : [`${media} minutes ${was} → ${is}`]
    }),
  ]
}

/** @param isShort without the signal, which the name of the alert tells */
function alertDetails(alert: AlertChange, isShort: boolean): string[] {
  const { severity, expired_because: reason, signal, value, threshold } = alert
  const { unit } = definitionOf({ name: signal })
  const measured = `${isShort ? '' : `${signal} `}${formatIn(unit, value)}`
  return [...(reason === undefined ? [] : [reason]), severity, measured, `threshold ${formatIn(unit, threshold)}`]
}

const NEWEST = 50
const PAGE = 500
const PAUSE_SECONDS = 1
/**
 * While looking for the newest matching events, each part of the log that is searched is this many times longer than the last
 * one.
 */
const FURTHER = 8

/** Prints events of the log, oldest first: events after a cursor or since a time, otherwise the newest ones. */
export const declare: Declare = (command, context) => {
  const { configured, print, printWhole, warn } = context
  command
    .option('--follow', 'continue with new events until SIGINT or SIGTERM', false)
    .option('--after <cursor>', 'start after the event with this `callwatchcursor`')
    .addOption(
      new Option('--since <time>', 'start with events found at this date or time, or this long ago').conflicts('after'),
    )
    .option('--type <names>', 'print only events of these types, such as call.ended; repeatable', names)
    .option('--target <names>', 'print only events of these targets; repeatable', names)
    .option(
      '--limit <n>',
      'print the newest n events (default: 50); with --after or --since the first n (default: all)',
      whole,
    )
    .option(...WIDE)
    .option('--json', 'print each event as a line of JSON: a CloudEvent with its `callwatchcursor`', false)
    .action(async (options) => {
      const config = await configured(options)
      const filter = { types: options.type?.map(typeOf), targets: options.target }
      const line = options.json ? eventJson : (event: ReadEvent) => eventLine(event, widthOf(context, options))
      await printEvents(config, { ...options, filter }, { print: options.wide ? printWhole : print, warn, line })
    })
  declareWebhooks(subcommand(command, 'webhooks', 'List the webhooks of events, and change what they get'), context)
}

type EventsOptions = {
  /** Continues with new events until a signal, instead of ending with the last event. */
  follow: boolean
  /** A cursor. */
  after?: string | undefined
  since?: string | undefined
  filter: EventFilter
  limit?: number | undefined
  json: boolean
}

/**
 * @throws {UsageError} for an invalid cursor, or a cursor whose next events no longer exist
 * @throws {StoreError} if there is no store, or it cannot be read
 */
export async function printEvents(
  config: Config,
  { follow, after, since, filter, limit, json }: EventsOptions,
  output: Pick<CommandContext, 'print' | 'warn'> & { line: (event: ReadEvent) => string },
): Promise<void> {
  let cursor = after === undefined ? undefined : cursorOf(after)
  const isNewest = after === undefined && since === undefined
  let isEmpty = true
  let left = limit ?? (isNewest ? NEWEST : Infinity)
  const show = (page: EventsPage) => {
    const shown = page.events.slice(0, left)
    for (const event of shown) output.print(output.line(event))
    cursor = page.next
    left -= shown.length
    isEmpty &&= shown.length === 0
    if (left > 0 || isEmpty || json) return
    output.warn(`these are the ${isNewest ? 'newest' : 'first'} ${limit ?? NEWEST}: --limit says how many are printed`)
  }
  const now = systemClock.wall()
  const from = since === undefined ? now : givenTime('--since', since, 'UTC', now)
  // Opened for each look: a restored backup may have replaced it meanwhile.
  const readOn = async () => {
    await using opened = await openReader(config.store)
    const reader = { ...opened, ...shownLog(opened, () => config.events.participants) }
    if (cursor === undefined && isNewest) {
      show(await newest(reader, left, filter))
      left = follow ? Infinity : 0
    }
    cursor ??= await cursorSince(reader, from)
    if (left === 0) return
    for await (const page of pagesAfter(reader, cursor, filter)) {
      show(page)
      if (left === 0) return
    }
  }
  try {
    if (follow) await untilStopped(readOn, PAUSE_SECONDS, output, () => left > 0)
    else await readOn()
    if (isEmpty && !follow && !json) output.print('no events')
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error
    throw new UsageError(`${error.message}; \`--after ${error.oldest}\` reads all that are left`)
  }
}

/** All matching events after a cursor, to the end of the log. */
async function* pagesAfter(reader: StoreReader, cursor: Cursor, filter: EventFilter): AsyncGenerator<EventsPage> {
  for (let last = cursor; ;) {
    const page = await readEvents(reader, { cursor: last, limit: PAGE, filter })
    yield page
    if (writeCursor(page.next) === writeCursor(last)) return
    last = page.next
    // Reading a file never waits, so without this the process would not notice signals and a closed pipe.
    await setImmediate()
  }
}

/** The newest matching events, oldest first, and the cursor after the newest event of the log. */
async function newest(reader: StoreReader, limit: number, filter: EventFilter): Promise<EventsPage> {
  const { next } = await readLatest(reader, 0)
  const [oldest] = await reader.events(1, 0)
  if (oldest === undefined || limit === 0) return { events: [], next }
  for (let length = limit; ; length *= FURTHER) {
    const begin = next.position + 1 - length
    const [first] = await reader.events(begin, 0)
    const found: EventsPage = { events: [], next }
    for await (const page of pagesAfter(reader, before(first ?? oldest), filter)) {
      found.events = [...found.events, ...page.events].slice(-limit)
      found.next = page.next
    }
    if (found.events.length === limit || begin <= oldest.position) return found
  }
}

function typeOf(text: string): EventType {
  const name = text.replace(/^callwatch\./, '')
  const type = EVENT_TYPES.find((known) => known === name)
  if (type === undefined) throw new UsageError(`there is no type ${text}; there is: ${EVENT_TYPES.join(', ')}`)
  return type
}

function cursorOf(text: string): Cursor {
  const cursor = readCursor(text)
  if (cursor !== undefined) return cursor
  throw new UsageError(`${text} is no cursor; expected the callwatchcursor of an event that \`--json\` has printed`)
}
