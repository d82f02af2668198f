import { LEAST_SHARE, ruleSubjectOf, type Incident } from '../alerts/incidents.ts'
import { median } from '../alerts/signal.ts'
import { parse, type RowReader } from '../store/sql.ts'
import type { ToldGroup } from '../store/store.ts'

/** The clocks of hosts may be so far apart (seconds). */
const SKEW_SECONDS = 60

/** What the share of failed calls of an incident is of. */
export const shareOf = ({ alerts: [first] }: Incident) => ruleSubjectOf(first!)

/** Whether something of an incident still fires of what a receiver was told. */
export const isKnownTo = ({ targets, at }: ToldGroup, { firing }: Pick<Incident, 'firing'>) =>
  targets > 0 && firing.some(({ firingSince }) => firingSince <= at + SKEW_SECONDS)

/**
 * An incident for a receiver that knows it: it began when its first message said so, whichever of its alerts have ended since, and
 * so does the share before it. It begins anew if far fewer targets were told, if nothing of what was told still fires, or if it was told to
 * recover and most of what fires now began later.
 */
export function begunAsTold(incident: Incident, told: ToldGroup): Incident {
  const { targets, most = targets, since = incident.since, at, was, ends = false } = told
  const isRelapse = ends && median(incident.firing.map(({ firingSince }) => firingSince))! > at
  if (isRelapse || !isKnownTo(told, incident) || most < LEAST_SHARE * incident.targets.firing) return incident
  const { calls } = incident
  const isSame = calls && was?.subject === shareOf(incident)
  const known = { ...incident, since }
  return isSame ? { ...known, calls: { ...calls, before: was.before } } : known
}

/** What the receivers were told of each group. */
export type ToldGroups = ReadonlyMap<string, readonly (ToldGroup & { receiver: string })[]>

/** @throws {StoreError} */
export async function readTold({ rows }: RowReader): Promise<ToldGroups> {
  const found = await rows('SELECT receiver, name, data FROM callwatch.told_groups ORDER BY receiver')
  const told = found.map(({ receiver, name, data }) => {
    return { name: String(name), receiver: String(receiver), ...parse<ToldGroup>(data) }
  })
  return Map.groupBy(told, ({ name }) => name)
}

/** Incidents with the earliest beginning that the messages about them have, and with the latest message of each receiver. */
export function withToldBeginnings(incidents: readonly Incident[], told: ToldGroups): Incident[] {
  return incidents.map((incident) => {
    const known = (told.get(incident.key) ?? []).filter((one) => isKnownTo(one, incident))
    const [first = incident] = known.map((one) => begunAsTold(incident, one)).toSorted((a, b) => a.since - b.since)
    return { ...first, messages: known.map(({ receiver, at }) => ({ receiver, at })) }
  })
}
