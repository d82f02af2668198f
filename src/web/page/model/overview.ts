import { ageOfTargets, healthOf, isStale } from './notices.ts'
import type { Target } from './api.ts'
import { change, current, type State } from './state.ts'
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

/** As many targets are shown at a time. */
const WINDOW = 30

/** The targets that the search and the state select, and those of them that are shown. Several parts of the page need them. */
export const targetWindow = once((state: State) => {
  const { text, health, from } = state.targetSearch
  const searched = text.trim().toLowerCase()
  const found = overviewOf(state).filter(
    (row) =>
      (health === '' || health === row.health || (health === 'alerts' && row.alerts.length > 0)) &&
      [row.target.name, ...row.alerts.map(({ alert }) => alert)].some((name) => name.toLowerCase().includes(searched)),
  )
  const first = from < found.length ? from : 0
  return { found, first, rows: found.slice(first, first + WINDOW) }
})

/** Shows other targets, by default from the first one that is selected. */
export const searchTargets = (changed: Partial<State['targetSearch']>) =>
  change({ targetSearch: { ...current().targetSearch, from: 0, ...changed } })

/** @param steps how many windows forward, or back if below zero */
export const moveWindow = (first: number, steps: number) => searchTargets({ from: Math.max(0, first + steps * WINDOW) })

const ratioOf = once((target: Target) => mainRatio([target]))

function rowsOf(state: State) {
  const [age, alerts] = [ageOfTargets(state), Map.groupBy(shownAlerts(state), ({ target }) => target)]
  return shownTargets(state).map((target) => ({
    target,
    health: healthOf(target, age),
    stale: isStale(target, age),
    alerts: alerts.get(target.name) ?? [],
    main: ratioOf(target),
  }))
}

/** By its polls and its alerts; the worst target has the lowest. */
const rankOf = ({ health, alerts: [first] }: OverviewRow) => (health === 'up' ? 1000 : 0) + urgencyOf(first)
