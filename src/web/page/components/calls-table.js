import { html } from '../html.js'
import { addressOf } from '../model/address.js'
import { count, duration, minutes, moment, plain, zone } from '../model/format.js'
import { current } from '../model/state.js'
import { Table } from './table.js'

/** @import { Call } from '../model/api.js' */

/**
 * Calls, each with a link to its own page.
 *
 * @param {{ label: string, caption: string, calls: readonly Call[], now: string, isTall?: boolean }} props
 */
export function CallsTable({ label, caption, calls, now, isTall = false }) {
  const columns = [
    `Finished (${zone(now)})`,
    'Status',
    'Session',
    'Target',
    'Type',
    'Mode',
    'Receiver',
    'Began',
    'Duration',
    'Participants',
    'Audio min',
    'Video min',
    'Recording',
  ]
  return html`<${Table} label=${label} caption=${caption} columns=${columns} isTall=${isTall}>
    ${calls.map((call) => sameRow(call, now))}
  <//>`
}

/** @type {WeakMap<Call, { by: string, row: unknown }>} */
const made = new WeakMap()

/**
 * The row of a call, the same one while nothing in it has changed: Preact skips it, so thousands of rows cost little each
 * second.
 *
 * @param {Call} call
 * @param {string} now
 */
function sameRow(call, now) {
  const by = [now, current().query.get('zone')].join()
  const before = made.get(call)
  if (before?.by === by) return before.row
  const after = { by, row: row(call, now) }
  made.set(call, after)
  return after.row
}

/**
 * @param {Call} call
 * @param {string} now
 */
function row(call, now) {
  const { target, session_id, type, mode, receiver_type, status, began, finished, duration_seconds: lasted } = call
  return html`<tr key=${`${target}|${session_id}`}>
    <td>${finished === undefined ? 'in progress' : moment(finished, now)}</td>
    <td><b class=${status}>${status}</b></td>
    <td class="session"><${CallLink} target=${target} id=${session_id} /></td>
    <td>${target}</td>
    <td>${type}</td>
    <td>${mode}</td>
    <td>${receiver_type}</td>
    <td>${moment(began, now)}</td>
    <td class="number">${lasted === undefined ? '–' : duration(lasted)}</td>
    <td class="number">${count(call.participants)}</td>
    <td class="number">${minutes(call.minutes.audio)}</td>
    <td class="number">${minutes(call.minutes.video)}</td>
    <td>${call.has_recording ? 'yes' : 'no'}</td>
  </tr>`
}

/**
 * The session id of a call, which links to its own page.
 *
 * @param {{ target: string, id: string }} props
 */
export function CallLink({ target, id }) {
  return html`<a href=${addressOf('call', { target, session_id: id })}>${plain(id)}</a>`
}
