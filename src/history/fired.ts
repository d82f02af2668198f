import { SEVERITIES, type Severity } from '../alerts/match-keys.ts'
import type { RowReader } from '../store/sql.ts'
import { select } from './call-filter.ts'
import { lengthOf } from './coverage.ts'
import type { Period } from './days.ts'

/** How often the alerts of a rule fired in a period, on how many targets, and for how long on at least one (seconds). */
export type Fired = { alert: string; severity: Severity; times: number; targets: number; seconds: number }

/**
 * What fired in a period, by rule: the most severe first, of these what fired longest.
 *
 * @param period by the host's clock (UNIX seconds)
 * @throws {StoreError} if the store cannot be read now
 */
export async function firedIn(store: RowReader, period: Period, targets: readonly string[] | undefined) {
  const { from, to } = period
  const rows = await select(
    store,
    (add) => `SELECT target, rule, severity, since, until FROM callwatch.alert_episodes
    WHERE since < ${add(to)} AND (until IS NULL OR until >= ${add(from)})
    ${targets === undefined ? '' : `AND target IN (${targets.map(add).join(', ') || 'NULL'})`}`,
  )
  const rules = Map.groupBy(rows, ({ rule }) => String(rule))
  const fired = [...rules].map(([alert, own]): Fired => {
    const severity = SEVERITIES.find((one) => own.some((row) => row['severity'] === one)) ?? 'info'
    const times = own.map(({ since, until }) => ({
      from: Math.max(from, Number(since)),
      to: Math.min(to, until === null ? to : Number(until)),
    }))
    const { size } = new Set(own.map(({ target }) => target))
    return { alert, severity, times: own.length, targets: size, seconds: lengthOf(times) }
  })
  return fired.toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.seconds - a.seconds,
  )
}
