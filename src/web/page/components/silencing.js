import { html } from '../html.js'
import { addressOf } from '../model/address.js'
import { expireSilence, saveSilence } from '../model/change-silences.js'
import { count, labelText, moment, zone } from '../model/format.js'
import { addressTime, inputTime } from '../model/period.js'
import { editAddress, editedIn, lengthIn, matchOf, silenceCommand, silencesIn } from '../model/silences.js'
import { changeAddress } from '../model/views.js'
import { onValue, Select, TimeInput } from './fields.js'
import { KindSelects } from './filters.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { State } from '../model/state.js' */
/** @import { Silence } from '../model/api.js' */

const LENGTHS = [
  ['1h', '1 hour'],
  ['4h', '4 hours'],
  ['1d', '1 day'],
  ['until', 'until a time'],
]
const SEVERITIES = [['', 'all'], ...['critical', 'warning', 'info'].map((one) => [one, one])]

/**
 * Adds, edits, expires and lists silences. The address has what the form says.
 *
 * @param {{ state: State }} props
 */
export function Silencing({ state }) {
  const { query, snapshot } = state
  const edited = editedIn(query)
  const title = edited === '' ? 'Add a silence' : `Edit silence ${edited}`
  return html`<${Section} id="silencing" title=${title}>
      ${snapshot?.readOnly === true ? command(query) : form(state)}
    <//>
    <${Lists} state=${state} />`
}

/** @param {URLSearchParams} query */
function command(query) {
  return html`<p>The page can change silences only with <code>http.auth</code>. This command does the same:</p>
    <p><code class="words">${silenceCommand(query)}</code></p>`
}

/** @param {State} state */
function form(state) {
  const { query, snapshot, silencing } = state
  const targets = snapshot?.status.targets ?? []
  const now = snapshot?.status.now ?? ''
  const value = (/** @type {string} */ name) => query.get(name) ?? ''
  const edited = editedIn(query)
  const length = lengthIn(query)
  const select = (/** @type {string} */ name) => (/** @type {string} */ text) => changeAddress({ [name]: text })
  const rules = [...new Set(targets.flatMap(({ rules }) => rules.map(({ name }) => name)))]
  const inAnHour = new Date(Math.ceil(Date.parse(now) / 60_000 + 60) * 60_000).toISOString()
  return html`<form
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault()
        void saveSilence()
      }}
    >
      <${Words} id="alert" label="Alert" value=${value('alert')} names=${rules} />
      <${Words} id="target" label="Target" value=${value('target')} names=${targets.map(({ name }) => name)} />
      <${Select}
        id="severity"
        label="Severity"
        value=${value('severity')}
        options=${SEVERITIES}
        onSelect=${select('severity')}
      />
      <${KindSelects} query=${query} />
      <${Select}
        id="for"
        label="How long"
        value=${length}
        options=${edited === '' ? LENGTHS : [['', 'as it is'], ...LENGTHS]}
        onSelect=${(/** @type {string} */ text) =>
          changeAddress({ for: text, until: text === 'until' ? inAnHour : '' })}
      />
      ${
        length === 'until' &&
        html`<${TimeInput}
          id="until"
          label="Until"
          value=${inputTime(query, 'until', Date.parse(now))}
          now=${now}
          onSelect=${(/** @type {string} */ text) => changeAddress({ until: addressTime(text) })}
        />`
      }
      <${Words} id="reason" label="Reason" value=${value('reason')} names=${[]} />
      ${
        Object.keys(matchOf(query)).length === 0 &&
        html`<label class="check"
          ><input
            id="all"
            type="checkbox"
            checked=${value('all') === 'true'}
            onChange=${(/** @type {any} */ { target }) => changeAddress({ all: target.checked ? 'true' : '' })}
          />
          every alert</label
        >`
      }
      <button type="submit" disabled=${silencing.isSending}>${edited === '' ? 'Add' : 'Save'}</button>
      <a class="button" href=${addressOf('silences')}>${edited === '' ? 'Clear' : 'Cancel'}</a>
    </form>
    <div id="silencing-note" aria-live="polite">
      ${silencing.problem !== undefined && html`<p><strong class="bad">${silencing.problem}</strong></p>`}
      ${silencing.done !== '' && html`<p>${silencing.done}</p>`}
      ${silencing.done === '' && silencing.matched !== undefined && html`<p class="soft">${matching(silencing.matched)}</p>`}
    </div>
    <p class="soft">
      A value that begins with <code>=~</code> is a regular expression for all of it: <code>=~High.*</code>
    </p>`
}

/** @param {number} alerts */
const matching = (alerts) =>
  alerts === 0
    ? 'No alert that fires now matches.'
    : `${count(alerts)} ${alerts === 1 ? 'alert that fires now matches' : 'alerts that fire now match'}.`

/**
 * A text of the address, with names to choose from.
 *
 * @param {{ id: string, label: string, value: string, names: readonly string[] }} props
 */
function Words({ id, label, value, names }) {
  return html`<label
    >${label}
    <input
      id=${id}
      value=${value}
      list=${names.length > 0 ? `${id}-names` : undefined}
      spellcheck=${false}
      autocomplete="off"
      onInput=${onValue((/** @type {string} */ text) => changeAddress({ [id]: text }))}
    />
    ${
      names.length > 0 &&
      html`<datalist id=${`${id}-names`}>${names.map((name) => html`<option value=${name}></option>`)}</datalist>`
    }
  </label>`
}

/** @param {{ state: State }} props */
function Lists({ state: { snapshot } }) {
  const { active, expired } = silencesIn(snapshot)
  const now = snapshot?.status.now ?? ''
  const canChange = snapshot?.readOnly !== true
  const columns = [`Since (${zone(now)})`, `Until (${zone(now)})`, 'Author', 'Reason']
  return html`<${Section} id="active-silences" title="Active silences">
      ${
        active.length === 0
          ? html`<p class="soft">No silence is active.</p>`
          : html`<${Table}
              label="Active silences"
              caption="Silences that are active"
              columns=${['Silence', ...(canChange ? ['Change'] : []), ...columns]}
            >
              ${active.map((silence) => row(silence, now, canChange ? html`<td>${changes(silence)}</td>` : false))}
            <//>`
      }
    <//>
    ${
      expired.length > 0 &&
      html`<${Section} id="expired-silences" title="Expired silences">
        <details>
          <summary>${count(expired.length)} in the last 7 days</summary>
          <${Table}
            label="Expired silences"
            caption="Expired silences, newest first"
            columns=${['Silence', ...columns]}
            isTall
          >
            ${expired.map((silence) => row(silence, now, false))}
          <//>
        </details>
      <//>`
    }`
}

/**
 * @param {Silence} silence
 * @param {string} now
 * @param {unknown} second a further cell
 */
function row({ id, match, since, until, author, reason }, now, second) {
  return html`<tr key=${id} data-silence=${id}>
    <th scope="row">${labelText(match) || 'every alert'} <span class="soft">silence ${id}</span></th>
    ${second}
    <td>${moment(since, now)}</td>
    <td>${moment(until, now)}</td>
    <td>${author ?? '–'}</td>
    <td><span class="words">${reason || '–'}</span></td>
  </tr>`
}

/** @param {Silence} silence */
function changes(silence) {
  const { id } = silence
  return html`<a class="button" href=${editAddress(silence)} aria-label=${`Edit silence ${id}`}>Edit</a>${' '}<button
      type="button"
      aria-label=${`Expire silence ${id}`}
      onClick=${() => void expireSilence(id)}
    >
      Expire
    </button>`
}
