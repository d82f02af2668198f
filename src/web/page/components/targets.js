import { html } from '../html.js'
import { count, duration, minutes, moment, plain, zone } from '../model/format.js'
import { healthOf, isStale, snapshotAge } from '../model/notices.js'
import { overviewOf } from '../model/overview.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { State } from '../model/state.js' */
/** @import { Target } from '../model/api.js' */

/**
 * The health and the totals of each target.
 *
 * @param {{ state: State }} props
 */
export function Targets({ state }) {
  const targets = overviewOf(state).map(({ target }) => target)
  const isShared = (state.snapshot?.status.targets ?? []).some(({ owner }) => owner !== undefined)
  const age = snapshotAge(state)
  const now = state.snapshot?.status.now ?? ''
  const health = [
    'Target',
    'Health',
    'Last successful poll',
    'Requests in the last minute',
    'Last complete sweep',
    'Tracked calls',
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
    `Since (${zone(now)})`,
  ]
  return html`<${Section} id="targets" title="Targets">
    <${Table} label="Health of the targets" caption="Health of the targets" columns=${health} isNumeric isTall>
      ${targets.map((target) => healthRow(target, age, isShared))}
    <//>
    <h3>Totals (call-level minutes)</h3>
    <${Table}
      label="Totals of the targets"
      caption="Calls and call-level minutes since the set-up of each target"
      columns=${totals}
      isNumeric
      isTall
    >
      ${targets.map((target) => totalsRow(target, age, now))}
    <//>
  <//>`
}

/**
 * @param {Target} target
 * @param {number} age of the snapshot (seconds)
 * @param {boolean} isShared whether several daemons share the targets
 */
function healthRow(target, age, isShared) {
  const { name, owner, last_success, lag_seconds, sweep_age_seconds, requests_last_minute, max_requests_per_minute } =
    target
  return html`<tr key=${name} data-target=${name} class=${isStale(target, age) ? 'stale' : ''}>
    <th scope="row">
      ${name}
      ${isShared && html`<span class="owner" data-cell="owner">${owner === undefined ? html`<b class="bad">no owner</b>` : `owner: ${owner}`}</span>`}
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
  const { problem, rate_limit_pause_seconds: held, slow_sweep, refused_from_page, warnings = [] } = target
  const { slowed_to_requests_per_minute: slowed } = target
  const state = healthOf(target, age)
  const words = [
    ...(problem === undefined ? [] : [plain(problem)]),
    ...(held > age ? [`rate limit pause: no requests for ${duration(held - age)}`] : []),
    ...(slowed === undefined ? [] : [`the service has ${slowed} requests a minute left for callwatch`]),
    ...(slow_sweep === undefined
      ? []
      : [`a sweep of ${count(slow_sweep.pages)} pages takes ${duration(slow_sweep.seconds)}`]),
    ...(refused_from_page === undefined
      ? []
      : [`the service refuses page ${refused_from_page} of its list and later pages`]),
    ...warnings.map(({ message }) => message),
  ]
  return html`<span class=${`badge ${state === 'up' ? 'good' : 'bad'}`}>${state}</span
    >${words.length > 0 && html` <span class="words">${words.join('; ')}</span>`}`
}

/**
 * @param {Target} target
 * @param {number} age
 * @param {string} now
 */
function totalsRow(target, age, now) {
  const { name, started, finished, minutes: media, created } = target
  const { ended, unanswered, rejected, canceled, other, lost } = finished
  const numbers = { started, ended, unanswered, rejected, canceled, other, lost }
  return html`<tr key=${name} data-totals=${name} class=${isStale(target, age) ? 'stale' : ''}>
    <th scope="row">${name}</th>
    ${Object.entries(numbers).map(([cell, value]) => html`<td data-cell=${cell}>${count(value)}</td>`)}
    <td data-cell="audio">${minutes(media.audio)}</td>
    <td data-cell="video">${minutes(media.video)}</td>
    <td>${moment(created, now)}</td>
  </tr>`
}
