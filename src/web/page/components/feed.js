import { html } from '../html.js'
import { moment, plain, valueOf, zone } from '../model/format.js'
import { change } from '../model/state.js'
import { Scrollable, Section } from './section.js'

/** @import { FeedLine, State } from '../model/state.js' */

/**
 * Transitions of calls and changes of alerts, newest first.
 *
 * @param {{ state: State }} props
 */
export function Feed({ state: { snapshot, feed, pausedFeed, target } }) {
  const now = snapshot?.status.now ?? ''
  const isPaused = pausedFeed !== undefined
  const lines = (pausedFeed ?? feed).filter(
    (line) => line.kind === 'gap' || target === '' || line.data.target === target,
  )
  const toggle = () => change({ pausedFeed: isPaused ? undefined : feed })
  const note = html`<span>
    <span class="soft">${zone(now)} </span>
    <button type="button" aria-pressed=${isPaused} onClick=${toggle}>${isPaused ? 'Resume' : 'Pause'}</button>
  </span>`
  return html`<${Section} id="feed" title="Live feed" note=${note}>
    <${Scrollable} label="Live feed of transitions" class="tall">
      ${lines.length === 0 && html`<p class="soft">No events yet.</p>`}
      <ol class="plain feed">
        ${lines.map((line) => html`<li key=${`${line.kind}${line.id}`} class=${line.kind}>${lineText(line, now)}</li>`)}
      </ol>
    <//>
  <//>`
}

/**
 * @param {FeedLine} line
 * @param {string} now
 */
function lineText(line, now) {
  if (line.kind === 'gap')
    return 'Events may be missing here: callwatch restarted, or the connection was lost for too long.'
  if (line.kind === 'alert') {
    const { at, alert, target, state, value, threshold, signal, severity } = line.data
    const values = `${valueOf(signal, value)}, threshold ${valueOf(signal, threshold)}`
    return html`<time>${moment(at, now)}</time>
      <strong class=${state === 'resolved' ? 'good' : severity}>${alert} ${state}</strong> on ${target}, ${values}`
  }
  const { at, target, session_id, type, mode, from, to, observed } = line.data
  return html`<time>${moment(at, now)}</time> <span>${target}</span> <span>${type} ${mode}</span>
    <span class="step">${from} → <b class=${to}>${to}</b></span>
    <span class="soft">${plain(session_id)}${!observed && ', inferred'}</span>`
}
