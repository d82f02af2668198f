/** @import { Alert, PerMinute, Rule, Target } from './api.js' */
/** @import { State } from './state.js' */

/** The final statuses, in the order in which they are stacked. */
export const STATUSES = /** @type {const} */ (['ended', 'unanswered', 'rejected', 'canceled', 'other'])
export const REASONS = /** @type {const} */ (['any', 'unanswered', 'rejected', 'canceled'])
/** @typedef {(typeof STATUSES)[number]} Status */

/** As for the exported ratios: with fewer calls there is none. */
const MIN_CALLS = 5

/**
 * The targets that are shown.
 *
 * @param {State} state
 * @returns {Target[]}
 */
export function shownTargets({ snapshot, target }) {
  return (snapshot?.status.targets ?? []).filter(({ name }) => target === '' || name === target)
}

/**
 * @param {Target[]} targets
 * @param {(target: Target) => number} of
 */
export const sum = (targets, of) => targets.reduce((total, target) => total + of(target), 0)

/**
 * Open calls by type and mode, over all these targets.
 *
 * @param {Target[]} targets
 * @returns {Map<string, number>} by `type|mode`
 */
export function inProgressBy(targets) {
  const counts = new Map()
  for (const { type, mode, calls } of targets.flatMap(({ in_progress_by }) => in_progress_by)) {
    counts.set(`${type}|${mode}`, (counts.get(`${type}|${mode}`) ?? 0) + calls)
  }
  return counts
}

/** @typedef {Target['windows'][number]} Window */

/**
 * The failure ratios over all these targets; of one target they are its own.
 *
 * @param {Target[]} targets
 * @returns {Window[]}
 */
export function windowsOf(targets) {
  const [first, ...others] = targets
  if (first === undefined) return []
  return first.windows.map((window, i) => {
    const all = [window, ...others.flatMap(({ windows }) => windows[i] ?? [])]
    return all.length === 1 ? window : together(window, all)
  })
}

/**
 * @param {Window} like
 * @param {Window[]} windows
 * @returns {Window}
 */
function together(like, windows) {
  const finished = byStatus((status) => windows.reduce((n, one) => n + one.finished[status], 0))
  const { unanswered, rejected, canceled } = finished
  const calls = windows.reduce((n, window) => n + window.calls, 0)
  const ratio = {
    any: (unanswered + rejected + canceled) / calls,
    unanswered: unanswered / calls,
    rejected: rejected / calls,
    canceled: canceled / calls,
  }
  return { ...like, calls, finished, ratio: calls < MIN_CALLS ? null : ratio }
}

/** @typedef {{ target: string, rule: Rule, reading: NonNullable<Rule['readings']>[number] }} JudgedRatio */

/**
 * What the rules about failure ratios judge, each of its own calls, which may be fewer than those of a window.
 *
 * @param {Target[]} targets
 * @returns {JudgedRatio[]}
 */
export function judgedRatios(targets) {
  return targets.flatMap(({ name: target, rules }) =>
    rules.flatMap((rule) => (rule.readings ?? []).map((reading) => ({ target, rule, reading }))),
  )
}

/**
 * The rules that judge just these windows: those of one target, and all of its calls.
 *
 * @param {Target[]} targets
 * @returns {Rule[]}
 */
export function rulesOfWindows(targets) {
  const [only, ...others] = targets
  if (only === undefined || others.length > 0) return []
  return only.rules.filter(
    ({ signal, match, by }) => signal === 'failure_ratio' && Object.keys(match).length === 0 && by.length === 0,
  )
}

/**
 * Minutes (UNIX seconds) and how calls finished in them; without counts where no target has been looked at yet.
 *
 * @typedef {{ at: number, counts: Record<Status, number> | undefined }[]} Minutes
 */

/**
 * The finished calls of each minute, over all targets that are shown.
 *
 * @param {PerMinute} perMinute
 * @param {string} target
 * @returns {Minutes}
 */
export function minutesOf({ since, step_seconds: step, targets }, target) {
  const shown = targets.filter(({ name }) => target === '' || name === target)
  const from = Date.parse(since) / 1000
  return (shown[0]?.ended ?? []).map((_, i) => {
    const isKnown = shown.some(({ ended }) => ended[i] !== null)
    const counts = byStatus((status) => shown.reduce((n, one) => n + (one[status][i] ?? 0), 0))
    return { at: from + i * step, counts: isKnown ? counts : undefined }
  })
}

/**
 * @param {State} state
 * @returns {Alert[]} the most urgent first
 */
export function shownAlerts({ snapshot, target }) {
  const urgency = ['critical', 'warning', 'info']
  const rank = (/** @type {Alert} */ { state, severity }) => (state === 'pending' ? 10 : 0) + urgency.indexOf(severity)
  return (snapshot?.alerts ?? [])
    .filter((alert) => target === '' || alert.target === target)
    .toSorted((a, b) => rank(a) - rank(b))
}

/**
 * A number for each final status.
 *
 * @param {(status: Status) => number} of
 */
function byStatus(of) {
  return {
    ended: of('ended'),
    unanswered: of('unanswered'),
    rejected: of('rejected'),
    canceled: of('canceled'),
    other: of('other'),
  }
}
