import { html } from '../html.js'
import { addressOf } from '../model/address.js'
import { count, momentInZone, zone } from '../model/format.js'
import { loadCalls } from '../model/finished-calls.js'
import { addressTime } from '../model/period.js'
import { STATUSES } from '../model/totals.js'
import { CallsTable } from './calls-table.js'
import { onValue, Select } from './fields.js'
import { Section } from './section.js'

/** @import { State } from '../model/state.js' */

const SINCE = [
  ['900', 'the last 15 minutes'],
  ['3600', 'the last hour'],
  ['86400', 'the last 24 hours'],
  ['604800', 'the last 7 days'],
  ['2592000', 'the last 30 days'],
  ['time', 'a time…'],
]
const STATUS_OPTIONS = [['', 'all'], ...STATUSES.map((name) => [name, name])]

/**
 * The newest finished calls of the selected target by status and time; the view of calls has all of them.
 *
 * @param {{ state: State }} props
 */
export function FinishedCalls({ state }) {
  const { status, since, from, answer, query, asOf } = state.finishedCalls
  const now = state.snapshot?.status.now ?? ''
  const period = since === 'time' ? addressTime(from) : `${since}s`
  const explorer = addressOf('calls', { target: state.target, status, since: period })
  return html`<${Section} id="finished-calls" title="Finished calls">
    <form
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault()
        void loadCalls()
      }}
    >
      <${Select}
        id="calls-status"
        label="Status"
        value=${status}
        options=${STATUS_OPTIONS}
        onSelect=${(/** @type {string} */ value) => loadCalls({ status: value })}
      />
      <${Select}
        id="calls-since"
        label="Since"
        value=${since}
        options=${SINCE}
        onSelect=${(/** @type {string} */ value) => loadCalls({ since: value })}
      />
      ${
        since === 'time' &&
        html`<label
          >Time (${zone(now)})
          <input
            id="calls-from"
            type="datetime-local"
            required
            value=${from}
            onChange=${onValue((value) => loadCalls({ from: value }))}
          />
        </label>`
      }
      <button type="submit">Refresh</button>
      ${query !== '' && html`<a class="button" href=${`api/v1/calls?${query}&format=csv`} download="callwatch-calls.csv">Download CSV</a>`}
    </form>
    ${note(state, now)}
    <${CallsTable}
      label="Finished calls"
      caption="Finished calls, newest first"
      calls=${answer?.calls ?? []}
      now=${asOf || now}
      isTall
    />
    <p><a href=${explorer}>All of these calls, and more filters</a></p>
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
