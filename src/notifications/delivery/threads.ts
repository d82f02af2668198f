import type { Grouped } from './groups.ts'

const openIn = ({ heard }: Grouped) => heard.filter(({ endAge }) => endAge === undefined)

/**
 * The message with which the incident of a group goes on: the latest one of its alerts. Of several groups with one message, as after a
 * reload, the one with its oldest alert keeps it.
 */
export function threadOf(own: Grouped, groups: ReadonlyMap<string, Grouped>): string | undefined {
  const oldestIn = (group: Grouped, thread: string) =>
    openIn(group).reduce(
      (least, { entry }) => (entry.thread === thread ? Math.min(least, entry.firingSince) : least),
      Infinity,
    )
  const latest = openIn(own).toSorted((a, b) => a.age - b.age)
  return [...new Set(latest.map(({ entry }) => entry.thread))].find((thread) =>
    groups.values().every((other) => other === own || oldestIn(own, thread) <= oldestIn(other, thread)),
  )
}
