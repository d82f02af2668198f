import { html } from '../html.js'
import { momentOf, zone } from '../model/format.js'

/**
 * A choice of one value. A value that is none of the options, as of a link, is shown as it is.
 *
 * @param {object} props
 * @param {string} props.id
 * @param {string} props.label
 * @param {string} props.value
 * @param {readonly (readonly [value: string, name: string])[]} props.options
 * @param {(value: string) => unknown} props.onSelect
 */
export function Select({ id, label, value, options, onSelect }) {
  const isKnown = options.some(([known]) => known === value)
  const all = isKnown ? options : [...options, /** @type {const} */ ([value, value])]
  return html`<label
    >${label}
    <select id=${id} value=${value} onChange=${onValue(onSelect)}>
      ${all.map(([one, name]) => html`<option value=${one} selected=${one === value}>${name}</option>`)}
    </select>
  </label>`
}

/**
 * A date and a time in the zone of the page.
 *
 * @param {object} props
 * @param {string} props.id
 * @param {string} props.label
 * @param {string} props.value as an input of type datetime-local formats it
 * @param {string} props.now ISO 8601
 * @param {boolean} [props.disabled]
 * @param {(value: string) => unknown} props.onSelect
 */
export function TimeInput({ id, label, value, now, disabled = false, onSelect }) {
  const step = value.length > 16 ? 1 : 60
  return html`<label
    >${label} (${zone(value === '' ? now : new Date(momentOf(value)).toISOString())})
    <input
      id=${id}
      type="datetime-local"
      step=${step}
      value=${value}
      disabled=${disabled}
      onChange=${onValue(onSelect)}
    />
  </label>`
}

/** @param {(value: string) => unknown} handle */
export const onValue =
  (handle) =>
  (/** @type {any} */ { target }) =>
    void handle(target.value)
