import { isPattern, MAX_SILENCE_SECONDS, requestedMatch, type Silence } from '../../alerts/match.ts'
import type { AlertMatch } from '../../alerts/match-keys.ts'
import { systemClock } from '../../clock/clock.ts'
import { silenceView } from '../../views/silence.ts'
import type { Config } from '../../config/config.ts'
import { formatSeconds, formatTime } from '../../text/format.ts'
import { inOneLine } from '../../text/plain-text.ts'
import { subcommand, type ConfiguredCommand, type Declare } from '../command.ts'
import { UsageError } from '../explain-error.ts'
import { duration, matching, whole } from '../options/option-values.ts'
import { openForCommand } from '../../store/open-store.ts'
import { givenTime } from '../../history/queries/parameters.ts'
import { systemUser } from '../../store/postgres/address.ts'

type Selection = { alert?: string | undefined; match?: AlertMatch | undefined; all?: true | undefined }

export const declare: Declare = (command, context) => {
  const sub = (name: string, about: string) => subcommand(command, name, about)
  declareAdd(
    sub('add', 'Silence alerts; rules are still evaluated, and alerts that still fire afterwards are notified'),
    context,
  )
  declareList(sub('list', 'List the active silences'), context)
  declareEdit(sub('edit', 'Edit an active silence; options that are not given keep their values'), context)
  declareExpire(sub('expire', 'Expire a silence early'), context)
}

/** Adds the options that select alerts. */
const selecting = (command: ConfiguredCommand) =>
  command
    .option('--alert <name>', 'silence only alerts of this rule')
    .option('--match <name=value>', 'silence only alerts with this label, severity or target; repeatable', matching)
    .option('--all', 'silence every alert; replaces --alert and --match')

const declareAdd: Declare = (command, { configured, print }) =>
  void selecting(command)
    .requiredOption('--for <duration>', 'expire the silence after this time, such as 2h (required)', duration)
    .option('--reason <text>', 'show this reason with the silence', '')
    .option('--author <name>', 'show this author with the silence (default: the user of the system)')
    .action(async (options) => {
      const config = await configured(options)
      const { author = systemUser(), reason } = options
      const match = matchOf(config, options)
      const since = systemClock.wall()
      const until = since + timeOf(options.for)
      const silence = { match, since, until, reason, ...(author !== undefined && { author }) }
      await using store = await openForCommand(config.store)
      const added = await store.addSilence(silence)
      print(`silence ${lineOf(added, since)}`)
    })

const declareList: Declare = (command, { configured, print }) =>
  void command
    .option('--since <time>', 'also list those that expired since this date or time, or this long ago')
    .option('--json', 'print them as JSON', false)
    .action(async ({ since, json, ...options }) => {
      const now = systemClock.wall()
      const from = since === undefined ? now : Math.min(now, givenTime('--since', since, 'UTC', now))
      await using store = await openForCommand((await configured(options)).store)
      const silences = await store.silences(from)
      if (json) print(JSON.stringify({ silences: silences.map(silenceView) }, undefined, 2))
      else if (silences.length === 0) print(since === undefined ? 'no active silences' : 'no silences')
      else for (const silence of silences) print(lineOf(silence, now))
    })

const declareEdit: Declare = (command, { configured, print }) =>
  void selecting(command)
    .argument('<number>', 'number of the silence, as `silence list` shows it', whole)
    .option('--for <duration>', 'expire the silence after this time from now, such as 2h', duration)
    .option('--reason <text>', 'show this reason with the silence')
    .action(async (id, options) => {
      const config = await configured(options)
      const { alert, match, all, reason } = options
      const isOther = alert !== undefined || match !== undefined || all !== undefined
      if (!isOther && options.for === undefined && reason === undefined)
        throw new UsageError('nothing to edit; expected --for, --reason, --alert, --match or --all')
      const now = systemClock.wall()
      const changes = {
        ...(isOther && { match: matchOf(config, options) }),
        ...(reason !== undefined && { reason }),
        ...(options.for !== undefined && { until: now + timeOf(options.for) }),
      }
      await using store = await openForCommand(config.store)
      const edited = await store.editSilence(id, changes, now)
      if (edited === undefined) throw noSilence(id)
      if (edited === 'changed') throw new UsageError(`silence ${id} was changed meanwhile; try again`)
      print(`silence ${lineOf(edited, now)}`)
    })

const declareExpire: Declare = (command, { configured, print }) =>
  void command
    .argument('<number>', 'number of the silence, as `silence list` shows it', whole)
    .action(async (id, options) => {
      await using store = await openForCommand((await configured(options)).store)
      if (!(await store.expireSilence(id, systemClock.wall()))) throw noSilence(id)
      print(`silence ${id} expired`)
    })

function noSilence(id: number): UsageError {
  return new UsageError(`there is no active silence ${id}; \`callwatch silence list\` shows them`)
}

function timeOf(seconds: number): number {
  if (seconds > MAX_SILENCE_SECONDS) throw new UsageError('a silence is for 366d at most')
  return seconds
}

function matchOf({ alerts, targets }: Config, { alert, match = {}, all }: Selection): AlertMatch {
  if (alert !== undefined && match.alert !== undefined) {
    throw new UsageError('--alert and --match alert=… are the same; expected one of them')
  }
  const whole = { ...match, ...(alert === undefined ? {} : { alert }) }
  const names = { alert: alerts.map(({ name }) => name), target: targets.map(({ name }) => name) }
  return requestedMatch({ match: whole, all }, names, PROBLEMS)
}

const PROBLEMS = {
  nothing: 'nothing to silence; expected --alert, --match, or --all for every alert',
  both: '--all together with --alert or --match; expected one of them',
}

/** `3: alert=NoCalls, target=~prod.*, until 2026-11-20 12:00:00 UTC (1h 30m), by ops: maintenance`. */
function lineOf({ id, match, until, reason, author }: Silence, now: number): string {
  const picked = Object.entries(match).map(([label, value]) => `${label}${isPattern(value) ? '' : '='}${value}`)
  const what = picked.join(', ') || 'every alert'
  const why = reason === '' ? '' : `: ${reason}`
  const end =
    until > now ? `until ${formatTime(until)} (${formatSeconds(until - now)})` : `expired ${formatTime(until)}`
  const by = author === undefined ? '' : `, by ${author}`
  // Any user may have written it.
  return inOneLine(`${id}: ${what}, ${end}${by}${why}`)
}
