import { html } from '../html.js'
import { count } from '../model/format.js'
import { inProgressBy, shownTargets, sum } from '../model/totals.js'
import { Section } from './section.js'

/** @import { State } from '../model/state.js' */

const TYPES = ['audio', 'video', 'other']
const MODES = ['call', 'meet', 'presenter', 'other']

/**
 * Calls in progress, by type and mode.
 *
 * @param {{ state: State }} props
 */
export function InProgress({ state }) {
  const targets = shownTargets(state)
  const counts = inProgressBy(targets)
  const of = (/** @type {string} */ type, /** @type {string} */ mode) => counts.get(`${type}|${mode}`) ?? 0
  // Undocumented types and modes are shown only if there are such calls.
  const types = TYPES.filter((type) => type !== 'other' || MODES.some((mode) => of(type, mode) > 0))
  const modes = MODES.filter((mode) => mode !== 'other' || TYPES.some((type) => of(type, mode) > 0))
  const total = (/** @type {number[]} */ numbers) => count(numbers.reduce((a, b) => a + b, 0))
  return html`<${Section} id="in-progress" title="Calls in progress">
    <table class="numbers">
      <caption class="announced">
        Calls in progress by mode and type
      </caption>
      <thead>
        <tr>
          <th scope="col">Mode</th>
          ${types.map((type) => html`<th scope="col">${type}</th>`)}
          <th scope="col">all</th>
        </tr>
      </thead>
      <tbody>
        ${modes.map(
          (mode) =>
            html`<tr key=${mode}>
              <th scope="row">${mode}</th>
              ${types.map((type) => html`<td data-cell=${`${type}|${mode}`}>${count(of(type, mode))}</td>`)}
              <td>${total(types.map((type) => of(type, mode)))}</td>
            </tr>`,
        )}
        <tr>
          <th scope="row">all</th>
          ${types.map((type) => html`<td>${total(modes.map((mode) => of(type, mode)))}</td>`)}
          <td><strong>${count(sum(targets, ({ in_progress }) => in_progress))}</strong></td>
        </tr>
      </tbody>
    </table>
  <//>`
}
