import { html } from '../html.js'
import { addressOf, addressOfCalls } from '../model/address.js'
import { count, duration, labelText, moment, valueOf, zone } from '../model/format.js'
import { staleTargets } from '../model/notices.js'
import { shownAlerts } from '../model/totals.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { State } from '../model/state.js' */
/** @import { Alert } from '../model/api.js' */

/** @param {{ state: State }} props */
export function Alerts({ state }) {
  const alerts = shownAlerts(state)
  const stale = new Set(staleTargets(state).map(({ name }) => name))
  const now = state.snapshot?.status.now ?? ''
  const columns = () => ['Alert', 'State', 'Value', 'Threshold', 'Peak', 'Calls', `Since (${zone(now)})`]
  return html`<${Section} id="alerts" title="Alerts">
    ${
      alerts.length === 0
        ? html`<p class="soft">No alert is pending or firing.</p>`
        : html`<${Table} label="Alerts" caption="Alerts that are pending or firing" columns=${columns()}>
            ${alerts.map((alert) => row(alert, now, stale.has(alert.target)))}
          <//>`
    }
  <//>`
}

/**
 * @param {Alert} alert
 * @param {string} now
 * @param {boolean} stale whether the data of its target are stale
 */
function row(
  {
    target,
    alert,
    severity,
    state,
    labels,
    value,
    threshold,
    calls,
    since,
    peak,
    signal,
    breach,
    calls_url,
    runbook_url,
  },
  now,
  stale,
) {
  const key = [target, alert, labelText(labels)].join('|')
  const seconds = (Date.parse(now) - Date.parse(since)) / 1000
  return html`<tr
    key=${key}
    data-alert=${alert}
    class=${`${state === 'pending' ? '' : severity} ${stale ? 'stale' : ''}`}
  >
    <th scope="row">
      ${alert}${' '}
      <span class="soft">${[target, labelText(labels)].filter(Boolean).join(', ')}</span>
      ${runbook_url !== undefined && html` <a href=${runbook_url}>runbook</a>`} ${' '}<a
        href=${addressOf('silences', { alert, target, ...labels })}
        aria-label=${`Silence ${[alert, target, labelText(labels)].filter(Boolean).join(', ')}`}
        >silence</a
      >
    </th>
    <td><span class=${`badge ${state === 'pending' ? '' : severity}`}>${state}</span> ${severity}</td>
    <td data-cell="value" data-label="Value">${valueOf(signal, value)}</td>
    <td data-label="Threshold">${breach} ${valueOf(signal, threshold)}</td>
    <td data-cell="peak" data-label="Peak">${valueOf(signal, peak)}</td>
    <td data-label="Calls">
      ${calls_url === undefined ? (calls === null ? '–' : count(calls)) : html`<a href=${addressOfCalls(calls_url)}>${calls === null ? 'calls' : `of ${count(calls)}`}</a>`}
    </td>
    <td data-cell="since" data-label=${`Since (${zone(now)})`}>
      ${moment(since, now)} <span class="soft">${duration(Math.max(0, seconds))}</span>
    </td>
  </tr>`
}
