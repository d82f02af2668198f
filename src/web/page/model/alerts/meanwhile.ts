import { RULE_LABELS } from '../../../../alerts/groups.ts'
import { getPastAlerts, type Call, type PastAlert } from '../api.ts'
import { isoOf } from '../format.ts'
import { current, load } from '../state.ts'
import { periodOf } from './alert-page.ts'

/**
 * The first alert of a rule on the target of a call that fired during the call, or whose value counted it, and on how many targets the rule
 * did. `isLater`: it fired after the end of the call.
 */
export type Meanwhile = { alert: PastAlert; targets: number; isCut: boolean; isLater: boolean }

const requestOf = ({ target, call_id }: Call) => `${target}|${call_id}`

/** Loads what fired during a call, or because of it. */
export const loadMeanwhile = (call: Call) =>
  load('meanwhile', requestOf(call), () => alertsDuring(call), 'The alerts of that time could not be loaded')

/** Whether what has been loaded is of this call. */
export const isOfCall = ({ request }: { request: string }, call: Call) => request === requestOf(call)

async function alertsDuring(call: Call): Promise<Meanwhile[]> {
  const { target, began, finished } = call
  const end = finished === undefined ? Infinity : Date.parse(finished)
  // What fires at the end itself counts: a period is without its end, and the API shows whole milliseconds.
  const last = (end + 1) / 1000 + longestWindow(target)
  const until = finished === undefined ? {} : { until: isoOf(last) }
  const ask = (of: object) => getPastAlerts(new URLSearchParams({ ...of, since: began, ...until }).toString())
  const isLater = ({ since }: PastAlert) => Date.parse(since) > end
  const isMeant = (one: PastAlert) => {
    const labels = isLater(one) ? { ...one.match, ...one.labels } : one.labels
    return (
      (!isLater(one) || hasCounted(one, end)) &&
      RULE_LABELS.every((name) => (labels[name] ?? call[name]) === call[name])
    )
  }
  const { alerts } = await ask({ target })
  const found: Meanwhile[] = []
  // The server answers two such requests at a time.
  for (const [alert, same] of Map.groupBy(alerts.filter(isMeant), (one) => one.alert)) {
    const { alerts: all, truncated: isCut = false } = await ask({ alert })
    const [first, then] = [same.at(-1)!, all.filter((one) => !isLater(one) || hasCounted(one, end))]
    found.push({ alert: first, targets: new Set(then.map((one) => one.target)).size, isCut, isLater: isLater(first) })
  }
  return found
}

/** Whether the calls that finished then are among those that the value of an alert has counted (milliseconds since 1970). */
function hasCounted(alert: PastAlert, finished: number) {
  const { since = '', until = '' } = periodOf(alert) ?? {}
  return Date.parse(since) <= finished && finished < Date.parse(until)
}

/** An alert fires so long after a call that its value counts, at most (seconds). */
const longestWindow = (target: string) =>
  Math.max(
    0,
    ...(current().snapshot?.targets ?? [])
      .filter(({ name }) => name === target)
      .flatMap(({ rules }) => rules.map(({ window_seconds: seconds = 0 }) => seconds)),
  )
