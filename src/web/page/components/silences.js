import { html } from '../html.js'
import { addressOf } from '../model/address.js'
import { labelText, momentInZone } from '../model/format.js'
import { silencesIn } from '../model/silences.js'
import { Section } from './section.js'

/** @import { State } from '../model/state.js' */
/** @import { Silence } from '../model/api.js' */

/**
 * The active silences in short.
 *
 * @param {{ state: State }} props
 */
export function Silences({ state: { snapshot, target } }) {
  const { active } = silencesIn(snapshot)
  const note = html`<a href=${addressOf('silences', { target })}>All silences</a>`
  const now = snapshot?.status.now ?? ''
  return html`<${Section} id="silences" title="Silences" note=${note}>
    ${active.length === 0 && html`<p class="soft">No silence is active.</p>`}
    <ul class="plain">
      ${active.map((silence) => html`<li key=${silence.id}>${describe(silence, now)}</li>`)}
    </ul>
  <//>`
}

/**
 * @param {Silence} silence
 * @param {string} now
 */
function describe({ id, match, until, reason, author }, now) {
  const by = author === undefined ? '' : ` by ${author}`
  const why = reason === '' ? '' : `: ${reason}`
  return `${labelText(match) || 'every alert'} until ${momentInZone(until, now)}${by}${why} (silence ${id})`
}
