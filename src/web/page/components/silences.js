import { html } from '../html.js'
import { labelText, momentInZone } from '../model/format.js'
import { Section } from './section.js'

/** @import { State } from '../model/state.js' */
/** @import { Silence } from '../model/api.js' */

/** @param {{ state: State }} props */
export function Silences({ state: { snapshot } }) {
  const silences = snapshot?.silences ?? []
  const now = snapshot?.status.now ?? ''
  return html`<${Section} id="silences" title="Silences">
    ${silences.length === 0 && html`<p class="soft">No silence is active.</p>`}
    <ul class="plain">
      ${silences.map((silence) => html`<li key=${silence.id}>${describe(silence, now)}</li>`)}
    </ul>
  <//>`
}

/**
 * @param {Silence} silence
 * @param {string} now
 */
function describe({ id, match, until, reason }, now) {
  const why = reason === '' ? '' : `: ${reason}`
  return `${labelText(match) || 'every alert'} until ${momentInZone(until, now)}${why} (silence ${id})`
}
