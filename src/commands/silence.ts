import { userInfo } from 'node:os'
import { MAX_SILENCE_SECONDS, type Silence, unknownIn } from '../alerts/match.ts'
import type { AlertMatch } from '../alerts/match-keys.ts'
import { isPattern } from '../alerts/value-pattern.ts'
import { systemClock } from '../clock/clock.ts'
import { silenceView } from '../web/silences-route.ts'
import type { Config } from '../config/config.ts'
import { formatSeconds, formatTime } from '../text/format.ts'
import { UsageError } from './explain-error.ts'
import { withStore } from './with-store.ts'
import { sinceOf } from './period-options.ts'

export type SilenceOptions = {
  /** The name of a rule; `match` may have it instead. */
  alert?: string
  match?: AlertMatch
  /** Every alert, instead of a match. */
  all?: boolean
  /** Seconds. */
  for: number
  reason: string
  /** Default: the user of the system. */
  author?: string
}

/** What is left out stays. */
export type SilenceEdit = Partial<Omit<SilenceOptions, 'author'>>

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
  const match = matchOf(config, options)
  const author = options.author ?? systemUser()
  const since = systemClock.wall()
  const by = author === undefined ? {} : { author }
  const silence = { match, since, until: since + timeOf(options.for), reason: options.reason, ...by }
  const added = await withStore(config, (store) => store.addSilence(silence))
  print(`silence ${lineOf(added, since)}`)
}

/**
 * Edits an active silence.
 *
 * @throws {UsageError} where there is none with that number, or the edit cannot be
 */
export async function editSilence(
  config: Config,
  id: number,
  options: SilenceEdit,
  print: (line: string) => void,
): Promise<void> {
  const isOther = options.alert !== undefined || options.match !== undefined || options.all !== undefined
  const isSame = !isOther && options.for === undefined && options.reason === undefined
  if (isSame) throw new UsageError('nothing to edit; expected --for, --reason, --alert, --match or --all')
  const match = isOther ? { match: matchOf(config, options) } : {}
  const reason = options.reason === undefined ? {} : { reason: options.reason }
  const now = systemClock.wall()
  const until = options.for === undefined ? {} : { until: now + timeOf(options.for) }
  const edited = await withStore(config, async (store) => {
    const before = (await store.silences(now)).find((silence) => silence.id === id)
    if (before === undefined) throw noSilence(id)
    const after = { ...before, ...match, ...reason, ...until, edits: (before.edits ?? 0) + 1 }
    if (!(await store.editSilence(after, now))) throw new UsageError(`silence ${id} was changed meanwhile; try again`)
    return after
  })
  print(`silence ${lineOf(edited, now)}`)
}

/**
 * Prints the active silences.
 *
 * @param since also those that expired since then
 */
export async function listSilences(
  config: Config,
  { since, json }: { since?: string; json: boolean },
  print: (line: string) => void,
): Promise<void> {
  const now = systemClock.wall()
  const silences = await withStore(config, (store) =>
    store.silences(since === undefined ? now : Math.min(now, sinceOf(since, now))),
  )
  if (json) print(JSON.stringify({ silences: silences.map(silenceView) }, undefined, 2))
  else if (silences.length === 0) print(since === undefined ? 'no active silences' : 'no silences')
  else for (const silence of silences) print(lineOf(silence, now))
}

/**
 * Expires a silence early.
 *
 * @throws {UsageError} where no active silence has that number
 */
export async function expireSilence(config: Config, id: number, print: (line: string) => void): Promise<void> {
  if (!(await withStore(config, (store) => store.expireSilence(id, systemClock.wall())))) throw noSilence(id)
  print(`silence ${id} expired`)
}

function noSilence(id: number): UsageError {
  return new UsageError(`there is no active silence ${id}; \`callwatch silence list\` shows them`)
}

function timeOf(seconds: number): number {
  if (seconds > MAX_SILENCE_SECONDS) throw new UsageError('a silence is for 366d at most')
  return seconds
}

/** The name of the user that runs the command; undefined where the system has none for it, as in some containers. */
function systemUser(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}

function matchOf({ alerts, targets }: Config, { alert, match = {}, all = false }: SilenceEdit): AlertMatch {
  if (alert !== undefined && match.alert !== undefined) {
    throw new UsageError('--alert and --match alert=… are the same; expected one of them')
  }
  const whole = { ...match, ...(alert === undefined ? {} : { alert }) }
  const isEmpty = Object.keys(whole).length === 0
  if (isEmpty && !all) throw new UsageError('nothing to silence; expected --alert, --match, or --all for every alert')
  if (!isEmpty && all) throw new UsageError('--all beside --alert or --match; expected one of them')
  const names = { alert: alerts.map(({ name }) => name), target: targets.map(({ name }) => name) }
  const unknown = unknownIn(whole, names)
  if (unknown !== undefined) throw new UsageError(unknown)
  return whole
}

/** `3: alert=NoCalls, target=~prod.*, until 2026-11-20 12:00:00 UTC (1h 30m), by ops: maintenance`. */
function lineOf({ id, match, until, reason, author }: Silence, now: number): string {
  const picked = Object.entries(match).map(([label, value]) => `${label}${isPattern(value) ? '' : '='}${value}`)
  const what = picked.join(', ') || 'every alert'
  const why = reason === '' ? '' : `: ${reason}`
  const end =
    until > now ? `until ${formatTime(until)} (${formatSeconds(until - now)})` : `expired ${formatTime(until)}`
  const by = author === undefined ? '' : `, by ${author}`
  return printable(`${id}: ${what}, ${end}${by}${why}`)
}

/** Without what would move the cursor, colour the terminal, start another line or reverse it: any user may have written it. */
function printable(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '')
}
