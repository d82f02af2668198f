/**
 * @import { Alert, AlertChange, Calls, PerMinute, Silence, Status, Transition } from './api.js'
 */

/**
 * What the API said of one moment.
 *
 * @typedef {object} Snapshot
 * @property {Status} status
 * @property {Alert[]} alerts
 * @property {Silence[]} silences
 * @property {PerMinute} perMinute
 * @property {number} takenAt When it came, by `performance.now()`
 */

/**
 * A line of the live feed. A gap stands where the page cannot know what it missed.
 *
 * @typedef {{ id: string, kind: 'transition', data: Transition }
 *   | { id: string, kind: 'alert', data: AlertChange }
 *   | { id: string, kind: 'gap' }} FeedLine
 */

/**
 * Which finished calls are asked for, and what came of it.
 *
 * @typedef {object} FinishedCalls
 * @property {string} status One of them, or '' for all
 * @property {string} since Seconds back from now, or 'time' where `from` says it
 * @property {string} from UTC, as an input of type datetime-local has it
 * @property {number} limit The most rows that are shown
 * @property {Calls | undefined} answer
 * @property {string | undefined} problem
 * @property {string} query What `answer` is the answer to
 * @property {string} asOf When it was asked (ISO 8601), by the service's host
 */

/**
 * All that the page shows, and nothing else decides what it shows.
 *
 * @typedef {object} State
 * @property {Snapshot | undefined} snapshot
 * @property {boolean} connected Whether the last question was answered
 * @property {number} now The moment shown, by `performance.now()`; moves on each second
 * @property {string} target The target that is shown, or '' for all
 * @property {FeedLine[]} feed The newest first
 * @property {FeedLine[] | undefined} pausedFeed What the feed showed when it was stopped
 * @property {number | undefined} hovered The minute of the chart under the pointer
 * @property {FinishedCalls} finishedCalls
 */

/** @type {State} */
let state = {
  snapshot: undefined,
  connected: true,
  now: performance.now(),
  target: '',
  feed: [],
  pausedFeed: undefined,
  hovered: undefined,
  finishedCalls: {
    status: '',
    since: '3600',
    from: '',
    limit: 50,
    answer: undefined,
    problem: undefined,
    query: '',
    asOf: '',
  },
}

/** @type {(state: State) => void} */
let show = () => {}
let isDue = false
/** Milliseconds. */
const HIDDEN_FRAME = 250

/** @returns {State} */
export const current = () => state

/**
 * Changes some of the state; what is shown follows with the next frame.
 *
 * @param {Partial<State>} changed
 */
export function change(changed) {
  state = { ...state, ...changed }
  if (isDue) return
  isDue = true
  const flush = () => {
    isDue = false
    show(state)
  }
  // A tab in the background has no frames, but a title that somebody may read.
  if (document.hidden) setTimeout(flush, HIDDEN_FRAME)
  else requestAnimationFrame(flush)
}

/** @param {typeof show} render */
export function onChange(render) {
  show = render
  change({})
}
