import { html } from '../html.js'
import { changeAddress } from '../model/views.js'
import { Select } from './fields.js'

/** @import { State } from '../model/state.js' */

/**
 * Selects all targets or one. A link may name several, which are then a further option.
 *
 * @param {{ state: State }} props
 */
export function TargetSelect({ state: { query, snapshot } }) {
  const names = snapshot?.status.targets.map(({ name }) => name) ?? []
  const selected = query.getAll('target')
  const several = selected.length > 1 ? [[selected.join(), selected.join(', ')]] : []
  const options = [['', 'all'], ...names.map((name) => [name, name]), ...several]
  const select = (/** @type {string} */ target) => changeAddress({ target })
  return html`<${Select} id="target" label="Target" value=${selected.join()} options=${options} onSelect=${select} />`
}
