import { html } from '../html.js'
import { clock, plain, valueOf } from '../model/format.js'
import { change } from '../model/state.js'
import { Section } from './section.js'
import { Wide } from './wide.js'

/** @import { FeedLine, State } from '../model/state.js' */

/**
 * Transitions and changes of alerts as they come, the newest first.
 *
 * @param {{ state: State }} props
 */
export function Feed({ state: { feed, pausedFeed, target } }) {
  const isPaused = pausedFeed !== undefined
  const lines = (pausedFeed ?? feed).filter(
    (line) => line.kind === 'gap' || target === '' || line.data.target === target,
  )
  const toggle = () => change({ pausedFeed: isPaused ? undefined : feed })
  const button = html`<button type="button" aria-pressed=${isPaused} onClick=${toggle}>
    ${isPaused ? 'Resume' : 'Pause'}
  </button>`
  return html`<${Section} id="feed" title="Live feed" note=${button}>
    <${Wide} label="Live feed of transitions" class="tall">
      ${lines.length === 0 && html`<p class="soft">Nothing has happened yet.</p>`}
      <ol class="plain feed">
        ${lines.map((line) => html`<li key=${`${line.kind}${line.id}`} class=${line.kind}>${textOf(line)}</li>`)}
      </ol>
    <//>
  <//>`
}

/** @param {FeedLine} line */
function textOf(line) {
  if (line.kind === 'gap') return 'callwatch began anew: what happened in between is not shown'
  if (line.kind === 'alert') {
    const { at, alert, target, state, value, threshold, signal, severity } = line.data
    const values = `${valueOf(signal, value)} against ${valueOf(signal, threshold)}`
    return html`<time>${clock(at)}</time>
      <strong class=${state === 'resolved' ? 'good' : severity}>${alert} ${state}</strong> on ${target}, ${values}`
  }
  const { at, target, session_id, type, mode, from, to, observed } = line.data
  return html`<time>${clock(at)}</time> <span>${target}</span> <span>${type} ${mode}</span>
    <span class="step">${from} → <b class=${to}>${to}</b></span>
    <span class="soft">${plain(session_id)}${!observed && ', inferred'}</span>`
}
