import { RULE_LABELS } from '../../../../alerts/groups.ts'
import { getPastAlerts, type Call, type PastAlert } from '../api.ts'
import { isoOf } from '../format.ts'
import { load } from '../state.ts'

/** The first alert of a rule that fired on the target of a call during the call, and on how many targets the rule fired then. */
export type Meanwhile = { alert: PastAlert; targets: number; isCut: boolean }

const requestOf = ({ target, call_id }: Call) => `${target}|${call_id}`

/** Loads what fired during a call. */
export const loadMeanwhile = (call: Call) =>
  load('meanwhile', requestOf(call), () => alertsDuring(call), 'The alerts of that time could not be loaded')

/** Whether what has been loaded is of this call. */
export const isOfCall = ({ request }: { request: string }, call: Call) => request === requestOf(call)

async function alertsDuring(call: Call): Promise<Meanwhile[]> {
  const { target, began, finished } = call
  // What fires at the end itself counts: a period is without its end, and the API shows whole milliseconds.
  const until = finished === undefined ? {} : { until: isoOf((Date.parse(finished) + 1) / 1000) }
  const ask = (of: object) => getPastAlerts(new URLSearchParams({ ...of, since: began, ...until }).toString())
  const { alerts } = await ask({ target })
  const own = alerts.filter(({ labels }) => RULE_LABELS.every((name) => (labels[name] ?? call[name]) === call[name]))
  const found: Meanwhile[] = []
  // The server answers two such requests at a time.
  for (const [alert, same] of Map.groupBy(own, (one) => one.alert)) {
    const { alerts: all, truncated: isCut = false } = await ask({ alert })
    found.push({ alert: same.at(-1)!, targets: new Set(all.map((one) => one.target)).size, isCut })
  }
  return found
}
