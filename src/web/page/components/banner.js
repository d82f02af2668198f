import { html } from '../html.js'
import { noticesOf } from '../model/notices.js'
import { shownAlerts } from '../model/totals.js'

/** @import { Notice } from '../model/notices.js' */
/** @import { State } from '../model/state.js' */

/**
 * Says why the data below are not live.
 *
 * @param {{ state: State }} props
 */
export function Banner({ state }) {
  const notices = noticesOf(state)
  return html`<div>
    <div class="announced" role="status" aria-live="polite">${announcement(state, notices)}</div>
    ${
      notices.length > 0 &&
      html`<ul class="banner" aria-label="Stale data">
        ${notices.map(({ text, age }) => html`<li>${text} ${age !== '' && html`<strong>${`(${age})`}</strong>`}</li>`)}
      </ul>`
    }
  </div>`
}

/**
 * The text for screen readers, without ages, which change each second.
 *
 * @param {State} state
 * @param {Notice[]} notices
 */
function announcement(state, notices) {
  const firing = shownAlerts(state).filter(({ state }) => state !== 'pending')
  const alerts = firing.map(({ alert, target, severity }) => `Alert ${alert}, ${severity}, on ${target}.`)
  return [...notices.map(({ text }) => text), ...alerts].join(' ')
}
