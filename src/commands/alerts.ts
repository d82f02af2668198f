import { definitionOf } from '../alerts/definition-of.ts'
import { formatIn } from '../alerts/signal.ts'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { alertHistory, type PastAlert } from '../history/alert-history.ts'
import { QueryError } from '../history/history-scope.ts'
import { openReader } from '../store/open-store.ts'
import { formatSeconds } from '../text/format.ts'
import { plainText } from '../text/plain-text.ts'
import { UsageError } from './explain-error.ts'
import { periodOf, type PeriodOptions } from './period-options.ts'
import type { ReportOutput } from './report.ts'
import { tableLines } from './table-lines.ts'

export type AlertsOptions = PeriodOptions & {
  since: string
  target?: readonly string[]
  json: boolean
}

/**
 * Prints the alerts that fired in a period, newest first. Reads the store while a daemon may be running.
 *
 * @throws {UsageError} for a time or target that there is not
 * @throws {StoreError} when there is no store, or it cannot be read
 */
export async function alerts(config: Config, options: AlertsOptions, { print, warn }: ReportOutput): Promise<void> {
  const now = systemClock.wall()
  const { from = 0, to = Infinity } = periodOf(options, 'UTC', now)
  const reader = await openReader(config.store)
  try {
    const configured = config.targets.map(({ name }) => name)
    const found = await alertHistory(reader, { from, to, targets: options.target }, { configured, now })
    if (options.json) print(JSON.stringify(found, undefined, 2))
    else for (const line of tableOf(found.alerts, now)) print(line)
    if (found.truncated === true) warn(`there are older ones: these are the newest ${found.alerts.length}`)
  } catch (error) {
    throw error instanceof QueryError ? new UsageError(error.message) : error
  } finally {
    await reader.close()
  }
}

const HEADER = ['since (UTC)', 'target', 'alert', 'severity', 'outcome', 'notified', 'fired for', 'threshold', 'peak']
/** The columns before those with numbers. */
const TEXTS = 6

function tableOf(found: readonly PastAlert[], now: number): string[] {
  if (found.length === 0) return ['no alert fired']
  const rows = found.map(
    ({ target, key, severity, signal, breach, threshold, since, until, outcome, expired_because, peak, notified }) => {
      const { unit } = definitionOf({ name: signal })
      const sent = new Set(notified.filter(({ outcome }) => outcome === 'sent').map(({ receiver }) => receiver))
      const lasted = (until === null ? now : Date.parse(until) / 1000) - Date.parse(since) / 1000
      return [
        since.replace('T', ' ').slice(0, 19),
        plainText(target),
        plainText(key),
        severity,
        expired_because === undefined ? (outcome ?? 'still fires') : `expired: ${expired_because}`,
        [...sent].join(', ') || '-',
        formatSeconds(Math.max(0, lasted)),
        `${breach} ${formatIn(unit, threshold)}`,
        formatIn(unit, peak),
      ]
    },
  )
  return tableLines(HEADER, rows, TEXTS)
}
