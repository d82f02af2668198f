import { refreshAlert } from './alert-page.ts'
import { showAddress } from './address.ts'
import { getAlerts, getPastAlerts, getPerMinute, getReceivers, getSilences, getStatus, getWebhooks } from './api.ts'
import { refreshCharts } from './charts.ts'
import { change, current, type Snapshot } from './state.ts'

/** The shortest time between two snapshots, however many events arrive. */
const PAUSE_MS = 1000
/** Without events, snapshots are as frequent as polls, within these bounds. */
const [MIN_PERIOD_SECONDS, MAX_PERIOD_SECONDS] = [2, 15]

let isRunning = false
let isWanted = false

/** Takes a new snapshot, now or after the running one and a pause. */
export async function refresh() {
  isWanted = true
  if (isRunning) return
  isRunning = true
  while (isWanted) {
    isWanted = false
    await takeSnapshot()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  isRunning = false
}

/** Updates ages each second, takes a new snapshot when the last one is too old, and loads charts and the shown alert again. */
export function startClock() {
  setInterval(() => {
    const now = performance.now()
    change({ now })
    refreshCharts(now)
    refreshAlert(now)
    const { snapshot, connected } = current()
    const age = snapshot === undefined ? Infinity : (now - snapshot.takenAt) / 1000
    if (!connected || age >= periodOf(snapshot)) void refresh()
  }, 1000)
}

function periodOf(snapshot: Snapshot | undefined) {
  const intervals = snapshot?.status.targets.map(({ interval_seconds }) => interval_seconds) ?? []
  return Math.min(MAX_PERIOD_SECONDS, Math.max(MIN_PERIOD_SECONDS, ...intervals))
}

async function takeSnapshot() {
  try {
    const before = current().snapshot
    const [status, { alerts }, { silences, read_only: readOnly = false }, { webhooks }, { receivers }, perMinute] =
      await Promise.all([
        getStatus(),
        getAlerts(),
        // Only these are read from the store, which may be unavailable.
        getSilences().catch(() => ({ silences: before?.silences ?? [], read_only: before?.readOnly ?? false })),
        getWebhooks().catch(() => ({ webhooks: before?.webhooks ?? [] })),
        getReceivers().catch(() => ({ receivers: before?.receivers })),
        getPerMinute(),
      ])
    const now = performance.now()
    const snapshot = { status, alerts, silences, readOnly, webhooks, receivers, perMinute, takenAt: now }
    change({ snapshot, connected: true, now })
    if (before === undefined) showAddress()
    void loadPastAlerts(snapshot)
  } catch {
    change({ connected: false, now: performance.now() })
  }
}

/** What the past alerts were loaded for. */
let loadedFor = ''

/** Loads the alerts of the last seven days again where the alerts that fire have changed, and each minute. */
async function loadPastAlerts({ status: { now }, alerts }: Snapshot) {
  const firing = alerts.map(({ target, alert, labels, firing_since }) => [target, alert, labels, firing_since])
  const wanted = JSON.stringify([now.slice(0, 16), ...firing])
  if (wanted === loadedFor) return
  loadedFor = wanted
  try {
    const { alerts: pastAlerts } = await getPastAlerts('since=7d')
    change({ pastAlerts })
  } catch {
    // The next snapshot tries again.
    loadedFor = ''
  }
}
