import { callSeries } from '../call-series.ts'
import type { Invited } from '../call.ts'
import { COUNTERS, INVITED, seriesKey } from '../series.ts'
import { MARK, type TrackedCall } from '../tracked-call.ts'
import type { DeltaDraft } from './delta-draft.ts'

export const isSameInvited = (one: Invited | undefined, other: Invited | undefined) =>
  one?.joined === other?.joined && one?.absent === other?.absent

type Amounts = Record<(typeof INVITED)[number], number>
const NOBODY: Amounts = { joined: 0, absent: 0, unknown: 0 }

/** What a call counts of the people whom it invited: nothing before it has finished, nor while its participants are requested. */
function amountsOf({ finish, marks }: TrackedCall): Amounts {
  if (finish?.invited !== undefined) return { ...finish.invited, unknown: 0 }
  return finish === undefined || (marks & MARK.detailsWanted) !== 0 ? NOBODY : { ...NOBODY, unknown: 1 }
}

/** Counts what a change adds of the people whom a call invited, with the labels of its finish. What it takes away is a correction. */
export function countInvited(before: TrackedCall | undefined, after: TrackedCall, draft: DeltaDraft): void {
  if (after.finish === undefined) return
  const [counted, now] = [before === undefined ? NOBODY : amountsOf(before), amountsOf(after)]
  for (const outcome of INVITED) {
    const more = now[outcome] - counted[outcome]
    if (more > 0) draft.add(callSeries(after.finish.labels).invited[outcome], more)
    if (more < 0) draft.add(seriesKey(COUNTERS.invitedCorrections, outcome), -more)
  }
}
