import { html } from '../html.js'
import { shownAlerts } from '../model/totals.js'
import { troublesOf } from '../model/staleness.js'

/** @import { State } from '../model/state.js' */

/**
 * Says in words when the numbers below are not those of now.
 *
 * @param {{ state: State }} props
 */
export function Banner({ state }) {
  const troubles = troublesOf(state)
  // Read out are only what does not change each second, and alerts as they come and go.
  return html`<div>
    <div class="announced" role="status" aria-live="polite">${announcement(state, troubles)}</div>
    ${
      troubles.length > 0 &&
      html`<ul class="banner" aria-label="Old data">
        ${troubles.map(({ said, age }) => html`<li>${said} ${age !== '' && html`<strong>${`(${age})`}</strong>`}</li>`)}
      </ul>`
    }
  </div>`
}

/**
 * @param {State} state
 * @param {{ said: string }[]} troubles
 */
function announcement(state, troubles) {
  const firing = shownAlerts(state).filter(({ state }) => state !== 'pending')
  const alerts = firing.map(({ alert, target, severity }) => `Alert ${alert}, ${severity}, on ${target}.`)
  return [...troubles.map(({ said }) => said), ...alerts].join(' ')
}
