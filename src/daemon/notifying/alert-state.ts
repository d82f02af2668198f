import { OTHERS_STALE_INTERVALS, STALE_INTERVALS } from '../../clock/intervals.ts'
import type { State } from '../../notifications/receiver.ts'
import { livesOf } from '../../alerts/alert.ts'
import type { DaemonParts } from '../parts.ts'

/** The state of all targets, including those of other daemons. */
export function alertState({ config, clock, targets, ownership, overviews: { others } }: DaemonParts): State {
  const begun = clock.monotonic()
  return {
    alerts: () => livesOf([...targets.loaded(), ...others()]),
    isWorking: () => {
      const { interval } = config().poll
      const [loaded, elsewhere] = [targets.loaded(), others()]
      const isFresh = (age: number) => age <= OTHERS_STALE_INTERVALS * interval
      return (
        loaded.every(
          ({ evaluationAge, health }) => evaluationAge() <= STALE_INTERVALS * interval && health().fault !== 'store',
        ) &&
        elsewhere.every(({ at, evaluationAge }) => isFresh(evaluationAge + clock.wall() - at)) &&
        // No daemon has loaded the remaining targets yet.
        (loaded.length + elsewhere.length === targets.all().length || isFresh(clock.monotonic() - begun))
      )
    },
    interval: () => config().poll.interval,
    membership: ownership.membership,
  }
}
