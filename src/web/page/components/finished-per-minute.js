import { html } from '../html.js'
import { clock, count, zone } from '../model/format.js'
import { minutesOf, STATUSES } from '../model/totals.js'
import { Section } from './section.js'
import { StackedBars } from './stacked-bars.js'
import { Table } from './table.js'

/** @import { PerMinute } from '../model/api.js' */
/** @import { State } from '../model/state.js' */
/** @import { Minutes } from '../model/totals.js' */

/**
 * Finished calls per minute of the last hour, as a chart and as a table.
 *
 * @param {{ state: State }} props
 */
export function FinishedPerMinute({ state: { snapshot, target, hovered } }) {
  if (snapshot === undefined) return undefined
  const { perMinute, status } = snapshot
  const minutes = memoizedMinutes(perMinute, target)
  const known = minutes.filter(({ counts }) => counts !== undefined)
  // The minute of the last poll is incomplete.
  const [complete, last] = known.slice(-2)
  const shown = (hovered === undefined ? undefined : minutes[hovered]) ?? complete ?? last
  const note = shown === undefined ? '' : `${time(shown.at)} ${zone(status.now)}`
  return html`<${Section}
    id="per-minute"
    title="Finished calls per minute"
    note=${html`<span class="soft">${note}</span>`}
  >
    <dl class="legend">
      ${STATUSES.map(
        (status) =>
          html`<div key=${status}>
            <dt>
              <svg viewBox="0 0 10 10" aria-hidden="true"><rect class=${`fill ${status}`} width="10" height="10" /></svg
              >${status}
            </dt>
            <dd>${shown?.counts === undefined ? '–' : count(shown.counts[status])}</dd>
          </div>`,
      )}
    </dl>
    <div
      class="drawing"
      role="img"
      aria-label="Chart of the finished calls per minute of the last hour by status. The table below has the same numbers."
    >
      <${StackedBars} minutes=${minutes} />
    </div>
    <details>
      <summary>The chart as a table</summary>
      <${Table}
        label="Finished calls per minute"
        caption="Finished calls per minute, newest first"
        columns=${[`Minute (${zone(status.now)})`, ...STATUSES]}
        isNumeric
        isTall
      >
        ${minutes.toReversed().map(row)}
      <//>
    </details>
  <//>`
}

/** @param {Minutes[number]} minute */
function row({ at, counts }) {
  return html`<tr key=${at}>
    <th scope="row">${time(at)}</th>
    ${STATUSES.map((status) => html`<td>${counts === undefined ? '–' : count(counts[status])}</td>`)}
  </tr>`
}

/** @param {number} at UNIX seconds */
const time = (at) => clock(new Date(at * 1000).toISOString()).slice(0, 5)

/** @type {{ perMinute?: PerMinute, target?: string, minutes: Minutes }} */
let latest = { minutes: [] }

/**
 * Returns the same minutes until the data or the target change, so that the chart is not redrawn.
 *
 * @param {PerMinute} perMinute
 * @param {string} target
 */
function memoizedMinutes(perMinute, target) {
  if (latest.perMinute !== perMinute || latest.target !== target) {
    latest = { perMinute, target, minutes: minutesOf(perMinute, target) }
  }
  return latest.minutes
}
