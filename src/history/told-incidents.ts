import { ruleSubjectOf, type Incident } from '../alerts/incidents.ts'
import { list, parse, type RowReader } from '../store/sql.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { ToldGroup } from '../store/store.ts'

/** The clocks of hosts may be so far apart (seconds). */
const SKEW_SECONDS = 60

/** What the share of failed calls of an incident is of. */
export const shareOf = ({ alerts: [first] }: Incident) => ruleSubjectOf(first!)

/** Whether something of an incident still fires of what a receiver was told. */
export const isKnownTo = ({ targets, at }: ToldGroup, { firing }: Pick<Incident, 'firing'>) =>
  targets > 0 && firing.some(({ firingSince }) => firingSince <= at + SKEW_SECONDS)

/**
 * An incident for a receiver that knows it: it began when its first message said so, also if the earliest of its alerts have ended, and
 * so does the share before it.
 */
export function begunAsTold(incident: Incident, { since = Infinity, was }: ToldGroup): Incident {
  const { calls } = incident
  const isSame = calls && was?.subject === shareOf(incident)
  const known = { ...incident, since: Math.min(incident.since, since) }
  return isSame ? { ...known, calls: { ...calls, before: was.before } } : known
}

/** Incidents with the earliest beginning that the messages about them have. */
export async function withToldBeginnings(incidents: readonly Incident[], { rows }: RowReader): Promise<Incident[]> {
  if (incidents.length === 0) return []
  const query = 'SELECT name, data FROM callwatch.told_groups WHERE name IN texts($1)'
  const found = await rows(query, [list(incidents.map(({ key }) => key))]).catch(onlyStoreErrors([]))
  const told = Map.groupBy(found, ({ name }) => String(name))
  return incidents.map((incident) => {
    const known = (told.get(incident.key) ?? []).map(({ data }) => parse<ToldGroup>(data))
    const [first] = known
      .filter((one) => isKnownTo(one, incident))
      .toSorted((a, b) => (a.since ?? Infinity) - (b.since ?? Infinity))
    return first === undefined ? incident : begunAsTold(incident, first)
  })
}
