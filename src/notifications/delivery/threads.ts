import type { Grouped } from './groups.ts'

const openIn = ({ heard }: Grouped) => heard.filter(({ endedAt }) => endedAt === undefined)

/**
 * The message with which the incident of a group goes on: the latest one of its alerts. Of several groups with one message, as after a
 * reload, the one with its oldest alert keeps it.
 */
export function threadOf(own: Grouped, groups: ReadonlyMap<string, Grouped>): string | undefined {
  const oldestIn = (group: Grouped, thread: string) =>
    openIn(group).reduce((least, one) => (one.thread === thread ? Math.min(least, one.firingSince) : least), Infinity)
  const latestFirst = openIn(own).toSorted((a, b) => b.heardAt - a.heardAt)
  return [...new Set(latestFirst.map(({ thread }) => thread))].find((thread) =>
    groups.values().every((other) => other === own || oldestIn(own, thread) <= oldestIn(other, thread)),
  )
}

/** The other messages of the alerts of a group, with which no incident goes on: this one continues them. */
export function mergedIn(own: Grouped, groups: ReadonlyMap<string, Grouped>): string[] {
  const threads = new Set(openIn(own).map(({ thread }) => thread))
  if (threads.size < 2) return []
  const kept = new Set(groups.values().map((group) => threadOf(group, groups)))
  return [...threads].filter((thread) => !kept.has(thread))
}
