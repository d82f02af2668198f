import { getPastAlerts } from './api.js'
import { change, current } from './state.js'

/** @import { Snapshot, State } from './state.js' */
/** @import { PastAlert } from './api.js' */

/** What the loaded alerts were loaded for. */
let loadedFor = ''

/** Loads the alerts of the last seven days again where the alerts that fire have changed, and each minute. */
export async function loadPastAlerts() {
  const { snapshot } = current()
  const wanted = snapshot === undefined ? '' : stateOf(snapshot)
  if (wanted === loadedFor) return
  loadedFor = wanted
  try {
    const { alerts } = await getPastAlerts('since=7d')
    change({ pastAlerts: alerts })
  } catch {
    // The next snapshot tries again.
    loadedFor = ''
  }
}

/** @param {Snapshot} snapshot */
const stateOf = ({ status: { now }, alerts }) =>
  JSON.stringify([
    now.slice(0, 16),
    ...alerts.map(({ target, alert, labels, firing_since }) => [target, alert, labels, firing_since]),
  ])

/**
 * The alerts of the selected target that have ended, newest first.
 *
 * @param {State} state
 * @returns {(PastAlert & { until: string })[]}
 */
export const shownPastAlerts = ({ pastAlerts, target }) =>
  pastAlerts.flatMap((alert) =>
    alert.until !== null && (target === '' || alert.target === target) ? [{ ...alert, until: alert.until }] : [],
  )
