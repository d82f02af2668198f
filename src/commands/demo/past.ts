import type { Logger } from 'pino'
import { asyncScheduler } from 'rxjs'
import { systemClock, type Clock } from '../../clock/clock.ts'
import type { Config } from '../../config/config.ts'
import { ALONE } from '../../cluster/ownership.ts'
import type { Simulator } from '../../simulator/simulator.ts'
import { openSqliteStore } from '../../store/open-sqlite.ts'
import type { CommandStore } from '../../store/store.ts'
import { connect } from '../../pipeline/connection.ts'
import { runPoll } from '../../pipeline/pipeline.ts'
import { openTarget } from '../../pipeline/target.ts'
import { DAY_SECONDS, PAST_RULE } from './config.ts'

/** Calls a day. Polling through 35 days with this many takes seconds. */
export const PAST_CALLS_PER_DAY = 300
/** Seconds between two polls of the past, and while many calls fail. */
const POLL_INTERVAL_SECONDS = 3600
const CLOSE_POLL_INTERVAL_SECONDS = 120
/** How long polls stay frequent after an incident, until its alert has ended (seconds). */
const AFTERMATH_SECONDS = 4500
/** How long the service lists a call: longer than the lookback of the past (seconds). */
export const LISTED_SECONDS = 12 * 3600
/** Settings for such polls: a small page, and a lookback that reaches beyond the last poll (seconds). */
const POLL = { interval: POLL_INTERVAL_SECONDS, pageSize: 50, lookback: 6 * 3600, sweepInterval: DAY_SECONDS }

/** When many calls fail: on working days before today, at hours (UTC) with many calls. */
const INCIDENTS = [
  { workdaysAgo: 20, hour: 15.6, minutes: 90, calls: 150, outcomes: { canceled: 1, unanswered: 2 } },
  { workdaysAgo: 9, hour: 9.1, minutes: 35, calls: 70, outcomes: { rejected: 1, unanswered: 1 } },
  { workdaysAgo: 3, hour: 14.2, minutes: 70, calls: 140, outcomes: { unanswered: 1 } },
  { workdaysAgo: 1, hour: 10.4, minutes: 40, calls: 90, outcomes: { rejected: 4, canceled: 1 } },
]

/** When the latest incident is, if the past contains none of these days, as on the day before a Sunday. */
const LATEST_HOURS_AGO = 18

export type PastOptions = {
  config: Config
  /** The path of the demo's store. */
  store: string
  simulator: Pick<Simulator, 'burst'>
  /** When the past begins (UNIX seconds). It ends now. */
  from: number
  /** Sets the service's time (UNIX seconds). */
  setTime: (time: number) => void
  log: Logger
  /** Ends the simulated past early. */
  aborted: AbortSignal
}

/** The incidents of a past that begins at a time (UNIX seconds): at least one, the earliest first. */
export function incidentsAfter(from: number, now: number) {
  const times = INCIDENTS.map((incident) => ({ ...incident, begin: beginOf(incident, now) }))
  const within = times.filter(({ begin }) => begin > from)
  const all = within.length > 0 ? within : [{ ...times.at(-1)!, begin: now - LATEST_HOURS_AGO * 3600 }]
  return all.map((incident) => {
    const seconds = incident.minutes * 60
    return { ...incident, seconds, end: incident.begin + seconds }
  })
}

/**
 * Polls the simulated service through its past, on a clock that jumps from poll to poll. It uses the daemon's code for polls,
 * so the store looks as if a daemon had run all the time. No notifications are sent.
 *
 * @returns the number of events that it logged; undefined if it was aborted
 * @throws {StoreError} if the store cannot be used
 */
export async function pollPast(options: PastOptions): Promise<number | undefined> {
  const { config, simulator, from, setTime, log, aborted } = options
  const { wall } = systemClock
  let now = from
  const clock: Clock = { wall: () => now, monotonic: () => now - from, scheduler: asyncScheduler }
  const poll = { ...config.poll, ...POLL }
  const incidents = incidentsAfter(from, wall())
  const upcoming = [...incidents]
  const store = openSqliteStore({ path: options.store, durable: false })
  try {
    const rules = config.alerts.filter(({ name }) => name === PAST_RULE.name)
    const settings = { target: config.targets[0]!, poll, rules }
    const target = await openTarget({ settings, store, clock })
    const client = connect(settings, () => target, { ownership: ALONE, clock, log })
    for (;;) {
      setTime(now)
      while (upcoming[0] !== undefined && upcoming[0].begin <= now) simulator.burst(upcoming.shift()!)
      await Array.fromAsync(runPoll({ target, client, random: Math.random, mask: (text) => text }, aborted))
      if (aborted.aborted) return undefined
      const left = wall() - now
      // Calls that happen while the past is being polled belong to the past.
      if (left < 0.1) break
      const isClose = incidents.some(
        ({ begin, end }) => begin - POLL_INTERVAL_SECONDS <= now && now < end + AFTERMATH_SECONDS,
      )
      now += Math.min(left, isClose ? CLOSE_POLL_INTERVAL_SECONDS : POLL_INTERVAL_SECONDS)
    }
    return await loggedEvents(store)
  } finally {
    await store.close()
  }
}

/** The number of events in the log. */
export async function loggedEvents(store: Pick<CommandStore, 'latestEvents'>): Promise<number> {
  const [last] = await store.latestEvents(0)
  return last?.total ?? 0
}

function beginOf({ workdaysAgo, hour }: { workdaysAgo: number; hour: number }, now: number): number {
  let day = Math.floor(now / DAY_SECONDS) * DAY_SECONDS
  for (let left = workdaysAgo; left > 0;) {
    day -= DAY_SECONDS
    const isWorkday = ![0, 6].includes(new Date(day * 1000).getUTCDay())
    if (isWorkday) left -= 1
  }
  return day + hour * 3600
}
