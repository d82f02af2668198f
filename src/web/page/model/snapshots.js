import { getAlerts, getPerMinute, getSilences, getStatus } from './api.js'
import { askForCalls } from './finished-calls.js'
import { change, current } from './state.js'

/** Between two snapshots, however much happens (milliseconds). */
const PAUSE = 1000
/** The chart's. */
const MINUTES = 60
/** Without any event there is a new one as often as targets are looked at, within these bounds (seconds). */
const [OFTENEST, SELDOMEST] = [2, 15]

let isRunning = false
let isWanted = false

/** Takes a new snapshot, now or when the one that is being taken and a pause are over. */
export async function refresh() {
  isWanted = true
  if (isRunning) return
  isRunning = true
  while (isWanted) {
    isWanted = false
    await take()
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
  isRunning = false
}

/** Lets time pass: each second ages grow, and now and then there is a new snapshot. */
export function keepTime() {
  setInterval(() => {
    const now = performance.now()
    change({ now })
    const { snapshot, connected } = current()
    const age = snapshot === undefined ? Infinity : (now - snapshot.takenAt) / 1000
    if (!connected || age >= periodOf(snapshot)) void refresh()
  }, 1000)
}

/** @param {import('./state.js').Snapshot | undefined} snapshot */
function periodOf(snapshot) {
  const intervals = snapshot?.status.targets.map(({ interval_seconds }) => interval_seconds) ?? []
  return Math.min(SELDOMEST, Math.max(OFTENEST, ...intervals))
}

async function take() {
  try {
    const before = current().snapshot
    const [status, { alerts }, { silences }, perMinute] = await Promise.all([
      getStatus(),
      getAlerts(),
      // They alone are read from the store, which may be away while all else is known.
      getSilences().catch(() => ({ silences: before?.silences ?? [] })),
      getPerMinute(MINUTES),
    ])
    const now = performance.now()
    change({ snapshot: { status, alerts, silences, perMinute, takenAt: now }, connected: true, now })
    if (before === undefined) void askForCalls()
  } catch {
    change({ connected: false, now: performance.now() })
  }
}
