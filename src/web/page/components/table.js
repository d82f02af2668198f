import { html } from '../html.js'
import { Scrollable } from './section.js'

/**
 * A table that scrolls by itself. `label` names it for screen readers, `caption` describes it.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.caption
 * @param {readonly string[]} props.columns
 * @param {boolean} [props.isNumeric] whether all columns but the first have numbers
 * @param {number} [props.numbersFrom] the first column whose heading is above numbers
 * @param {boolean} [props.isTall] whether long content scrolls
 * @param {unknown} [props.children] rows
 */
export function Table({
  label,
  caption,
  columns,
  isNumeric = false,
  numbersFrom = Infinity,
  isTall = false,
  children,
}) {
  return html`<${Scrollable} label=${label} class=${isTall ? 'tall' : ''}>
    <table class=${isNumeric ? 'numbers' : ''}>
      <caption class="announced">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((name, i) => html`<th scope="col" class=${i >= numbersFrom ? 'number' : ''}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${children}
      </tbody>
    </table>
  <//>`
}
