import { html } from '../html.js'
import { addressOf } from '../model/address.js'
import { count, duration, exactDuration, minutes, moment, momentInZone, plain, zone } from '../model/format.js'
import { Section } from './section.js'
import { Step } from './step.js'
import { Table } from './table.js'

/** @import { State } from '../model/state.js' */
/** @import { CallDetails as Details } from '../model/api.js' */

/** As in the report of usage (seconds). */
const LATE_SECONDS = 300

/**
 * All that is known of the call that the address names.
 *
 * @param {{ state: State }} props
 */
export function CallDetails({ state: { query, callPage, snapshot } }) {
  const { answer, problem } = callPage
  const now = snapshot?.status.now ?? ''
  const target = query.get('target') ?? ''
  const note = html`<a href=${addressOf('calls', { target })}>All calls${target !== '' && ` of ${target}`}</a>`
  return html`<${Section} id="call-facts" title=${`Call ${plain(query.get('session_id') ?? '')}`} note=${note}>
      <div aria-live="polite">
        ${problem !== undefined && html`<p><strong class="bad">${problem}</strong></p>`}
        ${answer === undefined && problem === undefined && html`<p class="soft">Loading…</p>`}
      </div>
      ${answer !== undefined && facts(answer, now)}
    <//>
    ${
      answer !== undefined &&
      html`<${Minutes} answer=${answer} />
        <${Corrections} answer=${answer} />
        <${Transitions} answer=${answer} now=${now} />`
    }`
}

/**
 * @param {Details} details
 * @param {string} now
 */
function facts({ call, first_seen }, now) {
  const isLost = call.status === 'lost'
  const end = call.finished === undefined ? 'in progress' : momentInZone(call.finished, now)
  const facts = [
    ['Status', html`<b class=${call.status}>${call.status}</b>`],
    ['Target', call.target],
    ['Type', call.type],
    ['Mode', call.mode],
    ['Receiver type', call.receiver_type],
    ['Recording', call.has_recording ? 'yes' : 'no'],
    ['Began', momentInZone(call.began, now)],
    ['First seen by callwatch', momentInZone(first_seen, now)],
    [isLost ? 'Lost' : 'Finished', end],
    ...(isLost ? [] : [['Noticed', noticed(call, now)]]),
    ['Answer delay', seconds(call.answer_delay_seconds)],
    ['Duration', seconds(call.duration_seconds)],
    ['Participants', count(call.participants)],
  ]
  return html`<dl class="facts">
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    ${isLost && html`<p class="soft">The service no longer knows this call. callwatch never saw its end.</p>`}`
}

/**
 * @param {Details['call']} call
 * @param {string} now
 */
function noticed({ finished, noticed }, now) {
  if (finished === undefined || noticed === undefined) return '–'
  const delay = (Date.parse(noticed) - Date.parse(finished)) / 1000
  const when = momentInZone(noticed, now)
  if (delay <= LATE_SECONDS) return `${when}, ${duration(delay)} after its end`
  return html`${when} <span class="badge warning">noticed late</span> ${duration(delay)} after its end`
}

/** @param {number | undefined} value */
const seconds = (value) => (value === undefined ? 'not known' : exactDuration(value))

/** @param {{ answer: Details }} props */
function Minutes({ answer: { call } }) {
  const rows = /** @type {const} */ ([
    ['Call', call.minutes],
    ['Participants together', call.participant_minutes],
  ])
  return html`<${Section} id="call-minutes" title="Minutes">
    <${Table}
      label="Minutes"
      caption="Minutes of the call and of its participants"
      columns=${['Minutes', 'Audio', 'Video']}
      isNumeric
    >
      ${rows.map(
        ([name, { audio, video }]) =>
          html`<tr key=${name}>
            <th scope="row">${name}</th>
            <td>${minutes(audio)}</td>
            <td>${minutes(video)}</td>
          </tr>`,
      )}
    <//>
  <//>`
}

/**
 * What the service has changed after the end of the call.
 *
 * @param {{ answer: Details }} props
 */
function Corrections({ answer: { call, at_its_end: before, status_now: status } }) {
  const rows =
    before === undefined
      ? []
      : [
          ['Status', before.status, status],
          ['Audio minutes', minutes(before.minutes.audio), minutes(call.minutes.audio)],
          ['Video minutes', minutes(before.minutes.video), minutes(call.minutes.video)],
        ].filter(([, then, now]) => then !== now)
  const none = before === undefined ? 'callwatch has not counted its end.' : 'Nothing has changed since its end.'
  return html`<${Section} id="call-corrections" title="Corrections">
    ${
      rows.length === 0
        ? html`<p class="soft">${none}</p>`
        : html`<${Table}
            label="Corrections"
            caption="What the service has changed after the end of the call"
            columns=${['Changed', 'At its end', 'Now']}
          >
            ${rows.map(
              ([name, then, now]) =>
                html`<tr key=${name} data-correction=${name}>
                  <th scope="row">${name}</th>
                  <td>${then}</td>
                  <td><b>${now}</b></td>
                </tr>`,
            )}
          <//>`
    }
    ${before !== undefined && before.status !== status && html`<p class="soft">The call stays counted as ${before.status}.</p>`}
  <//>`
}

/** @param {{ answer: Details, now: string }} props */
function Transitions({ answer: { events, events_since: kept, first_seen }, now }) {
  const isComplete = events[0]?.data.from === 'none'
  const missing =
    kept === undefined
      ? 'No events are kept.'
      : !isComplete && Date.parse(kept) > Date.parse(first_seen)
        ? `Events before ${momentInZone(kept, now)} are not kept.`
        : undefined
  const shown = events.filter(({ type }) => type !== 'callwatch.call.details')
  return html`<${Section} id="call-events" title="Transitions" note=${html`<span class="soft">${zone(now)}</span>`}>
    ${missing !== undefined && html`<p class="soft">${missing}</p>`}
    ${shown.length === 0 && missing === undefined && html`<p class="soft">No transition is known.</p>`}
    <ol class="plain feed">
      ${shown.map(
        ({ type, time, data }) =>
          html`<li>
            <time datetime=${time}>${moment(time, now)}</time>
            <${Step} event=${{ type, data }} />
            <span class="soft"
              >${`seen ${moment(data.detected_at, now)}${data.inferred === true ? ', inferred' : ''}${data.backfilled ? ', found after the fact' : ''}`}</span
            >
          </li>`,
      )}
    </ol>
  <//>`
}
