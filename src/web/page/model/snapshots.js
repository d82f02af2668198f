import { getAlerts, getPerMinute, getSilences, getStatus, getWebhooks } from './api.js'
import { refreshCharts } from './charts.js'
import { loadPastAlerts } from './past-alerts.js'
import { change, current } from './state.js'
import { loadView } from './views.js'

/** The shortest time between two snapshots, however many events arrive. */
const PAUSE_MS = 1000
const CHART_MINUTES = 60
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

/** Updates ages each second, takes a new snapshot when the last one is too old, and loads charts again. */
export function startClock() {
  setInterval(() => {
    const now = performance.now()
    change({ now })
    refreshCharts(now)
    const { snapshot, connected } = current()
    const age = snapshot === undefined ? Infinity : (now - snapshot.takenAt) / 1000
    if (!connected || age >= periodOf(snapshot)) void refresh()
  }, 1000)
}

/** @param {import('./state.js').Snapshot | undefined} snapshot */
function periodOf(snapshot) {
  const intervals = snapshot?.status.targets.map(({ interval_seconds }) => interval_seconds) ?? []
  return Math.min(MAX_PERIOD_SECONDS, Math.max(MIN_PERIOD_SECONDS, ...intervals))
}

async function takeSnapshot() {
  try {
    const before = current().snapshot
    const [status, { alerts }, { silences, read_only: readOnly = false }, { webhooks }, perMinute] = await Promise.all([
      getStatus(),
      getAlerts(),
      // Only these are read from the store, which may be unavailable.
      getSilences().catch(() => ({ silences: before?.silences ?? [], read_only: before?.readOnly })),
      getWebhooks().catch(() => ({ webhooks: before?.webhooks ?? [] })),
      getPerMinute(CHART_MINUTES),
    ])
    const now = performance.now()
    change({
      snapshot: { status, alerts, silences, readOnly, webhooks, perMinute, takenAt: now },
      connected: true,
      now,
    })
    if (before === undefined) loadView()
    void loadPastAlerts()
  } catch {
    change({ connected: false, now: performance.now() })
  }
}
