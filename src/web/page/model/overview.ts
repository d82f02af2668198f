import type { Target } from './api.ts'
import type { State } from './state.ts'
import { steady } from './steady.ts'
import { mainRatio, once, shownAlerts, shownTargets, urgencyOf } from './totals.ts'

/** A target in the overview, with its alerts, the most urgent first. */
export type OverviewRow = ReturnType<typeof rowsOf>[number]

/** The selected targets, worst first: failing polls, then firing alerts, then the failure ratio. */
export function overviewOf(state: State): readonly OverviewRow[] {
  const worstFirst = rowsOf(state).toSorted(
    (a, b) => rankOf(a) - rankOf(b) || (b.main?.any ?? -1) - (a.main?.any ?? -1),
  )
  return steady(state, 'targets', worstFirst, ({ target }) => target.name, rankOf)
}

const ratioOf = once((target: Target) => mainRatio([target]))

function rowsOf(state: State) {
  const alerts = Map.groupBy(shownAlerts(state), ({ target }) => target)
  return shownTargets(state).map((target) => ({
    target,
    alerts: alerts.get(target.name) ?? [],
    main: ratioOf(target),
  }))
}

/** By its polls and its alerts; the worst target has the lowest. */
const rankOf = ({ target, alerts: [first] }: OverviewRow) => (target.state === 'up' ? 1000 : 0) + urgencyOf(first)
