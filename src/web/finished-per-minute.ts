import type { ServedTargets } from './server.ts'
import { coverageOf } from '../history/coverage.ts'
import type { Period } from '../history/days.ts'
import type { Store } from '../store/store.ts'
import { isoTime } from '../clock/times.ts'
import { type OtherTarget } from '../views/overview.ts'
import { serviceNow } from '../views/target.ts'
import type { FinishedPerMinute } from '../views/series.ts'
import { byOutcome } from '../views/shapes.ts'

const MINUTE = 60
/** How many minutes there are. */
const MINUTES = 60

export type PerMinuteSource = {
  targets: Pick<ServedTargets, 'all' | 'own'> & {
    others: () => readonly Pick<OtherTarget, 'name' | 'at' | 'lastSuccess' | 'serviceNow'>[]
  }
  store: Pick<Store, 'finishedPerMinute' | 'rows'>
  wall: () => number
}

/**
 * The finished calls of the last minutes (UTC, by the service's clock), as the store has them. Those of other daemons' targets are only
 * there. The minute of the last successful poll is incomplete; later ones are not known.
 *
 * @throws {StoreError} if the store cannot be read now
 */
export async function countPerMinute(
  { targets, store, wall }: PerMinuteSource,
  minutes = MINUTES,
): Promise<FinishedPerMinute> {
  const own = targets.own().map((each) => ({
    name: each.name,
    lastSuccess: each.ledger.sync.lastSuccess,
    now: serviceNow(each),
  }))
  const others = targets.others().map(({ name, lastSuccess, at, serviceNow: then }) => ({
    name,
    lastSuccess,
    now: then + Math.max(0, wall() - at),
  }))
  const shown = [...own, ...others]
  // All targets have the same minutes, so that clients can add them up. A daemon that has just started may not know any target yet.
  const now = shown.length === 0 ? wall() : Math.max(...shown.map((target) => target.now))
  const first = (Math.floor(now / MINUTE) - minutes + 1) * MINUTE
  const counts = new Map(
    shown.map(({ name, lastSuccess = -Infinity }) => {
      const none = () => Array.from({ length: minutes }, (_, i) => (first + i * MINUTE > lastSuccess ? null : 0))
      return [name, byOutcome(none)]
    }),
  )
  for (const { target, minute, status, n } of await store.finishedPerMinute([...counts.keys()], first, minutes)) {
    const of = counts.get(target)?.[status]
    if (of?.[minute] !== undefined && of[minute] !== null) of[minute] += n
  }
  const period = { from: first, to: first + minutes * MINUTE }
  const { blind } = await coverageOf(store, period, { targets: [...counts.keys()], now: wall() })
  const blindOf = Map.groupBy(blind, ({ target }) => target)
  return {
    since: isoTime(first),
    step_seconds: MINUTE,
    targets: targets.all().flatMap((name) => {
      const found = counts.get(name)
      return found === undefined ? [] : [{ name, ...found, blind: blindOf.get(name)?.map(wholeMinutes) }]
    }),
  }
}

/** The same for a minute, although time passes. */
const wholeMinutes = ({ from, to }: Period) => ({
  since: isoTime(Math.floor(from / MINUTE) * MINUTE),
  until: isoTime(Math.ceil(to / MINUTE) * MINUTE),
})
