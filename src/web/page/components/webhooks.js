import { html } from '../html.js'
import { count, duration, moment, plain, zone } from '../model/format.js'
import { snapshotAge } from '../model/notices.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { State } from '../model/state.js' */
/** @import { Webhook } from '../model/api.js' */

/**
 * How far each webhook of events is; absent without any.
 *
 * @param {{ state: State }} props
 */
export function Webhooks({ state }) {
  const webhooks = state.snapshot?.webhooks ?? []
  if (webhooks.length === 0) return false
  const now = state.snapshot?.status.now ?? ''
  const columns = ['Webhook', 'State', 'Pending', 'Oldest pending', 'Dead letters', `Last delivery (${zone(now)})`]
  return html`<${Section} id="webhooks" title="Webhooks of events">
    <${Table} label="Webhooks of events" caption="How far each webhook of events is" columns=${columns} isNumeric>
      ${webhooks.map((webhook) => row(webhook, now, snapshotAge(state)))}
    <//>
  <//>`
}

/** @type {Record<string, string>} */
const TONES = { delivering: 'good', failing: 'bad', paused: 'warning' }

/**
 * @param {Webhook} webhook
 * @param {string} now
 * @param {number} age of the snapshot (seconds)
 */
function row({ name, state, pending, oldest_pending_seconds, dead_letters, problem, last_delivered }, now, age) {
  return html`<tr key=${name} data-webhook=${name}>
    <th scope="row">${name}</th>
    <td data-cell="state">
      <span class=${`badge ${TONES[state] ?? ''}`}>${state}</span
      >${problem !== undefined && html` <span class="words">${plain(problem)}</span>`}
    </td>
    <td data-cell="pending">${count(pending)}</td>
    <td>${oldest_pending_seconds === undefined ? '–' : duration(oldest_pending_seconds + age)}</td>
    <td data-cell="dead">${dead_letters > 0 ? html`<b class="bad">${count(dead_letters)}</b>` : 0}</td>
    <td>${last_delivered === undefined ? 'never' : moment(last_delivered, now)}</td>
  </tr>`
}
