import { count, duration, momentInZone, plain } from './format.js'
import { shownTargets } from './totals.js'

/** @import { State } from './state.js' */
/** @import { Target } from './api.js' */

/** Data are stale after so many intervals without a successful poll, and the seconds that a snapshot may take. */
const [STALE_AFTER_INTERVALS, SNAPSHOT_SECONDS] = [3, 3]

/**
 * Why the shown data are not live. Screen readers read `text` once; `age` changes each second.
 *
 * @typedef {{ text: string, age: string }} Notice
 */

/**
 * The reasons why the shown data are not live; none if they are.
 *
 * @param {State} state
 * @returns {Notice[]}
 */
export function noticesOf(state) {
  const { snapshot, connected, target } = state
  if (snapshot === undefined) return connected ? [] : [{ text: 'Not connected to callwatch. No data yet.', age: '' }]
  const age = snapshotAge(state)
  const { now, problem } = snapshot.status
  const targets = shownTargets(state)
  /** @type {Notice[]} */
  const notices = []
  if (!connected) {
    const text = `Not connected to callwatch. Data of ${momentInZone(now, now)}.`
    notices.push({ text, age: `${duration(age)} ago` })
  }
  if (problem !== undefined) notices.push({ text: sentence(problem), age: '' })
  if (target !== '' && targets.length === 0) notices.push({ text: `There is no target ${target}.`, age: '' })
  return [...notices, ...staleTargets(state).map((target) => staleNotice(target, age, snapshot.status))]
}

/**
 * The selected targets whose data are stale.
 *
 * @param {State} state
 */
export function staleTargets(state) {
  const age = snapshotAge(state)
  return shownTargets(state).filter((target) => isStale(target, age))
}

/**
 * Whether all that the page shows is stale, and not some targets alone.
 *
 * @param {State} state
 */
export function isAllStale(state) {
  const stale = staleTargets(state).length
  const isPart = state.connected && state.snapshot?.status.problem === undefined && stale < shownTargets(state).length
  return !isPart && noticesOf(state).length > 0
}

/**
 * @param {Target} target
 * @param {number} age of the snapshot (seconds)
 * @param {{ now: string, problem?: string }} status
 * @returns {Notice}
 */
function staleNotice({ name, last_success, lag_seconds, problem, listing }, age, status) {
  const why = problem === undefined || problem === status.problem ? '' : ` ${sentence(plain(problem))}`
  if (last_success !== null) {
    const text = `${name}: no successful poll since ${momentInZone(last_success, status.now)}.${why}`
    return { text, age: `last successful poll ${duration(lag_seconds + age)} ago` }
  }
  const { pages_read = 0, pages = null, seconds_left = null } = listing ?? {}
  const total = pages === null ? 'an unknown number of' : count(pages)
  const left = seconds_left === null ? '' : `, about ${duration(seconds_left)} to go`
  return {
    text: `${name}: waiting for the initial sync.${why}`,
    age: pages_read === 0 ? '' : `${count(pages_read)} of ${total} pages read${left}`,
  }
}

/**
 * @param {Target} target
 * @param {number} age of the snapshot (seconds)
 */
export function isStale({ last_success, lag_seconds, interval_seconds }, age) {
  return last_success === null || lag_seconds + age > STALE_AFTER_INTERVALS * interval_seconds + SNAPSHOT_SECONDS
}

/**
 * Whether the polls of a target succeed.
 *
 * @param {Target} target
 * @param {number} age of the snapshot (seconds)
 * @returns {'up' | 'stale' | 'down'}
 */
export function healthOf(target, age) {
  if (!target.up) return 'down'
  return isStale(target, age) ? 'stale' : 'up'
}

/**
 * The age of the snapshot (seconds).
 *
 * @param {Pick<State, 'snapshot' | 'now'>} state
 */
export function snapshotAge({ snapshot, now }) {
  return snapshot === undefined ? 0 : Math.max(0, (now - snapshot.takenAt) / 1000)
}

/** @param {string} text */
function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
