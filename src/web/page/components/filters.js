import { html } from '../html.js'
import { addressTime, inputTime, presetOf, presetPeriod } from '../model/period.js'
import { changeAddress } from '../model/views.js'
import { Select, TimeInput } from './fields.js'

/** @import { Preset } from '../model/period.js' */

/** The kinds of calls: parameter, label and values. */
const KINDS = /** @type {const} */ ([
  ['type', 'Type', ['audio', 'video', 'other']],
  ['mode', 'Mode', ['call', 'meet', 'presenter', 'other']],
  ['receiver_type', 'Receiver', ['user', 'group', 'other']],
])

/**
 * Selects calls by type, mode and receiver type.
 *
 * @param {{ query: URLSearchParams }} props
 */
export function KindSelects({ query }) {
  return KINDS.map(
    ([name, label, values]) =>
      html`<${Select}
        id=${name}
        label=${label}
        value=${query.get(name) ?? ''}
        options=${[['', 'all'], ...values.map((one) => [one, one])]}
        onSelect=${(/** @type {string} */ value) => changeAddress({ [name]: value })}
      />`,
  )
}

/**
 * `since` and `until` of the address.
 *
 * @param {object} props
 * @param {URLSearchParams} props.query
 * @param {number} props.time For which times ago are shown (milliseconds since 1970)
 * @param {string} props.now ISO 8601
 * @param {readonly [since: string, until: string]} [props.labels]
 * @param {boolean} [props.disabled]
 */
export function TimeInputs({ query, time, now, labels: [since, until] = ['From', 'Before'], disabled = false }) {
  const names = /** @type {const} */ (['since', 'until'])
  return names.map(
    (name) =>
      html`<${TimeInput}
        id=${name}
        label=${name === 'since' ? since : until}
        value=${inputTime(query, name, time)}
        now=${now}
        disabled=${disabled}
        onSelect=${(/** @type {string} */ text) => changeAddress({ [name]: addressTime(text) })}
      />`,
  )
}

/**
 * The period of the address, as one of some presets or as two times.
 *
 * @param {object} props
 * @param {URLSearchParams} props.query
 * @param {readonly (readonly [preset: Preset, name: string])[]} props.presets
 * @param {number} props.time For which times ago are shown (milliseconds since 1970)
 * @param {string} props.now ISO 8601
 */
export function PeriodInputs({ query, presets, time, now }) {
  const names = presets.map(([name]) => name)
  const preset = presetOf(query, time, names)
  const select = (/** @type {Preset | ''} */ name) => name !== '' && changeAddress(presetPeriod(name, time))
  return html`<${Select}
      id="period"
      label="Period"
      value=${preset}
      options=${preset === '' ? [...presets, ['', 'another period']] : presets}
      onSelect=${select}
    />
    <${TimeInputs} query=${query} time=${time} now=${now} />`
}
