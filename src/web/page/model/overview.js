import { healthOf, isStale, snapshotAge } from './notices.js'
import { mainWindow, minutesOf, shownAlerts, shownTargets, urgencyOf } from './totals.js'

/** @import { Alert, Target } from './api.js' */
/** @import { State } from './state.js' */
/** @import { Minutes } from './totals.js' */

/**
 * A target in the overview, with its alerts, the most urgent first.
 *
 * @typedef {object} OverviewRow
 * @property {Target} target
 * @property {'up' | 'stale' | 'down'} health
 * @property {boolean} stale
 * @property {Alert[]} alerts
 * @property {ReturnType<typeof mainWindow>} main
 * @property {Minutes} minutes
 */

/**
 * The selected targets, worst first: failing polls, then firing alerts, then the failure ratio.
 *
 * @param {State} state
 * @returns {OverviewRow[]}
 */
export function overviewOf(state) {
  const [age, alerts] = [snapshotAge(state), Map.groupBy(shownAlerts(state), ({ target }) => target)]
  return shownTargets(state)
    .map((target) => ({
      target,
      health: healthOf(target, age),
      stale: isStale(target, age),
      alerts: alerts.get(target.name) ?? [],
      main: mainWindow([target]),
      minutes: state.snapshot === undefined ? [] : minutesOf(state.snapshot.perMinute, target.name),
    }))
    .toSorted((a, b) => differences(a, b).find((difference) => difference !== 0) ?? 0)
}

/**
 * How two targets differ, the most important first; below zero if the first one is worse.
 *
 * @param {OverviewRow} a
 * @param {OverviewRow} b
 */
function differences(a, b) {
  const failing = (/** @type {OverviewRow} */ { health }) => (health === 'up' ? 1 : 0)
  const urgency = (/** @type {OverviewRow} */ { alerts: [first] }) => urgencyOf(first)
  return [failing(a) - failing(b), urgency(a) - urgency(b), (b.main?.any ?? -1) - (a.main?.any ?? -1)]
}
