import { alertOf, nameOf } from '../../alerts/alert.ts'
import { mostFailuresFirst } from '../../alerts/incidents.ts'
import { systemClock } from '../../clock/clock.ts'
import type { Config } from '../../config/config.ts'
import { readServiceNow } from '../../history/coverage.ts'
import { alertHistory, readLiveAlerts } from '../../history/alert-history.ts'
import { pastAlertView, type PastAlert } from '../../views/alert.ts'
import type { Period } from '../../history/days.ts'
import { parseMoment } from '../../history/moment.ts'
import { parseDuration } from '../../schema/duration-text.ts'
import { openReader } from '../../store/open-store.ts'
import type { StoreReader } from '../../store/reader.ts'
import { callsParameters, callSelection } from '../../history/queries/calls-query.ts'
import { CALL_FORMATS } from '../../views/call-csv.ts'
import { linesOf, partsOf } from '../calls/listing.ts'
import { formatOption, jsonOption, WIDE, widthOf, type Declare } from '../command.ts'
import { UsageError } from '../explain-error.ts'
import { names, whole } from '../options/option-values.ts'

/** A text as one argument on the command line of a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w.:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The forms that {@link readSpan} accepts, in a sentence. */
const SPAN = 'a time in UTC such as 2026-11-20 08:00:00, its minute or its date, or UNIX seconds'

/** How many other alerts are named at most. */
const MAX_OTHERS = 5

/**
 * Prints the calls behind an alert, newest first, as `/api/v1/calls` returns them for its `calls_url`. If several alerts
 * match, it uses the worst of those that fire, otherwise the newest.
 */
export const declareCalls: Declare = (command, context) => {
  const { configured, printWhole: print, warn } = context
  command
    .argument('<alert>', 'name of the rule, or rule and labels as `callwatch alerts` shows them, in quotes')
    .option(
      '--at <time>',
      'when it fired (UTC), as `callwatch alerts` shows it, or the minute or date of it (default: now, or the last time)',
    )
    .option('--target <names>', 'only of these targets; repeatable', names)
    .option('--limit <n>', 'print at most n calls (default: all)', whole)
    .addOption(formatOption('how to print them', 'csv', 'excel', 'ndjson'))
    .addOption(jsonOption('print them as JSON'))
    .option(...WIDE)
    .action(async (alert, options) => {
      const { format, json, limit = Infinity } = options
      const config = await configured(options)
      await using reader = await openReader(config.store)
      const [chosen, note] = await findAlert(reader, config, alert, options)
      const { searchParams } = new URL(requestOf(chosen), 'http://localhost')
      const now = await readServiceNow(reader, [chosen.target], systemClock.wall())
      const wanted = callSelection(callsParameters.parse(Object.fromEntries(searchParams)), now, config.targets)
      const parts = partsOf(reader, [chosen.target], { wanted, limit, warn })
      if (note !== '') warn(note)
      if (json || format === 'table') {
        const calls = (await Array.fromAsync(parts)).flat()
        const lines = linesOf(calls, json, widthOf(context, options), config.targets.length)
        return lines.forEach((each) => print(each))
      }
      const { header, line } = CALL_FORMATS[format]
      if (header !== '') print(header.trimEnd())
      for await (const part of parts) for (const call of part) print(line(call).trimEnd())
    })
}

/** The worst or newest alert that fired then, and a sentence that names the others. */
async function findAlert(
  reader: StoreReader,
  config: Config,
  alert: string,
  { at, target }: { at?: string | undefined; target?: string[] | undefined },
): Promise<[PastAlert, string]> {
  const began = at === undefined ? undefined : readSpan(at)
  if (at !== undefined && began === undefined) throw new UsageError(`--at ${at}: expected ${SPAN}`)
  const { found } = await alertHistory(
    reader,
    { from: 0, to: Infinity, targets: target, ...(alert.includes('{') ? { key: alert } : { alert }), began },
    { configured: config.targets.map(({ name }) => name), now: systemClock.wall() },
  )
  const alerts = found.map(pastAlertView)
  const firing = alerts.filter(({ until }) => until === null)
  const byName = new Map(firing.map((one) => [nameOf(one), one]))
  const now = (await readLiveAlerts(reader)).filter(({ instance }) => instance.state === 'firing').map(alertOf)
  // As `callwatch status` names it.
  const worst = mostFailuresFirst(now).find((one) => byName.has(nameOf(one)))
  const chosen = worst ? byName.get(nameOf(worst)) : alerts[0]
  const which = at === undefined ? '' : ` at ${at}`
  if (chosen === undefined)
    throw new UsageError(`no alert ${alert} fired${which}; \`callwatch alerts\` lists those that did`)
  const named = (one: PastAlert) => `\`${shellQuoted(one.key)} --target ${shellQuoted(one.target)}\``
  const others = [...new Set((worst === undefined ? alerts : firing).map(named))].filter(
    (name) => name !== named(chosen),
  )
  if (others.length === 0) return [chosen, '']
  const more = others.length > MAX_OTHERS ? ` and ${others.length - MAX_OTHERS} more` : ''
  const what = worst === undefined ? 'the newest alert' : 'the worst that fires now'
  const first = others.slice(0, MAX_OTHERS).join(', ')
  return [chosen, `the calls behind ${chosen.key} on ${chosen.target}, ${what}; the others: ${first}${more}`]
}

/** The second, minute or day (UTC) that a text names; undefined for any other text. */
function readSpan(text: string): Period | undefined {
  // A duration such as `2h` names no second, minute or day.
  const from = parseDuration(text) === undefined ? parseMoment(text, 'UTC', 0) : undefined
  if (from === undefined) return undefined
  if (/^\d+-\d+-\d+$/.test(text)) return { from, to: from + 86_400 }
  const seconds = /[T ]\d{2}:\d{2}(Z|[+-]\d{2}:?\d{2})?$/i.test(text) ? 60 : 1
  return { from: Math.floor(from), to: Math.floor(from) + seconds }
}

function requestOf({ calls_url, key, signal }: PastAlert): string {
  if (calls_url !== undefined) return calls_url
  throw new UsageError(
    signal === 'in_progress'
      ? `the calls behind ${key} are not known any more: it has ended, and it measured calls in progress`
      : `there is no list of the calls behind ${key}: it measures ${signal}`,
  )
}
