import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import { updateRollups, type RollupPosition } from '../history/rollups.ts'
import type { Store } from '../store/store.ts'
import { formatSeconds, formatTime } from '../text/format.ts'
import type { Job } from './jobs.ts'

const UPDATE_INTERVAL_SECONDS = 10
const LOG_INTERVAL_SECONDS = 60

export type RollupsOptions = { store: Store; clock: Clock; log: Pick<Logger, 'info'> }

/** Adds up calls for charts and reports. Charts and reports read calls one by one until they are added up. */
export function rollups({ store, clock, log }: RollupsOptions): Job {
  const newRun = progressLog(clock, log)
  return {
    every: UPDATE_INTERVAL_SECONDS,
    leaderOnly: true,
    run: async (draining) => {
      const logProgress = newRun()
      let position: RollupPosition | undefined
      do {
        position = await updateRollups(store, clock.wall(), position)
        logProgress(position)
      } while (position !== undefined && !draining.aborted)
    },
  }
}

/** Logs a run that takes longer than an interval: its progress at most once a minute, and at the end its duration. */
function progressLog(clock: Clock, log: Pick<Logger, 'info'>) {
  let nextLine = 0
  return () => {
    const begun = clock.monotonic()
    let isLogged = false
    return (position: RollupPosition | undefined): void => {
      const now = clock.monotonic()
      if (position === undefined && isLogged) log.info(`the history was added up in ${formatSeconds(now - begun)}`)
      if (position === undefined || now < Math.max(begun + UPDATE_INTERVAL_SECONDS, nextLine)) return
      isLogged = true
      nextLine = now + LOG_INTERVAL_SECONDS
      log.info(`the history is being added up for charts and reports: up to ${formatTime(position.quarter)}`)
    }
  }
}
