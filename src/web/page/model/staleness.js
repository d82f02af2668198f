import { clock, count, duration, moment, plain } from './format.js'
import { shownTargets } from './totals.js'

/** @import { State } from './state.js' */
/** @import { Target } from './api.js' */

/** Data are old after so many intervals without a good poll, and what a snapshot may take to come (seconds). */
const [INTERVALS, DELAY] = [3, 3]

/**
 * What the reader has to know before trusting a number: `said` is read out once, `age` goes on by itself.
 *
 * @typedef {{ said: string, age: string }} Trouble
 */

/**
 * Why what is shown is not how things are now; nothing when it is.
 *
 * @param {State} state
 * @returns {Trouble[]}
 */
export function troublesOf(state) {
  const { snapshot, connected } = state
  if (snapshot === undefined)
    return connected ? [] : [{ said: 'Not connected to callwatch: there are no numbers yet.', age: '' }]
  const age = secondsSince(state)
  const { now, problem: trouble } = snapshot.status
  /** @type {Trouble[]} */
  const lost = connected
    ? []
    : [{ said: `Not connected to callwatch: numbers of ${clock(now)} UTC.`, age: `${duration(age)} ago` }]
  const ours = trouble === undefined ? [] : [{ said: sentence(trouble), age: '' }]
  const old = shownTargets(state)
    .filter((target) => isOld(target, age))
    .map(({ name, last_success, lag_seconds, problem, listing }) => {
      const why = problem === undefined || problem === trouble ? '' : ` ${sentence(plain(problem))}`
      if (last_success === null) {
        const age =
          listing === undefined || listing.pages_read === 0
            ? ''
            : `${count(listing.pages_read)} of ${pagesOf(listing)} pages read`
        return { said: `${name}: waiting for the first look.${why}`, age }
      }
      const at = moment(last_success, now)
      return {
        said: `${name}: no good poll since ${at} UTC.${why}`,
        age: `last good poll ${duration(lag_seconds + age)} ago`,
      }
    })
  const isGone = state.target !== '' && shownTargets(state).length === 0
  const gone = isGone ? [{ said: `There is no target ${state.target}.`, age: '' }] : []
  return [...lost, ...ours, ...gone, ...old]
}

/**
 * @param {Target} target
 * @param {number} age of the snapshot (seconds)
 */
export function isOld({ last_success, lag_seconds, interval_seconds }, age) {
  return last_success === null || lag_seconds + age > INTERVALS * interval_seconds + DELAY
}

/**
 * How old the snapshot is (seconds).
 *
 * @param {Pick<State, 'snapshot' | 'now'>} state
 */
export function secondsSince({ snapshot, now }) {
  return snapshot === undefined ? 0 : Math.max(0, (now - snapshot.takenAt) / 1000)
}

/** @param {NonNullable<Target['listing']>} listing */
const pagesOf = ({ pages }) => (pages === null ? 'an unknown number of' : count(pages))

/** @param {string} text */
function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
