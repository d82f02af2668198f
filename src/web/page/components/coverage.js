import { html } from '../html.js'
import { duration, moment, zone } from '../model/format.js'
import { Table } from './table.js'

/** @import { Report } from '../model/api.js' */

/** @type {Record<string, string>} */
const WHY = {
  before: 'The target was not set up yet: earlier calls are missing',
  expired: 'Calls that finished then have expired (store.history)',
  ended: 'No poll succeeded: calls that finished meanwhile were noticed late',
  now: 'No poll has succeeded since: later calls are missing',
}

/**
 * What a period does not cover, in words.
 *
 * @param {object} props
 * @param {Report['coverage']} props.coverage
 * @param {string} props.now ISO 8601
 */
export function Coverage({ coverage: { blind_seconds, blind }, now }) {
  const length = (/** @type {{ since: string, until: string }} */ { since, until }) =>
    (Date.parse(until) - Date.parse(since)) / 1000
  if (blind.length === 0) return html`<p id="coverage">All targets were seen throughout this period.</p>`
  const targets = [...new Set(blind.map(({ target }) => target))].join(', ')
  const columns = ['Target', `From (${zone(now)})`, 'Until', 'How long', 'What it means']
  return html`<p id="coverage">
      <strong class="warning">Not covered: ${duration(blind_seconds)}</strong> of this period, in which callwatch did
      not see ${blind.some(({ kind }) => kind === 'expired') && 'or no longer has calls of '}${targets}.
    </p>
    <details>
      <summary>Which times these are</summary>
      <${Table} label="Times that are not covered" caption="Times that are not covered, by target" columns=${columns}>
        ${blind.map(
          ({ target, kind, since, until }) =>
            html`<tr key=${`${target}|${kind}|${since}`}>
              <th scope="row">${target}</th>
              <td>${moment(since, now)}</td>
              <td>${moment(until, now)}</td>
              <td class="number">${duration(length({ since, until }))}</td>
              <td><span class="words">${WHY[kind]}</span></td>
            </tr>`,
        )}
      <//>
    </details>`
}
