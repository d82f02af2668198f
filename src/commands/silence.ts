import { type AlertMatch, MAX_SILENCE, type Silence, unknownIn } from '../alerts/match.ts'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { formatSeconds, formatTime } from '../text/format.ts'
import { UsageError } from './explain-error.ts'
import { withStore } from './with-store.ts'

export type SilenceOptions = {
  /** The name of a rule; `match` may have it instead. */
  alert?: string
  match?: AlertMatch
  /** Every alert, instead of a match. */
  all?: boolean
  /** Seconds. */
  for: number
  reason: string
}

/**
 * Silences matching alerts for a while.
 *
 * @throws {UsageError} where none can match, or all would match without `all`
 */
export async function addSilence(
  config: Config,
  options: SilenceOptions,
  print: (line: string) => void,
): Promise<void> {
  const match = matchOf(options)
  const names = { alert: config.alerts.map(({ name }) => name), target: config.targets.map(({ name }) => name) }
  const unknown = unknownIn(match, names)
  if (unknown !== undefined) throw new UsageError(unknown)
  if (options.for > MAX_SILENCE) throw new UsageError('a silence is for 366d at most')
  const since = systemClock.wall()
  const silence = { match, since, until: since + options.for, reason: options.reason }
  const added = await withStore(config, (store) => store.addSilence(silence))
  print(`silence ${lineOf(added, since)}`)
}

/** Prints the active silences. */
export async function listSilences(config: Config, print: (line: string) => void): Promise<void> {
  const now = systemClock.wall()
  const silences = await withStore(config, (store) => store.silences(now))
  if (silences.length === 0) print('no active silences')
  for (const silence of silences) print(lineOf(silence, now))
}

/**
 * Ends a silence early.
 *
 * @throws {UsageError} where no active silence has that number
 */
export async function endSilence(config: Config, id: number, print: (line: string) => void): Promise<void> {
  if (!(await withStore(config, (store) => store.endSilence(id)))) {
    throw new UsageError(`there is no silence ${id}; \`callwatch silence list\` shows the active ones`)
  }
  print(`silence ${id} has ended`)
}

function matchOf({ alert, match = {}, all = false }: SilenceOptions): AlertMatch {
  if (alert !== undefined && match.alert !== undefined) {
    throw new UsageError('--alert and --match alert=… are the same; expected one of them')
  }
  const whole = { ...match, ...(alert === undefined ? {} : { alert }) }
  const isEmpty = Object.keys(whole).length === 0
  if (isEmpty && !all) throw new UsageError('nothing to silence; expected --alert, --match, or --all for every alert')
  if (!isEmpty && all) throw new UsageError('--all beside --alert or --match; expected one of them')
  return whole
}

/** `3: alert=NoCalls, target=production, until 2026-11-20 12:00:00 UTC (1h 30m): maintenance`. */
function lineOf({ id, match, until, reason }: Silence, now: number): string {
  const picked = Object.entries(match).map(([label, value]) => `${label}=${value}`)
  const what = picked.join(', ') || 'every alert'
  const why = reason === '' ? '' : `: ${reason}`
  return printable(`${id}: ${what}, until ${formatTime(until)} (${formatSeconds(until - now)})${why}`)
}

/** Without what would move the cursor, colour the terminal, start another line or reverse it: any user may have written it. */
function printable(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '')
}
