import { duration, labelText } from './format.js'

/** @import { Alert, PerMinute, Rule, Target } from './api.js' */
/** @import { State } from './state.js' */

/** The final statuses, in the order of the stacked chart. */
export const STATUSES = /** @type {const} */ (['ended', 'unanswered', 'rejected', 'canceled', 'other'])
export const REASONS = /** @type {const} */ (['any', 'unanswered', 'rejected', 'canceled'])
/** @typedef {(typeof STATUSES)[number]} Status */

/** A window with fewer calls has no ratio, like the exported ones. */
const MIN_CALLS = 5

/**
 * The selected targets.
 *
 * @param {State} state
 * @returns {Target[]}
 */
export function shownTargets({ snapshot, target }) {
  return (snapshot?.status.targets ?? []).filter(({ name }) => target === '' || name === target)
}

/**
 * @template Item
 * @param {readonly Item[]} items
 * @param {(item: Item) => number} of
 */
export const sum = (items, of) => items.reduce((total, item) => total + of(item), 0)

/**
 * Open calls of some targets by type and mode.
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
 * The windows of some targets, added up.
 *
 * @param {Target[]} targets
 * @returns {Window[]}
 */
export function windowsOf(targets) {
  const [first, ...others] = targets
  if (first === undefined) return []
  return first.windows.map((window, i) => {
    const all = [window, ...others.flatMap(({ windows }) => windows[i] ?? [])]
    return all.length === 1 ? window : addUp(window, all)
  })
}

/**
 * @param {Window} like
 * @param {Window[]} windows
 * @returns {Window}
 */
function addUp(like, windows) {
  const finished = byStatus((status) => windows.reduce((n, one) => n + one.finished[status], 0))
  const { unanswered, rejected, canceled } = finished
  const calls = windows.reduce((n, window) => n + window.calls, 0)
  const ratio = {
    any: (unanswered + rejected + canceled) / calls,
    unanswered: unanswered / calls,
    rejected: rejected / calls,
    canceled: canceled / calls,
  }
  return { ...like, calls, finished, failure_ratio: calls < MIN_CALLS ? null : ratio }
}

/**
 * @typedef {object} RuleRatio
 * @property {string} target
 * @property {Rule} rule
 * @property {NonNullable<Rule['readings']>[number]} reading
 * @property {Alert | undefined} alert Undefined while the rule is inactive
 */

/**
 * The failure ratios of rules, those with the most urgent alerts first. A rule may match fewer calls than a window has.
 *
 * @param {State} state
 * @returns {RuleRatio[]}
 */
export function ruleRatios(state) {
  const keyOf = (/** @type {string} */ target, /** @type {string} */ rule, /** @type {Alert['labels']} */ labels) =>
    [target, rule, labelText(labels)].join('|')
  const alerts = new Map(shownAlerts(state).map((alert) => [keyOf(alert.target, alert.alert, alert.labels), alert]))
  return shownTargets(state)
    .flatMap(({ name: target, rules }) =>
      rules.flatMap((rule) =>
        (rule.readings ?? []).map((reading) => {
          return { target, rule, reading, alert: alerts.get(keyOf(target, rule.name, reading.labels)) }
        }),
      ),
    )
    .toSorted((a, b) => urgencyOf(a.alert) - urgencyOf(b.alert))
}

/**
 * The rules whose threshold applies to the windows of these targets: rules on all calls of a single target.
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
 * The window of the most important failure ratio: that of the rule on all calls and failures with the shortest window, so
 * that it agrees with the rule's alert; without such a rule, the shortest exported one.
 *
 * @param {Target[]} targets
 * @returns {{ window: string, calls: number, any: number | undefined } | undefined}
 */
export function mainWindow(targets) {
  const windows = windowsOf(targets)
  const [rule] = rulesOfWindows(targets)
    .filter(({ reason }) => reason === 'any')
    .toSorted((a, b) => (a.window_seconds ?? 0) - (b.window_seconds ?? 0))
  const { window_seconds: seconds = windows[0]?.seconds ?? 0, readings: [reading] = [] } = rule ?? {}
  const exported = windows.find((window) => window.seconds === seconds)
  if (exported !== undefined) return { ...exported, any: exported.failure_ratio?.any }
  return rule && { window: duration(seconds), calls: reading?.calls ?? 0, any: reading?.value ?? undefined }
}

/**
 * Minutes (UNIX seconds) with their finished calls; without counts if no poll has reached the minute.
 *
 * @typedef {{ at: number, counts: Record<Status, number> | undefined }[]} Minutes
 */

/**
 * The finished calls of each minute, over the selected targets.
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
  return (snapshot?.alerts ?? [])
    .filter((alert) => target === '' || alert.target === target)
    .toSorted((a, b) => urgencyOf(a) - urgencyOf(b))
}

/**
 * Orders alerts by severity, pending ones after all others, and no alert at the end. The most urgent has the lowest number.
 *
 * @param {Alert | undefined} alert
 */
export function urgencyOf(alert) {
  if (alert === undefined) return 100
  return (alert.state === 'pending' ? 10 : 0) + ['critical', 'warning', 'info'].indexOf(alert.severity)
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
