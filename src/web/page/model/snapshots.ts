import type { StateChange } from '../../../views/state/state.ts'
import { showAddress } from './address.ts'
import { refreshAlert } from './alerts/alert-page.ts'
import { getPastAlerts, type Target } from './api.ts'
import { refreshCharts } from './charts.ts'
import { refreshIncident } from './alerts/incident-page.ts'
import { refreshRules } from './alerts/rules.ts'
import { change, changeSoon, current, type Snapshot } from './state.ts'

const TICK_MS = 1000

/** Updates ages each second, and loads charts and alerts again that are shown. */
export function startClock() {
  setInterval(() => {
    if (current().isWaiting) return
    const now = performance.now()
    // What arrives each second shows the time, too.
    if (now - current().now > TICK_MS * 0.9) changeSoon({ now })
    refreshCharts(now)
    refreshAlert(now)
    refreshRules(now)
    refreshIncident(now)
  }, TICK_MS)
}

/** Adds what has changed to the snapshot; the first change of a stream has all of it. Another version needs its own page. */
export function applyChange(changed: StateChange) {
  const { snapshot: before } = current()
  if (before !== undefined && before.version !== changed.version) return location.reload()
  const now = performance.now()
  const snapshot = changedSnapshot(before, changed, now)
  const shown = { snapshot, connected: true, isWaiting: false, now }
  changeSoon(shown)
  // What needs the clock of the server has waited for it.
  if (before === undefined) showAddress()
  // Alerts may have come and gone while nothing was heard.
  if (changed.names !== undefined) loadedFor = ''
  void loadPastAlerts(snapshot)
}

const nothing = {
  problem: null,
  targets: [],
  alerts: [],
  incidents: [],
  silences: [],
  read_only: false,
  can_find: false,
  needs_config: false,
  webhooks: [],
  receivers: undefined,
  perMinute: { since: '', step_seconds: 60, targets: [] },
}

/** @param now by `performance.now()` */
export function changedSnapshot(snapshot: Snapshot | undefined, change: StateChange, now: number): Snapshot {
  const { targets: changed, alerts: changedAlerts, names: all, minutes, since, ...others } = change
  const before: Omit<Snapshot, 'version' | 'now'> = snapshot ?? { ...nothing, takenAt: now, agesAt: now }
  const names = all ?? before.targets.map(({ name }) => name)
  const targets = new Map(before.targets.map((target) => [target.name, target]))
  const alerts = Map.groupBy(before.alerts, ({ target }) => target)
  const own = Map.groupBy(changedAlerts, ({ target }) => target)
  for (const target of changed) {
    targets.set(target.name, withAgesAt(target, (now - before.agesAt) / 1000))
    alerts.set(target.name, own.get(target.name) ?? [])
  }
  const perMinute = new Map([...before.perMinute.targets, ...minutes].map((one) => [one.name, one]))
  const inOrder = <Of>(of: Map<string, Of>) => names.flatMap((name) => of.get(name) ?? [])
  return {
    ...before,
    ...others,
    targets: inOrder(targets),
    alerts: inOrder(alerts).flat(),
    // The same numbers until they change, so that no chart is drawn again.
    ...((minutes.length > 0 || all !== undefined) && {
      perMinute: { ...before.perMinute, ...(since && { since }), targets: inOrder(perMinute) },
    }),
    takenAt: now,
  }
}

/** A target with its ages as of so many seconds before: those of all targets apply at the same time. */
function withAgesAt(target: Target, seconds: number): Target {
  const { lag_seconds: lag, sweep_age_seconds: sweep, rate_limit_pause_seconds: pause } = target
  return {
    ...target,
    lag_seconds: lag - seconds,
    sweep_age_seconds: sweep === null ? null : sweep - seconds,
    rate_limit_pause_seconds: pause + seconds,
  }
}

/** What the past alerts were loaded for. */
let loadedFor = ''

/** Loads the alerts of the last seven days again when the alerts that fire, or the messages about them, are others. */
async function loadPastAlerts({ alerts, incidents }: Snapshot) {
  const firing = alerts.map(({ target, alert, labels, firing_since }) => [target, alert, labels, firing_since])
  const state = JSON.stringify([
    incidents.map(({ details }) => details.find(({ about }) => about === 'messages')?.text),
    ...firing,
  ])
  if (state === loadedFor) return
  loadedFor = state
  try {
    const { alerts: pastAlerts, truncated: isPastCut = false } = await getPastAlerts('since=7d')
    change({ pastAlerts, isPastCut })
  } catch {
    // The next change tries again.
    loadedFor = ''
  }
}
