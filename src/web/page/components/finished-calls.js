import { html } from '../html.js'
import { count, minutes, moment, momentInZone, plain, zone } from '../model/format.js'
import { loadCalls } from '../model/finished-calls.js'
import { STATUSES } from '../model/totals.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { State } from '../model/state.js' */
/** @import { Call } from '../model/api.js' */

const SINCE = [
  ['900', 'the last 15 minutes'],
  ['3600', 'the last hour'],
  ['86400', 'the last 24 hours'],
  ['604800', 'the last 7 days'],
  ['2592000', 'the last 30 days'],
  ['time', 'a time…'],
]
const MAX_ROWS = 1000

/**
 * Finished calls of the selected target by status and time, as a table and as CSV.
 *
 * @param {{ state: State }} props
 */
export function FinishedCalls({ state }) {
  const { status, since, from, limit, answer, query, asOf } = state.finishedCalls
  const now = state.snapshot?.status.now ?? ''
  const calls = answer?.calls ?? []
  const columns = [
    `Finished (${zone(now)})`,
    'Status',
    'Type',
    'Mode',
    'Receiver',
    'Began',
    'Participants',
    'Audio min',
    'Video min',
    'Session',
    'Target',
  ]
  return html`<${Section} id="finished-calls" title="Finished calls">
    <form
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault()
        void loadCalls()
      }}
    >
      <label
        >Status
        <select
          id="calls-status"
          value=${status}
          onChange=${onValue((value) => loadCalls({ status: value, limit: 50 }))}
        >
          <option value="">all</option>
          ${STATUSES.map((name) => html`<option value=${name}>${name}</option>`)}
        </select>
      </label>
      <label
        >Since
        <select id="calls-since" value=${since} onChange=${onValue((value) => loadCalls({ since: value, limit: 50 }))}>
          ${SINCE.map(([value, name]) => html`<option value=${value} selected=${value === since}>${name}</option>`)}
        </select>
      </label>
      ${
        since === 'time' &&
        html`<label
          >Time (${zone(now)})
          <input
            id="calls-from"
            type="datetime-local"
            required
            value=${from}
            onChange=${onValue((value) => loadCalls({ from: value, limit: 50 }))}
          />
        </label>`
      }
      <button type="submit">Refresh</button>
      ${query !== '' && html`<a class="button" href=${`api/v1/calls?${query}&format=csv`} download="callwatch-calls.csv">Download CSV</a>`}
    </form>
    ${note(state, now)}
    <${Table} label="Finished calls" caption="Finished calls, newest first" columns=${columns} isTall>
      ${calls.map((call) => row(call, asOf))}
    <//>
    ${
      answer?.truncated === true &&
      limit < MAX_ROWS &&
      html`<button type="button" onClick=${() => loadCalls({ limit: MAX_ROWS })}>Show up to ${count(MAX_ROWS)}</button>`
    }
  <//>`
}

/**
 * @param {State} state
 * @param {string} now
 */
function note({ target, finishedCalls: { answer, problem, asOf } }, now) {
  const calls = answer && `${count(answer.calls.length)} ${answer.truncated === true ? 'newest ' : ''}calls`
  const ofTarget = target === '' ? '' : ` of ${target}`
  const text = calls === undefined ? 'Not loaded yet.' : `${calls}${ofTarget}, as of ${momentInZone(asOf, now)}.`
  return html`<p class="soft" id="calls-note">
    ${text}${problem !== undefined && html` <strong class="bad">${problem}</strong>`}
  </p>`
}

/**
 * @param {Call} call
 * @param {string} now
 */
function row(
  { target, session_id, type, mode, receiver_type, status, began, finished = '', participants, minutes: media },
  now,
) {
  return html`<tr key=${`${target}|${session_id}`}>
    <td>${moment(finished, now)}</td>
    <td><b class=${status}>${status}</b></td>
    <td>${type}</td>
    <td>${mode}</td>
    <td>${receiver_type}</td>
    <td>${moment(began, now)}</td>
    <td class="number">${count(participants)}</td>
    <td class="number">${minutes(media.audio)}</td>
    <td class="number">${minutes(media.video)}</td>
    <td class="session">${plain(session_id)}</td>
    <td>${target}</td>
  </tr>`
}

/** @param {(value: string) => unknown} handle */
const onValue =
  (handle) =>
  (/** @type {any} */ { target }) =>
    void handle(target.value)
