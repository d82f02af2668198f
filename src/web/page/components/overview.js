import { html } from '../html.js'
import { count, percent } from '../model/format.js'
import { overviewOf } from '../model/overview.js'
import { sum } from '../model/totals.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { OverviewRow } from '../model/overview.js' */
/** @import { State } from '../model/state.js' */
/** @import { Minutes } from '../model/totals.js' */

const COLUMNS = ['Target', 'Status', 'Failed', 'Calls in the last hour', 'In progress']

/**
 * A line for each target, worst first; absent where one target is shown.
 *
 * @param {{ state: State }} props
 */
export function Overview({ state }) {
  const rows = overviewOf(state)
  if (rows.length < 2) return false
  const note = html`<span class="soft">worst first</span>`
  return html`<${Section} id="overview" title=${`${count(rows.length)} targets`} note=${note}>
    <${Table} label="Overview of the targets" caption="Status of each target, worst first" columns=${COLUMNS}>
      ${rows.map(row)}
    <//>
  <//>`
}

/** @param {OverviewRow} row */
function row({ target: { name, in_progress }, health, stale, alerts, main, minutes }) {
  const [first] = alerts
  const severity = first === undefined || first.state === 'pending' ? '' : first.severity
  const tone = health === 'up' ? severity : 'critical'
  return html`<tr key=${name} data-overview=${name} class=${`${tone} ${stale ? 'stale' : ''}`}>
    <th scope="row"><a href=${`#${new URLSearchParams({ target: name })}`}>${name}</a></th>
    <td data-cell="status">
      <span class=${`badge ${health === 'up' ? 'good' : 'bad'}`}>${health}</span>
      ${['firing', 'recovering', 'pending'].map((state) => {
        const some = alerts.filter((alert) => alert.state === state)
        return (
          some.length > 0 &&
          html` <span class=${`badge ${state === 'pending' ? '' : severity}`}>${count(some.length)} ${state}</span>`
        )
      })}
    </td>
    <td data-cell="failed" class="number">
      ${percent(main?.any)} <span class="soft">${main === undefined ? '' : `in ${main.window}`}</span>
    </td>
    <td data-cell="hour" class="number"><${Sparkline} minutes=${minutes} /></td>
    <td data-cell="in-progress" class="number">${count(in_progress)}</td>
  </tr>`
}

const HEIGHT = 20

/**
 * The finished calls of each minute, and those of them that failed. The number beside them is their sum.
 *
 * @param {{ minutes: Minutes }} props
 */
function Sparkline({ minutes }) {
  const known = minutes.map(({ counts }) => {
    if (counts === undefined) return { all: 0, failed: 0 }
    const failed = counts.unanswered + counts.rejected + counts.canceled
    return { all: failed + counts.ended + counts.other, failed }
  })
  const highest = Math.max(1, ...known.map(({ all }) => all))
  const bars = (/** @type {'all' | 'failed'} */ which) =>
    known.map((one, i) => `M${i + 0.5} ${HEIGHT}v${((-one[which] * HEIGHT) / highest).toFixed(2)}`).join('')
  return html`${count(sum(known, ({ all }) => all))}
    <svg class="spark" viewBox=${`0 0 ${minutes.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="ended" d=${bars('all')} />
      <path class="rejected" d=${bars('failed')} />
    </svg>`
}
