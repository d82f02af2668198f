import { html } from '../html.js'
import { zoneName } from '../model/format.js'
import { minutesOf, STATUSES } from '../model/totals.js'
import { Chart } from './chart.js'

/** @import { PerMinute } from '../model/api.js' */
/** @import { Chart as Shown } from '../model/chart.js' */
/** @import { State } from '../model/state.js' */

/**
 * Finished calls per minute of the last hour, as a chart and as a table.
 *
 * @param {{ state: State }} props
 */
export function FinishedPerMinute({ state }) {
  const { snapshot, target } = state
  if (snapshot === undefined) return undefined
  return html`<${Chart} chart=${memoizedChart(snapshot.perMinute, target)} state=${state} />`
}

/** @type {{ perMinute?: PerMinute, target?: string, zone?: string, chart?: Shown }} */
let latest = {}

/**
 * Returns the same chart until the data, the target or the zone change, so that it is not drawn again.
 *
 * @param {PerMinute} perMinute
 * @param {string} target
 */
function memoizedChart(perMinute, target) {
  const zone = zoneName()
  if (latest.chart !== undefined && latest.perMinute === perMinute && latest.target === target && latest.zone === zone)
    return latest.chart
  const chart = chartOf(perMinute, target)
  latest = { perMinute, target, zone, chart }
  return chart
}

/**
 * @param {PerMinute} perMinute
 * @param {string} target
 * @returns {Shown}
 */
function chartOf(perMinute, target) {
  const minutes = minutesOf(perMinute, target)
  return {
    id: 'per-minute',
    title: 'Finished calls per minute',
    about: 'Chart of the finished calls per minute of the last hour by status',
    times: minutes.map(({ at }) => at),
    step: perMinute.step_seconds,
    // The minute of the last poll is incomplete.
    complete: minutes.findLastIndex(({ counts }) => counts !== undefined),
    unit: 'calls',
    series: STATUSES.map((status) => ({
      name: status,
      colour: status,
      shape: 'bar',
      values: minutes.map(({ counts }) => counts?.[status] ?? null),
    })),
  }
}
