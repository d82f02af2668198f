import { html } from '../html.js'
import { clock, count, minutes, moment, plain } from '../model/format.js'
import { askForCalls } from '../model/finished-calls.js'
import { STATUSES } from '../model/totals.js'
import { Section } from './section.js'
import { Wide } from './wide.js'

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
const MOST_ROWS = 1000
const COLUMNS = [
  'Finished (UTC)',
  'Status',
  'Type',
  'Mode',
  'With',
  'Began (UTC)',
  'Participants',
  'Audio min',
  'Video min',
  'Session',
  'Target',
]

/**
 * Calls of the history, by status and time, and of the target that is shown; as a table and as CSV.
 *
 * @param {{ state: State }} props
 */
export function FinishedCalls({ state }) {
  const { status, since, from, limit, answer, problem, query, asOf } = state.finishedCalls
  const calls = answer?.calls ?? []
  return html`<${Section} id="finished-calls" title="Finished calls">
    <form
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault()
        void askForCalls()
      }}
    >
      <label
        >Status
        <select
          id="calls-status"
          value=${status}
          onChange=${chosen((value) => askForCalls({ status: value, limit: 50 }))}
        >
          <option value="">all</option>
          ${STATUSES.map((name) => html`<option value=${name}>${name}</option>`)}
        </select>
      </label>
      <label
        >Since
        <select id="calls-since" value=${since} onChange=${chosen((value) => askForCalls({ since: value, limit: 50 }))}>
          ${SINCE.map(([value, name]) => html`<option value=${value} selected=${value === since}>${name}</option>`)}
        </select>
      </label>
      ${
        since === 'time' &&
        html`<label
          >Time (UTC)
          <input
            id="calls-from"
            type="datetime-local"
            required
            value=${from}
            onChange=${chosen((value) => askForCalls({ from: value, limit: 50 }))}
          />
        </label>`
      }
      <button type="submit">Refresh</button>
      ${query !== '' && html`<a class="button" href=${`api/v1/calls?${query}&format=csv`} download="callwatch-calls.csv">Download CSV</a>`}
    </form>
    <p class="soft" id="calls-note">
      ${answer === undefined ? 'Not asked yet.' : `${count(calls.length)} ${answer.truncated === true ? 'newest ' : ''}calls, as of ${clock(asOf)} UTC${state.target === '' ? '' : `, of ${state.target}`}.`}
      ${problem !== undefined && html` <strong class="bad">${problem}</strong>`}
    </p>
    <${Wide} label="Finished calls" class="tall">
      <table>
        <caption class="announced">
          Finished calls, the newest first
        </caption>
        <thead>
          <tr>
            ${COLUMNS.map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${calls.map((call) => row(call, asOf))}
        </tbody>
      </table>
    <//>
    ${
      answer?.truncated === true &&
      limit < MOST_ROWS &&
      html`<button type="button" onClick=${() => askForCalls({ limit: MOST_ROWS })}>
        Show up to ${count(MOST_ROWS)}
      </button>`
    }
  <//>`
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

/** @param {(value: string) => unknown} choose */
const chosen =
  (choose) =>
  (/** @type {any} */ { target }) =>
    void choose(target.value)
