import { onceEach } from './once-each.ts'
import { wilsonBounds } from './wilson.ts'

/** A target as it is configured. */
export type FleetTarget = { name: string; appId?: string | undefined; baseUrl?: string | undefined }

export const KINDS = ['name', 'region', 'app'] as const

/** What failing targets have in common and others have not: how many of those that have it fail, and of the others. */
export type Shared = { by: (typeof KINDS)[number]; value: string } & Share & { others: Share }
type Share = { failing: number; of: number }

/** The confidence with which the share of it among the failing targets must exceed that among all. Fewer targets prove nothing. */
const CONFIDENCE = 0.95
const LEAST = 3

/**
 * The part of the names, the region or the app that explains most failing targets: more than half of them have it, and more of them than of
 * all targets by more than chance (Wilson 1927), as with the top contributor. Pure.
 */
export function sharedBy(failing: ReadonlySet<string>, fleet: readonly FleetTarget[]): Shared | undefined {
  const { traits, counts } = traitsOf(fleet)
  const among = new Map<string, number>()
  for (const name of failing) for (const trait of traits.get(name) ?? []) among.set(trait, (among.get(trait) ?? 0) + 1)
  const found = [...among]
    .filter(([, n]) => n >= LEAST && 2 * n > failing.size)
    .map(([trait, n]) => {
      const { lower } = wilsonBounds(n, failing.size, CONFIDENCE)
      return { trait, n, lift: lower / (counts.get(trait)! / fleet.length) }
    })
  const [first] = found.filter(({ lift }) => lift > 1).toSorted((a, b) => b.lift - a.lift)
  if (first === undefined) return undefined
  const { trait, n } = first
  const of = counts.get(trait)!
  const others = { failing: failing.size - n, of: fleet.length - of }
  const by = KINDS.find((kind) => trait.startsWith(`${kind} `))!
  return { by, value: trait.slice(by.length + 1), failing: n, of, others }
}

/** The traits of each target, and how many have each of them. */
const traitsOf = onceEach((fleet: readonly FleetTarget[]) => {
  const traits = new Map(fleet.map((target) => [target.name, traitsOfTarget(target)]))
  const counts = new Map<string, number>()
  for (const trait of [...traits.values()].flat()) counts.set(trait, (counts.get(trait) ?? 0) + 1)
  return { traits, counts }
})

function traitsOfTarget({ name, appId, baseUrl = '' }: FleetTarget): string[] {
  const parts = name.split(/([-._])/)
  const names = parts.flatMap((part, i) => {
    if (i % 2 === 1 || part === '' || parts.length === 1) return []
    const [before = '', after = ''] = [parts[i - 1], parts[i + 1]]
    return `name ${before && `*${before}`}${part}${after && `${after}*`}`
  })
  const region = /\.call-([a-z\d]+)\./.exec(baseUrl)?.[1]
  return [...new Set(names), ...(region ? [`region ${region}`] : []), ...(appId ? [`app ${appId}`] : [])]
}
