import { healthOf, isStale, snapshotAge } from './notices.ts'
import type { State } from './state.ts'
import { mainRatio, minutesOf, shownAlerts, shownTargets, urgencyOf } from './totals.ts'

/** A target in the overview, with its alerts, the most urgent first. */
export type OverviewRow = ReturnType<typeof rowsOf>[number]

/** The selected targets, worst first: failing polls, then firing alerts, then the failure ratio. */
export function overviewOf(state: State): OverviewRow[] {
  return rowsOf(state).toSorted((a, b) => differences(a, b).find((difference) => difference !== 0) ?? 0)
}

function rowsOf(state: State) {
  const [age, alerts] = [snapshotAge(state), Map.groupBy(shownAlerts(state), ({ target }) => target)]
  return shownTargets(state).map((target) => ({
    target,
    health: healthOf(target, age),
    stale: isStale(target, age),
    alerts: alerts.get(target.name) ?? [],
    main: mainRatio([target]),
    minutes: state.snapshot === undefined ? [] : minutesOf(state.snapshot.perMinute, target.name),
  }))
}

/** How two targets differ, the most important first; below zero if the first one is worse. */
function differences(a: OverviewRow, b: OverviewRow) {
  const failing = ({ health }: OverviewRow) => (health === 'up' ? 1 : 0)
  const urgency = ({ alerts: [first] }: OverviewRow) => urgencyOf(first)
  return [failing(a) - failing(b), urgency(a) - urgency(b), (b.main?.any ?? -1) - (a.main?.any ?? -1)]
}
