import { html } from '../html.js'
import { count, duration, labelText, moment, valueOf } from '../model/format.js'
import { shownAlerts } from '../model/totals.js'
import { Section } from './section.js'
import { Wide } from './wide.js'

/** @import { State } from '../model/state.js' */
/** @import { Alert } from '../model/api.js' */

/** @param {{ state: State }} props */
export function Alerts({ state }) {
  const alerts = shownAlerts(state)
  const now = state.snapshot?.status.now ?? ''
  return html`<${Section} id="alerts" title="Alerts">
    ${alerts.length === 0 && html`<p class="soft">None is pending or firing.</p>`}
    ${
      alerts.length > 0 &&
      html`<${Wide} label="Alerts">
        <table>
          <caption class="announced">
            Alerts that are pending or firing
          </caption>
          <thead>
            <tr>
              ${['Alert', 'State', 'Value', 'Threshold', 'Peak', 'n', 'Since (UTC)'].map((name) => html`<th scope="col">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${alerts.map((alert) => row(alert, now))}
          </tbody>
        </table>
      <//>`
    }
  <//>`
}

/**
 * @param {Alert} alert
 * @param {string} now
 */
function row(
  { target, alert, severity, state, labels, value, threshold, calls, since, peak, signal, breach, runbook_url },
  now,
) {
  const key = [target, alert, labelText(labels)].join('|')
  const lasting = (Date.parse(now) - Date.parse(since)) / 1000
  return html`<tr key=${key} data-alert=${alert} class=${state === 'pending' ? '' : severity}>
    <th scope="row">
      ${alert} <span class="soft">${[target, labelText(labels)].filter(Boolean).join(', ')}</span>
      ${runbook_url !== undefined && html` <a href=${runbook_url}>runbook</a>`}
    </th>
    <td><span class=${`badge ${state === 'pending' ? '' : severity}`}>${state}</span> ${severity}</td>
    <td data-cell="value">${valueOf(signal, value)}</td>
    <td>${breach} ${valueOf(signal, threshold)}</td>
    <td data-cell="peak">${valueOf(signal, peak)}</td>
    <td>${calls === null ? '–' : count(calls)}</td>
    <td data-cell="since">${moment(since, now)} <span class="soft">${duration(Math.max(0, lasting))}</span></td>
  </tr>`
}
