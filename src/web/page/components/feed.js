import { html } from '../html.js'
import { moment, valueOf, zone } from '../model/format.js'
import { change } from '../model/state.js'
import { CallLink } from './calls-table.js'
import { Scrollable, Section } from './section.js'
import { Step } from './step.js'

/** @import { FeedLine, State } from '../model/state.js' */

/**
 * Changes of calls and alerts, newest first.
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
    return 'Events may be missing here: they were deleted by events.retention, or the store was replaced.'
  const [, , step = ''] = line.type.split('.')
  if (line.kind === 'alert') {
    const { alert, target, value, threshold, signal, severity } = line.data
    const values = `${valueOf(signal, value)}, threshold ${valueOf(signal, threshold)}`
    return html`<time>${moment(line.time, now)}</time>
      <strong class=${step === 'resolved' ? 'good' : severity}>${alert} ${step}</strong> on ${target}, ${values}`
  }
  const { target, session_id, type, mode, inferred, detected_at } = line.data
  return html`<time>${moment(detected_at, now)}</time> <span>${target}</span> <span>${type} ${mode}</span>
    <${Step} event=${line} />
    <span class="soft"><${CallLink} target=${target} id=${session_id} />${inferred && ', inferred'}</span>`
}
