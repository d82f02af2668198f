import { html } from '../html.js'
import { addressOf } from '../model/address.js'
import { IN_PROGRESS, isInProgress, loadExplorer, loadOlder, stopSearch, typeSessionId } from '../model/explorer.js'
import { count, momentInZone } from '../model/format.js'
import { STATUSES } from '../model/totals.js'
import { changeAddress } from '../model/views.js'
import { CallsTable } from './calls-table.js'
import { onValue, Select } from './fields.js'
import { KindSelects, TimeInputs } from './filters.js'
import { Section } from './section.js'
import { TargetSelect } from './target-select.js'

/** @import { State } from '../model/state.js' */

const STATUS_OPTIONS = [
  ['', 'all that finished'],
  ['unanswered,rejected,canceled', 'failed'],
  ...[...STATUSES, 'lost'].map((name) => [name, name]),
  ...IN_PROGRESS.map((name, i) => [name, i === 0 ? 'in progress' : `in progress: ${name}`]),
]
const RECORDING_OPTIONS = [
  ['', 'all'],
  ['true', 'with a recording'],
  ['false', 'without'],
]

/**
 * All calls of the history by filters, which the address of the page has.
 *
 * @param {{ state: State }} props
 */
export function CallsExplorer({ state }) {
  const { query, explorer } = state
  const { request, calls, next, isLoading, asOf, typed } = explorer
  const now = state.snapshot?.status.now ?? ''
  // Times that the reader is changing must not advance.
  const time = Date.parse(asOf || now)
  const value = (/** @type {string} */ name) => query.get(name) ?? ''
  const change = (/** @type {string} */ name) => (/** @type {string} */ text) => changeAddress({ [name]: text })
  return html`<${Section} id="explorer" title="Calls">
    <form
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault()
        void loadExplorer()
      }}
    >
      <${TargetSelect} state=${state} />
      <${KindSelects} query=${query} />
      <${Select}
        id="status"
        label="Status"
        value=${value('status')}
        options=${STATUS_OPTIONS}
        onSelect=${change('status')}
      />
      <${Select}
        id="has-recording"
        label="Recording"
        value=${value('has_recording')}
        options=${RECORDING_OPTIONS}
        onSelect=${change('has_recording')}
      />
      <${TimeInputs}
        query=${query}
        labels=${['Finished from', 'Finished before']}
        time=${time}
        now=${now}
        disabled=${isInProgress(query)}
      />
      <label
        >Session id begins with
        <input
          id="session-id"
          value=${typed ?? value('session_id')}
          spellcheck=${false}
          autocomplete="off"
          onInput=${onValue(typeSessionId)}
          onChange=${onValue(change('session_id'))}
        />
      </label>
      <button type="submit">Refresh</button>
      <a class="button" href=${addressOf('calls')}>Clear filters</a>
      ${
        request !== '' &&
        html`<a class="button" href=${`api/v1/calls?${request}&format=csv`} download="callwatch-calls.csv"
            >Download CSV</a
          >
          <a class="button" href=${`api/v1/calls?${request}&format=ndjson`} download="callwatch-calls.ndjson"
            >Download NDJSON</a
          >`
      }
    </form>
    ${note(state)}
    ${calls.length > 0 && html`<${CallsTable} label="Calls" caption="Calls, newest first" calls=${calls} now=${asOf} />`}
    ${
      next !== undefined &&
      (isLoading
        ? html`<button type="button" onClick=${stopSearch}>Stop the search</button>`
        : html`<button type="button" onClick=${loadOlder}>Older calls</button>`)
    }
  <//>`
}

/** @param {State} state */
function note({ explorer: { request, calls, next, isLoading, problem, asOf }, query, snapshot }) {
  const all = next === undefined ? 'all' : 'the newest'
  const found = calls.length === 0 ? 'No call matches.' : `${count(calls.length)} calls, ${all} that match`
  const loaded = calls.length === 0 ? (next === undefined ? found : 'No call found yet.') : `${found}.`
  const loading = calls.length === 0 ? 'Searching…' : `${count(calls.length)} calls so far, searching for older ones…`
  const time = request === '' ? '' : ` As of ${momentInZone(asOf, snapshot?.status.now ?? '')}.`
  return html`<div id="explorer-note" aria-live="polite">
    ${problem === undefined ? html`<p class="soft">${isLoading ? loading : loaded}${!isLoading && time}</p>` : html`<p><strong class="bad">${problem}</strong></p>`}
    ${isInProgress(query) && html`<p class="soft">Calls in progress have no end: the times do not apply to them.</p>`}
  </div>`
}
