import type { LiveAlert } from '../alerts/alert.ts'
import { firedThreshold, type AlertInstance } from '../alerts/alert-instance.ts'
import { readNotes, type Episode, type PastEpisode } from '../alerts/episode.ts'
import { isCause } from '../alerts/alert.ts'
import type { Severity } from '../alerts/match-keys.ts'
import { parse, type Row, type RowReader } from '../store/sql.ts'
import { select, type AddArgument } from './call-filter.ts'
import { coverageOf, type BlindTime } from './coverage.ts'
import type { Period } from './days.ts'
import { expectTargets } from './usage.ts'

/** Selects alerts that fired within the period, even for a part of it, and that meet all given conditions. */
export type AlertHistoryQuery = Period & {
  targets?: readonly string[] | undefined
  /** The name of a rule. */
  alert?: string | undefined
  /** The rule's name with the labels. */
  key?: string | undefined
  /** The period in which they began to fire. */
  began?: Period | undefined
  severity?: Severity | undefined
}

/** The most alerts that are read. */
const MAX_ALERTS = 1000

/**
 * The alerts that fired in a period, including those that still fire, newest first, and whether there are older ones.
 *
 * @param configured the targets of the configuration
 * @param now the host's clock (UNIX seconds)
 * @throws {QueryError} for an unknown target
 * @throws {StoreError} if the store cannot be read now
 */
export async function alertHistory(
  store: RowReader,
  { from, to, targets, alert, key, began, severity }: AlertHistoryQuery,
  { configured, now }: { configured: readonly string[]; now: number },
  most = MAX_ALERTS,
): Promise<{ found: PastEpisode[]; isTruncated: boolean }> {
  await expectTargets(store, targets ?? [], configured)
  const conditions = (add: AddArgument) => [
    `since < ${add(to)}`,
    `(until IS NULL OR until >= ${add(from)})`,
    ...(targets === undefined ? [] : [`episode.target IN (${targets.map(add).join(', ')})`]),
    ...(alert === undefined ? [] : [`rule = ${add(alert)}`]),
    ...(key === undefined ? [] : [`episode.alert = ${add(key)}`]),
    ...(began === undefined ? [] : [`since >= ${add(began.from)}`, `since < ${add(began.to)}`]),
    // The severity of a firing alert is in its rule.
    ...(severity === undefined
      ? []
      : [`(severity = ${add(severity)} OR until IS NULL AND alerts.data LIKE ${add(`%"severity":"${severity}"%`)})`]),
  ]
  const rows = await select(
    store,
    (add) => `SELECT episode.*, alerts.data AS live FROM callwatch.alert_episodes AS episode
    LEFT JOIN callwatch.targets AS owner ON owner.name = episode.target
    LEFT JOIN callwatch.alerts AS alerts
      ON episode.until IS NULL AND alerts.target = owner.number AND alerts.alert = episode.alert
    WHERE ${conditions(add).join(' AND ')}
    ORDER BY since DESC, episode.target, episode.alert LIMIT ${most + 1}`,
  )
  const shown = rows.slice(0, most)
  const { blind } = await coverageOf(
    store,
    // The clock of the service may be behind.
    { from: Math.min(now, ...shown.map(({ since }) => Number(since))) - 86_400, to: Infinity },
    { targets: [...new Set(shown.map(({ target }) => String(target)))], now },
  )
  const byTarget = Map.groupBy(blind, ({ target, kind }) => (kind === 'expired' ? undefined : target))
  const episodes = shown.map((row) => pastEpisode(row, byTarget.get(String(row['target'])) ?? [], now))
  return {
    found: episodes.filter((one) => severity === undefined || one.episode.severity === severity),
    isTruncated: rows.length > most,
  }
}

function pastEpisode(row: Row, blind: readonly BlindTime[], now: number): PastEpisode {
  const [since, until] = [Number(row['since']), row['until'] === null ? null : Number(row['until'])]
  const episode = latest(row)
  return {
    target: String(row['target']),
    rule: String(row['rule']),
    key: String(row['alert']),
    since,
    until,
    episode,
    // An alert about polls is evaluated without them.
    blind: (isCause(episode) ? [] : blind)
      .map(({ from, to, clockSkew = 0 }) => ({
        from: Math.max(from - clockSkew, since),
        to: Math.min(to - clockSkew, until ?? now),
      }))
      .filter(({ from, to }) => from < to),
    ...readNotes(String(row['notes'])),
  }
}

/** The alerts of all targets as they are in the store. */
export async function readLiveAlerts(store: RowReader): Promise<LiveAlert[]> {
  const query = 'SELECT name, data FROM callwatch.targets CROSS JOIN callwatch.alerts WHERE target = number'
  const rows = await store.rows(query)
  return rows.map(({ name, data }) => ({ target: String(name), instance: parse<AlertInstance>(data) }))
}

/** An episode in its current state. While it fires, it has the values of the alert's latest evaluation. */
function latest({ data, since, live, severity }: Row): Episode & { severity: Severity } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was written from a notification
  const written = { ...parse<Episode>(data), severity: severity as Severity }
  if (live === null) return written
  const instance = parse<AlertInstance>(live)
  const { firingSince, rule, labels, peak, measuredFrom, evidence, values = [] } = instance
  if (firingSince !== Number(since)) return written
  const window = evidence?.window && { from: measuredFrom ?? evidence.window.from, to: evidence.window.to }
  return { ...written, ...rule, threshold: firedThreshold(instance), labels, peak, values, ...(window && { window }) }
}
