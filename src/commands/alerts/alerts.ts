import { definitionOf } from '../../alerts/definition-of.ts'
import { formatIn } from '../../alerts/signal.ts'
import { systemClock } from '../../clock/clock.ts'
import { alertHistory } from '../../history/alert-history.ts'
import { lengthOf } from '../../history/coverage.ts'
import { alertHistoryView, type PastAlert } from '../../views/alert.ts'
import { openReader } from '../../store/open-store.ts'
import { formatNumber, formatSeconds } from '../../text/format.ts'
import { plainText } from '../../text/plain-text.ts'
import { subcommand, WIDE, widthOf, type Declare, tableLines } from '../command.ts'
import { names } from '../options/option-values.ts'
import { periodOf } from '../../history/queries/parameters.ts'
import { declareCalls } from './alert-calls.ts'
import { ruleSummary } from './rule-summary.ts'

/** A longer list begins with a row for each rule, and shows so many alerts unless all are wanted. */
const MOST_LISTED = 20
/** The most alerts that are counted. */
const MOST_COUNTED = 100_000

/** Prints the alerts that fired in a period, newest first. */
export const declare: Declare = (command, context) => {
  const { configured, printWhole: print, warn } = context
  command
    .option('--since <time>', 'those that fired after this date or time, or this long ago', '7d')
    .option('--until <time>', 'those that fired before this date or time (default: now)')
    .option('--target <names>', 'only of these targets; repeatable', names)
    .option('--all', `print each alert, also if there are more than ${MOST_LISTED}`, false)
    .option(...WIDE)
    .option('--json', 'print them as JSON', false)
    .action(async (options) => {
      const config = await configured(options)
      const now = systemClock.wall()
      const { from, to = Infinity } = periodOf({ ...options, zone: 'UTC' }, now, '--')
      const known = { configured: config.targets.map(({ name }) => name), now }
      await using reader = await openReader(config.store)
      const found = alertHistoryView(
        await alertHistory(reader, { from, to, targets: options.target }, known, MOST_COUNTED),
      )
      const { alerts } = found
      const isLong = alerts.length > MOST_LISTED
      const shown = options.all || !isLong ? alerts : alerts.slice(0, MOST_LISTED)
      const fired = alerts.map((one) => ({ rule: one.alert, target: one.target, ...firedIn(one, now) }))
      // The rules, those first that fired last.
      const summary = isLong ? [...ruleSummary(fired), ''] : []
      if (options.json) print(JSON.stringify(found, undefined, 2))
      else for (const line of [...summary, ...tableOf(shown, now, widthOf(context, options))]) print(line)
      if (!options.json && shown.length < alerts.length)
        warn(`and ${formatNumber(alerts.length - shown.length)} older ones: --all prints them`)
      if (found.truncated === true) warn(`there are older ones: these are the newest ${found.alerts.length}`)
    })
  declareCalls(
    subcommand(command, 'calls', 'Print the calls behind an alert that fires or has fired, newest first'),
    context,
  )
}

const HEADER = ['fired (UTC)', 'target', 'alert', 'severity', 'outcome', 'notified', 'for', 'threshold', 'peak']
/** How many columns of text come before the columns with numbers. */
const TEXTS = 6

/** The least important first. */
const GIVES_WAY = ['threshold', 'notified', 'severity', 'outcome']

/** When an alert fired, or has been firing (UNIX seconds). */
function firedIn({ since, until }: Pick<PastAlert, 'since' | 'until'>, now: number) {
  return { from: Date.parse(since) / 1000, to: until === null ? now : Date.parse(until) / 1000 }
}

function tableOf(found: readonly PastAlert[], now: number, width: number): string[] {
  if (found.length === 0) return ['no alert fired']
  const rows = found.map(
    ({ target, key, severity, signal, breach, threshold, since, until, outcome, expired_because, peak, notified }) => {
      const { unit } = definitionOf({ name: signal })
      const sent = new Set(notified.map(({ receiver }) => receiver))
      return [
        since.replace('T', ' ').slice(0, 19),
        plainText(target),
        plainText(key),
        severity,
        expired_because === undefined ? (outcome ?? 'fires') : `expired: ${expired_because}`,
        [...sent].join(', ') || '-',
        formatSeconds(lengthOf([firedIn({ since, until }, now)])),
        `${breach} ${formatIn(unit, threshold)}`,
        formatIn(unit, peak),
      ]
    },
  )
  return tableLines(HEADER, rows, TEXTS, { width, givesWay: GIVES_WAY })
}
