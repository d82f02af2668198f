import type { AlertMatch } from '../alerts/match.ts'
import type { Silence } from '../alerts/silence.ts'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { formatSeconds, formatTime } from '../notify/text/notification-text.ts'
import { openSilences, type SilenceBook } from '../store/open-silences.ts'
import { UsageError } from './usage-error.ts'

export type SilenceOptions = {
  match: AlertMatch
  /** Seconds. */
  for: number
  reason: string
}

/** Silences the alerts that a match picks, for a while. */
export function addSilence(config: Config, options: SilenceOptions, print: (line: string) => void): void {
  const { match } = options
  expectKnown('rule', match.alert, config.alerts)
  expectKnown('target', match.target, config.targets)
  const since = systemClock.wall()
  const silence = { match, since, until: since + options.for, reason: options.reason }
  print(
    `silenced: ${lineOf(
      withBook(config, (book) => book.add(silence)),
      since,
    )}`,
  )
}

/** Prints the silences that hold. */
export function listSilences(config: Config, print: (line: string) => void): void {
  const now = systemClock.wall()
  const silences = withBook(config, (book) => book.list(now))
  if (silences.length === 0) print('nothing is silenced')
  for (const silence of silences) print(lineOf(silence, now))
}

/**
 * Ends a silence before its time.
 *
 * @throws {UsageError} where there is none of that number
 */
export function endSilence(config: Config, id: number, print: (line: string) => void): void {
  if (!withBook(config, (book) => book.end(id))) {
    throw new UsageError(`there is no silence ${id}; \`callwatch silence list\` shows those that hold`)
  }
  print(`silence ${id} has ended`)
}

function withBook<T>({ store }: Config, work: (book: SilenceBook) => T): T {
  const book = openSilences(store.path)
  try {
    return work(book)
  } finally {
    book.close()
  }
}

function expectKnown(what: string, name: string | undefined, known: readonly { name: string }[]): void {
  if (name === undefined || known.some((one) => one.name === name)) return
  const names = known.map((one) => one.name).join(', ')
  throw new UsageError(`there is no ${what} ${name}; there is: ${names || 'none'}`)
}

/** `3: alert=NoCalls, target=production, until 2026-11-20 12:00:00 UTC (1h 30m): maintenance`. */
function lineOf({ id, match, until, reason }: Silence, now: number): string {
  const picked = Object.entries(match).map(([label, value]) => `${label}=${value}`)
  const what = picked.join(', ') || 'every alert'
  return `${id}: ${what}, until ${formatTime(until)} (${formatSeconds(until - now)})${reason === '' ? '' : `: ${reason}`}`
}
