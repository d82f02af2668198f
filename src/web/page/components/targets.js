import { html } from '../html.js'
import { count, duration, minutes, moment, plain } from '../model/format.js'
import { isOld, secondsSince } from '../model/staleness.js'
import { shownTargets } from '../model/totals.js'
import { Section } from './section.js'
import { Wide } from './wide.js'

/** @import { State } from '../model/state.js' */
/** @import { Target } from '../model/api.js' */

/**
 * How each target is doing, and what was counted of it for good.
 *
 * @param {{ state: State }} props
 */
export function Targets({ state }) {
  const targets = shownTargets(state)
  const isShared = (state.snapshot?.status.targets ?? []).some(({ owner }) => owner !== undefined)
  const age = secondsSince(state)
  const now = state.snapshot?.status.now ?? ''
  const health = [
    'Target',
    'Health',
    'Last good poll',
    'Requests in the last minute',
    'Last whole sweep',
    'Remembered calls',
  ]
  const totals = [
    'Target',
    'Started',
    'Ended',
    'Unanswered',
    'Rejected',
    'Canceled',
    'Other',
    'Lost',
    'Audio min',
    'Video min',
    'Counted since (UTC)',
  ]
  return html`<${Section} id="targets" title="Targets">
    <${Wide} label="Health of the targets">
      <table class="numbers">
        <caption class="announced">
          Health of the targets
        </caption>
        <thead>
          <tr>
            ${health.map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${targets.map((target) => healthRow(target, age, isShared))}
        </tbody>
      </table>
    <//>
    <h3>Counted so far (minutes of calls, not of participants)</h3>
    <${Wide} label="What was counted of each target">
      <table class="numbers">
        <caption class="announced">
          Calls and call-level minutes counted since each target was set up
        </caption>
        <thead>
          <tr>
            ${totals.map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${targets.map((target) => totalsRow(target, now))}
        </tbody>
      </table>
    <//>
  <//>`
}

/**
 * @param {Target} target
 * @param {number} age of the snapshot (seconds)
 * @param {boolean} isShared whether several daemons may watch the targets
 */
function healthRow(target, age, isShared) {
  const { name, owner, last_success, lag_seconds, sweep_age_seconds, requests_last_minute, max_requests_per_minute } =
    target
  return html`<tr key=${name} data-target=${name}>
    <th scope="row">
      ${name}
      ${isShared && html`<span class="owner" data-cell="owner">watched by ${owner ?? html`<b class="bad">nobody</b>`}</span>`}
    </th>
    <td data-cell="health">${health(target, age)}</td>
    <td>${last_success === null ? 'never' : `${duration(lag_seconds + age)} ago`}</td>
    <td data-cell="requests">
      ${count(requests_last_minute)} of ${count(max_requests_per_minute)}
      <meter
        aria-label=${`Requests of ${name} against the budget`}
        max=${max_requests_per_minute}
        value=${requests_last_minute}
        high=${max_requests_per_minute * 0.9}
      />
    </td>
    <td>${sweep_age_seconds === null ? 'none yet' : `${duration(sweep_age_seconds + age)} ago`}</td>
    <td>${count(target.tracked_calls)}</td>
  </tr>`
}

/**
 * @param {Target} target
 * @param {number} age
 */
function health(target, age) {
  const { up, problem, held_back_seconds: held, slow_sweep, refused_from_page, warnings = [] } = target
  const old = isOld(target, age)
  const tone = up && !old ? 'good' : 'bad'
  const words = [
    ...(problem === undefined ? [] : [plain(problem)]),
    ...(held > age ? [`the service asked for a pause: no request for ${duration(held - age)}`] : []),
    ...(slow_sweep === undefined
      ? []
      : [`a sweep of ${count(slow_sweep.pages)} pages takes ${duration(slow_sweep.seconds)}`]),
    ...(refused_from_page === undefined ? [] : [`the service refuses its list from page ${refused_from_page} on`]),
    ...warnings.map(({ message }) => message),
  ]
  return html`<span class=${`badge ${tone}`}>${up ? (old ? 'late' : 'up') : 'down'}</span
    >${words.length > 0 && html` <span class="words">${words.join('; ')}</span>`}`
}

/**
 * @param {Target} target
 * @param {string} now
 */
function totalsRow({ name, started, finished, minutes: media, created }, now) {
  const { ended, unanswered, rejected, canceled, other, lost } = finished
  const numbers = { started, ended, unanswered, rejected, canceled, other, lost }
  return html`<tr key=${name} data-totals=${name}>
    <th scope="row">${name}</th>
    ${Object.entries(numbers).map(([cell, value]) => html`<td data-cell=${cell}>${count(value)}</td>`)}
    <td data-cell="audio">${minutes(media.audio)}</td>
    <td data-cell="video">${minutes(media.video)}</td>
    <td>${moment(created, now)}</td>
  </tr>`
}
