import { alertOf, nameOf, withHeld, type Alert, type LiveAlert } from '../../alerts/alert.ts'
import { firesAt } from '../../alerts/alert-instance.ts'
import { incidentsOf } from '../../alerts/incidents.ts'
import { isoTime } from '../../clock/times.ts'
import type { Config } from '../../config/config.ts'
import { readLiveAlerts } from '../../history/alert-history.ts'
import { readNotifiedAlerts, withMessages } from '../../history/notified-incidents.ts'
import type { SyncState } from '../../ledger/state.ts'
import { reasonText, suppressedAlerts } from '../../notifications/delivery/suppress.ts'
import { grouping } from '../../notifications/grouping.ts'
import { runbookOfAll } from '../../notifications/text/group-text.ts'
import { IS_OPEN } from '../../store/call-columns.ts'
import type { StoreReader } from '../../store/reader.ts'
import { parse } from '../../store/sql.ts'
import { formatSync } from '../../text/format.ts'
import { alertData } from '../../views/alert.ts'
import { incidentView } from '../../views/incident.ts'
import { receiverView } from '../../views/receiver-status.ts'
import type { Heard, StoredStatus } from '../../views/status.ts'

/** After so many intervals without a successful poll a target is stale. */
const STALE_INTERVALS = 3

type Told = { reader: StoreReader; url: string; heard: Heard | undefined }

/**
 * How callwatch is doing at a time, by what the daemon has committed and what it answers.
 *
 * @param now UNIX seconds
 * @throws {StoreError} if the store cannot be read now
 */
export async function readStatus({ reader, url, heard }: Told, config: Config, now: number): Promise<StoredStatus> {
  const { targets, notify, alerts: rules, poll, http } = config
  const live = await readLiveAlerts(reader)
  const freshFrom = now - STALE_INTERVALS * poll.interval
  const firing = live
    .filter(({ instance }) => instance.state !== 'pending')
    .map((one) => withHeld(alertOf(one), one.instance.evaluatedAt, freshFrom))
  const incidents = incidentsOf(live, grouping(notify, rules), targets.length, freshFrom, targets)
  const suppressed = suppressedAlerts(live, { notify, silences: await reader.silences(now), now })
  const alerts = firing.map((alert) => ({
    ...alertData(alert),
    key: alert.key,
    suppressed: (suppressed.get(nameOf(alert)) ?? []).map(reasonText),
  }))
  return {
    now: isoTime(now),
    store: reader.place,
    daemon: { url, page: http.publicUrl ?? url, answers: heard !== undefined, problem: heard?.problem },
    targets: await readTargets({ reader, heard }, { config, alerts, now }),
    incidents: withMessages(incidents, await readNotifiedAlerts(reader)).map((incident) => ({
      ...incidentView(incident),
      runbook_url: runbookOfAll(incident.alerts, http.publicUrl && `${http.publicUrl}/runbooks`),
    })),
    alerts,
    pending: pendingOf(live, now),
    receivers: receiversOf(heard, notify, now),
  }
}

/** The rules that do not fire yet, and from when on they do if nothing changes. */
function pendingOf(live: readonly LiveAlert[], now: number): StoredStatus['pending'] {
  const pending = live.filter(({ instance: { state } }) => state === 'pending')
  return rulesOf(pending.map(alertOf)).map((rule) => {
    const own = pending.map(({ instance }) => instance).filter((one) => one.rule.name === rule.alert)
    return { ...rule, fires_at: isoTime(Math.max(now, Math.min(...own.map(firesAt)))) }
  })
}

/** The rules of alerts, and on how many targets each has some. */
export function rulesOf(alerts: readonly Pick<Alert, 'alert' | 'target'>[]) {
  const byRule = Map.groupBy(alerts, ({ alert }) => alert)
  return [...byRule].map(([alert, all]) => ({ alert, targets: new Set(all.map(({ target }) => target)).size }))
}

type Known = { config: Config; alerts: StoredStatus['alerts']; now: number }

async function readTargets(
  { reader, heard }: Pick<Told, 'reader' | 'heard'>,
  { config: { targets, poll }, alerts, now }: Known,
): Promise<StoredStatus['targets']> {
  const syncs = await reader.rows('SELECT name, sync FROM callwatch.targets')
  const open = await reader.rows(
    `SELECT name, count(*) AS n FROM callwatch.targets CROSS JOIN callwatch.calls
    WHERE target = number AND ${IS_OPEN} GROUP BY name`,
  )
  const known = new Map(syncs.map(({ name, sync }) => [String(name), parse<SyncState>(sync)]))
  const inProgress = new Map(open.map(({ name, n }) => [String(name), Number(n)]))
  const told = new Map(heard?.targets.map((each) => [each.name, each]))
  const firing = Map.groupBy(alerts, ({ target }) => target)
  return targets.map(({ name }) => {
    const last = known.get(name)?.lastSuccessHostTime
    const lag = last === undefined ? null : Math.max(0, now - last)
    const heardOf: Partial<Heard['targets'][number]> = told.get(name) ?? {}
    return {
      target: name,
      ...stateOf(heardOf, lag, poll.interval),
      last_success: last === undefined ? null : isoTime(last),
      lag_seconds: lag,
      in_progress: inProgress.get(name) ?? 0,
      firing: firing.get(name)?.length ?? 0,
    }
  })
}

/** @param lag since the last successful poll, and the interval of polls (seconds) */
function stateOf(
  { up, listing, fault, problem, warnings }: Partial<Heard['targets'][number]>,
  lag: number | null,
  interval: number,
): Pick<StoredStatus['targets'][number], 'state' | 'problem' | 'warnings'> {
  const known = { ...(problem !== undefined && { problem }), ...(warnings !== undefined && { warnings }) }
  if (lag !== null) return { ...known, state: lag > STALE_INTERVALS * interval ? 'stale' : 'up' }
  if (up === undefined || (problem !== undefined && fault !== 'list')) return { ...known, state: 'never polled' }
  const { pages_read: pagesRead = 0, pages, seconds_left: secondsLeft } = listing ?? {}
  return { ...known, state: 'initial sync', problem: formatSync({ pagesRead, pages, secondsLeft }) }
}

function receiversOf(heard: Heard | undefined, notify: Config['notify'], now: number): StoredStatus['receivers'] {
  return notify.receivers.map(
    ({ name }) => heard?.receivers.find((each) => each.name === name) ?? receiverView({ name }, now),
  )
}
