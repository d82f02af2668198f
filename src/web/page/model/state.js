/**
 * @import { Alert, AlertChange, Call, CallChange, CallDetails, Calls, PastAlert, PerMinute, Report, Silence, Status, Webhook } from './api.js'
 * @import { View } from './address.js'
 * @import { ShownCharts } from './charts.js'
 */

/**
 * Responses of the API, all requested at the same time.
 *
 * @typedef {object} Snapshot
 * @property {Status} status
 * @property {Alert[]} alerts
 * @property {Silence[]} silences Active ones, and those that expired in the last seven days
 * @property {boolean} readOnly Whether silences cannot be changed
 * @property {Webhook[]} webhooks
 * @property {PerMinute} perMinute
 * @property {number} takenAt When the responses arrived, by `performance.now()`
 */

/**
 * A line of the live feed. A gap is where events may be missing.
 *
 * @typedef {{ id: string, kind: 'call', type: string, time: string, data: CallChange }
 *   | { id: string, kind: 'alert', type: string, time: string, data: AlertChange }
 *   | { id: string, kind: 'gap' }} FeedLine
 */

/**
 * The filter of finished calls, and the calls that it selects.
 *
 * @typedef {object} FinishedCalls
 * @property {string} status A final status, or '' for all
 * @property {string} since Seconds before now, or 'time' if `from` has the time
 * @property {string} from In the zone of the page, as an input of type datetime-local formats it
 * @property {Calls | undefined} answer
 * @property {string | undefined} problem
 * @property {string} query The parameters of the request for `answer`
 * @property {string} asOf The time of the request (ISO 8601), by the clock of the server
 */

/**
 * The calls that the parameters of the view select, as far as they are loaded.
 *
 * @typedef {object} Explorer
 * @property {string} request The parameters of the requests; '' if those of the view are wrong
 * @property {Call[]} calls
 * @property {string | undefined} next Where older calls begin; undefined after the last one
 * @property {boolean} isLoading
 * @property {string | undefined} problem
 * @property {string} asOf The time of the first request (ISO 8601), by the clock of the server
 * @property {string} [typed] How the session id begins that is being typed, and is not in the address yet
 */

/** @typedef {{ name: string, answer: CallDetails | undefined, problem: string | undefined }} CallPage */
/**
 * The report of usage. `asOf` is when it was requested, by the clock of the server.
 *
 * @typedef {{ request: string, answer: Report | undefined, problem: string | undefined, asOf: string }} Usage
 */

/**
 * The charts of a period. `filters` are those of the last request, and `loadedAt` is when it ended, by `performance.now()`.
 *
 * @typedef {object} Charts
 * @property {string} filters
 * @property {ShownCharts | undefined} shown
 * @property {boolean} isLoading
 * @property {string | undefined} problem
 * @property {number} loadedAt
 */

/**
 * What the form of a silence has led to. `matched` is how many alerts that fire its match has.
 *
 * @typedef {object} Silencing
 * @property {string} request
 * @property {number | undefined} matched
 * @property {string | undefined} problem
 * @property {boolean} isSending
 * @property {string} done
 */

/**
 * The state of the page, which alone determines what it shows.
 *
 * @typedef {object} State
 * @property {Snapshot | undefined} snapshot
 * @property {boolean} connected Whether the last request was successful
 * @property {number} now The time for which ages are shown, by `performance.now()`
 * @property {View} view
 * @property {URLSearchParams} query The parameters of the address
 * @property {string} target The target that the overview shows, or '' for all
 * @property {PastAlert[]} pastAlerts Those of the last seven days, newest first
 * @property {FeedLine[]} feed Newest first
 * @property {FeedLine[] | undefined} pausedFeed The lines of the feed when it was paused
 * @property {number | undefined} hovered The time of the charts under the pointer (UNIX seconds)
 * @property {number | undefined} selected The time of the charts that the reader has chosen (UNIX seconds)
 * @property {FinishedCalls} finishedCalls
 * @property {Explorer} explorer
 * @property {CallPage} callPage
 * @property {Usage} usage
 * @property {Charts} charts
 * @property {Silencing} silencing
 */

/** @type {State} */
let state = {
  snapshot: undefined,
  connected: true,
  now: performance.now(),
  view: 'overview',
  query: new URLSearchParams(),
  target: '',
  pastAlerts: [],
  feed: [],
  pausedFeed: undefined,
  hovered: undefined,
  selected: undefined,
  finishedCalls: {
    status: '',
    since: '3600',
    from: '',
    answer: undefined,
    problem: undefined,
    query: '',
    asOf: '',
  },
  explorer: { request: '', calls: [], next: undefined, isLoading: false, problem: undefined, asOf: '' },
  callPage: { name: '', answer: undefined, problem: undefined },
  usage: { request: '', answer: undefined, problem: undefined, asOf: '' },
  charts: { filters: '', shown: undefined, isLoading: false, problem: undefined, loadedAt: -Infinity },
  silencing: { request: '', matched: undefined, problem: undefined, isSending: false, done: '' },
}

/** @type {(state: State) => void} */
let show = () => {}
let isDue = false
const HIDDEN_FRAME_MS = 250

/** @returns {State} */
export const current = () => state

/**
 * Changes a part of the state. The page shows it in the next frame.
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
  // A tab in the background has no frames, but its title is visible.
  if (document.hidden) setTimeout(flush, HIDDEN_FRAME_MS)
  else requestAnimationFrame(flush)
}

/** @param {typeof show} render */
export function onChange(render) {
  show = render
  change({})
}
