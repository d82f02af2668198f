import { html } from '../html.js'
import { count, duration, minutes, momentInZone, percent } from '../model/format.js'
import { presetPeriod } from '../model/period.js'
import { KEYS, keysOf, totalOf } from '../model/usage.js'
import { changeAddress } from '../model/views.js'
import { Coverage } from './coverage.js'
import { PeriodInputs } from './filters.js'
import { Section } from './section.js'
import { Table } from './table.js'
import { TargetSelect } from './target-select.js'

/** @import { State } from '../model/state.js' */
/** @import { Report } from '../model/api.js' */

const PRESETS = /** @type {const} */ ([
  ['month', 'this month'],
  ['last-month', 'last month'],
  ['7d', 'the last 7 days'],
])
const NAMES = { day: 'Day', target: 'Target', type: 'Type', mode: 'Mode', receiver_type: 'Receiver type' }

/**
 * What was used in a period, and when callwatch did not see the targets.
 *
 * @param {{ state: State }} props
 */
export function Usage({ state }) {
  const { usage, snapshot } = state
  const now = snapshot?.status.now ?? ''
  // Times that the reader is changing must not advance.
  const time = Date.parse(usage.asOf || now)
  const query = new URLSearchParams(state.query)
  if (!query.get('since')) query.set('since', presetPeriod('month', time).since)
  const by = keysOf(query)
  const toggle = (/** @type {string} */ key) => {
    const keys = KEYS.filter((one) => by.includes(one) !== (one === key))
    changeAddress({ by: keys.join() || 'none' })
  }
  return html`<${Section} id="usage-report" title="Usage">
    <form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${PeriodInputs} query=${query} presets=${PRESETS} time=${time} now=${now} />
      <${TargetSelect} state=${state} />
      <fieldset>
        <legend>A row for each</legend>
        ${KEYS.map(
          (key) =>
            html`<label class="check"
              ><input type="checkbox" checked=${by.includes(key)} onChange=${() => toggle(key)} />
              ${NAMES[key].toLowerCase()}</label
            >`,
        )}
      </fieldset>
      <a class="button" href=${`api/v1/report?${usage.request}&format=csv`} download="callwatch-usage.csv"
        >Download CSV</a
      >
    </form>
    <div id="usage-note" aria-live="polite">
      ${usage.problem !== undefined && html`<p><strong class="bad">${usage.problem}</strong></p>`}
      ${usage.answer === undefined && usage.problem === undefined && html`<p class="soft">Adding up…</p>`}
      ${
        usage.answer !== undefined &&
        html`<p>
          ${`Calls that finished from ${momentInZone(usage.answer.since, now)} until ${momentInZone(usage.answer.until, now)}. Days are those of ${usage.answer.zone}.`}
        </p>`
      }
    </div>
    ${usage.answer !== undefined && html`<${Coverage} coverage=${usage.answer.coverage} now=${now} /> ${table(usage.answer.rows, by)}`}
  <//>`
}

/**
 * @param {Report['rows']} rows
 * @param {readonly (typeof KEYS)[number][]} by
 */
function table(rows, by) {
  if (rows.length === 0) return html`<p class="soft">No call finished in this period.</p>`
  const keys = by.map((key) => NAMES[key])
  const columns = [
    ...(keys.length === 0 ? ['Rows'] : keys),
    'Calls',
    'Ended',
    'Unanswered',
    'Rejected',
    'Canceled',
    'Other',
    'Lost',
    'Audio min',
    'Video min',
    'Participant audio min',
    'Participant video min',
    'Failure ratio',
    'Mean duration',
    '95th percentile',
    'Noticed late',
  ]
  const first = Math.max(1, keys.length)
  return html`<${Table}
    label="Usage"
    caption="Calls by outcome, minutes and durations"
    columns=${columns}
    numbersFrom=${first}
  >
    ${rows.map(
      (row) =>
        html`<tr key=${by.map((key) => row[key]).join('|')}>
          ${by.map((key, i) => (i === 0 ? html`<th scope="row">${row[key]}</th>` : html`<td>${row[key]}</td>`))}
          ${by.length === 0 && html`<th scope="row">all</th>`} ${sums(row)}
          <td class="number">${row.failure_ratio === null ? '–' : percent(row.failure_ratio)}</td>
          <td class="number">${lasting(row.duration_seconds.mean)}</td>
          <td class="number">${lasting(row.duration_seconds.p95)}</td>
          <td class="number">${count(row.noticed_late)}</td>
        </tr>`,
    )}
    ${rows.length > 1 && total(rows, first)}
  <//>`
}

/** @param {Pick<Report['rows'][number], 'calls' | 'minutes' | 'participant_minutes'>} row */
function sums({ calls, minutes: media, participant_minutes: participants }) {
  const { ended, unanswered, rejected, canceled, other, lost } = calls
  const outcomes = [ended, unanswered, rejected, canceled, other, lost]
  const all = outcomes.reduce((a, b) => a + b, 0)
  const times = [media.audio, media.video, participants.audio, participants.video]
  return [...[all, ...outcomes].map(count), ...times.map(minutes)].map((text) => html`<td class="number">${text}</td>`)
}

/**
 * @param {Report['rows']} rows
 * @param {number} span the columns of its name
 */
function total(rows, span) {
  const sum = totalOf(rows)
  return html`<tr key="all" class="total">
    <th scope="row" colspan=${span}>all</th>
    ${sums(sum)}
    <td class="number" colspan="3"></td>
    <td class="number">${count(sum.noticed_late)}</td>
  </tr>`
}

/** @param {number | null} seconds */
const lasting = (seconds) => (seconds === null ? '–' : duration(seconds))
