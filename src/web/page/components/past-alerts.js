import { html } from '../html.js'
import { addressOfCalls } from '../model/address.js'
import { count, duration, labelText, moment, valueOf, zone } from '../model/format.js'
import { shownPastAlerts } from '../model/past-alerts.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { State } from '../model/state.js' */

/** As many are shown. */
const MOST = 50

/**
 * The alerts of the last seven days that have ended, newest first; absent without any.
 *
 * @param {{ state: State }} props
 */
export function PastAlerts({ state }) {
  const alerts = shownPastAlerts(state)
  if (alerts.length === 0) return false
  const now = state.snapshot?.status.now ?? ''
  const shown = alerts.length > MOST ? `the newest ${MOST} of ${count(alerts.length)}` : count(alerts.length)
  const note = html`<span class="soft">${shown} in the last 7 days</span>`
  const columns = ['Alert', `Fired (${zone(now)})`, 'How long', 'Peak', 'Threshold', 'Outcome', 'Notified']
  return html`<${Section} id="past-alerts" title="Past alerts" note=${note}>
    <${Table} label="Past alerts" caption="Alerts that resolved or expired, newest first" columns=${columns} isTall>
      ${alerts.slice(0, MOST).map((alert) => row(alert, now))}
    <//>
  <//>`
}

/**
 * @param {ReturnType<typeof shownPastAlerts>[number]} alert
 * @param {string} now
 */
function row(alert, now) {
  const { target, key, severity, labels, signal, breach, threshold, since, until, outcome, expired_because, peak } =
    alert
  const { calls_url, notified, suppressed, blind } = alert
  const seconds = (Date.parse(until) - Date.parse(since)) / 1000
  const ending = expired_because === undefined ? outcome : `expired: ${expired_because}`
  const receivers = new Set(notified.filter(({ outcome }) => outcome === 'sent').map(({ receiver }) => receiver))
  return html`<tr key=${`${target}|${key}|${since}`} data-past-alert=${key}>
    <th scope="row">
      ${alert.alert} <span class="soft">${[target, labelText(labels)].filter(Boolean).join(', ')}</span>
    </th>
    <td>
      ${calls_url === undefined ? moment(since, now) : html`<a href=${addressOfCalls(calls_url)}>${moment(since, now)}</a>`}
    </td>
    <td>${duration(seconds)}${blind.length > 0 && html` <span class="soft">partly not seen</span>`}</td>
    <td>${valueOf(signal, peak)}</td>
    <td>${breach} ${valueOf(signal, threshold)}</td>
    <td>${ending} <span class=${`badge ${severity}`}>${severity}</span></td>
    <td>
      ${[...receivers].join(', ') || '–'}
      ${suppressed.length > 0 && html` <span class="soft">${[...new Set(suppressed.map(({ by }) => by))].join(', ')}</span>`}
    </td>
  </tr>`
}
