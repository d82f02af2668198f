import { html } from '../html.js'
import { clock, count } from '../model/format.js'
import { minutesOf, STATUSES } from '../model/totals.js'
import { Section } from './section.js'
import { StackedBars } from './stacked-bars.js'
import { Wide } from './wide.js'

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
  const minutes = minutesOnce(snapshot.perMinute, target)
  const known = minutes.filter(({ counts }) => counts !== undefined)
  // The minute of the last look is not over.
  const [before, last] = known.slice(-2)
  const shown = (hovered === undefined ? undefined : minutes[hovered]) ?? before ?? last
  const note = shown === undefined ? '' : `${time(shown.at)} UTC`
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
      aria-label="Chart of the finished calls of each minute of the last hour by status. The table below has its numbers."
    >
      <${StackedBars} minutes=${minutes} />
    </div>
    <details>
      <summary>The chart as a table</summary>
      <${Wide} label="Finished calls per minute" class="tall"><${Table} minutes=${minutes} /><//>
    </details>
  <//>`
}

/** @param {{ minutes: Minutes }} props */
function Table({ minutes }) {
  return html`<table class="numbers">
    <caption class="announced">
      Finished calls per minute, the newest first
    </caption>
    <thead>
      <tr>
        <th scope="col">Minute (UTC)</th>
        ${STATUSES.map((status) => html`<th scope="col">${status}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${minutes.toReversed().map(
        ({ at, counts }) =>
          html`<tr key=${at}>
            <th scope="row">${time(at)}</th>
            ${STATUSES.map((status) => html`<td>${counts === undefined ? '–' : count(counts[status])}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`
}

/** @param {number} at UNIX seconds */
const time = (at) => clock(new Date(at * 1000).toISOString()).slice(0, 5)

/** @type {{ perMinute?: PerMinute, target?: string, minutes: Minutes }} */
let latest = { minutes: [] }

/**
 * The same minutes for as long as nothing else is to be drawn.
 *
 * @param {PerMinute} perMinute
 * @param {string} target
 */
function minutesOnce(perMinute, target) {
  if (latest.perMinute !== perMinute || latest.target !== target) {
    latest = { perMinute, target, minutes: minutesOf(perMinute, target) }
  }
  return latest.minutes
}
