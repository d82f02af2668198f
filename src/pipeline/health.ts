import type { PollReport } from '../polling/poll-report.ts'
import { recentShare } from './recent-share.ts'

/** How a target is doing: the report of its last poll, and what earlier polls showed. */
export type Health = ReturnType<HealthRecord['current']>

/** The report of a poll that did nothing. */
export const NO_POLL: PollReport = {
  outcome: 'failed',
  successful: false,
  seconds: 0,
  requests: [],
  remaining: undefined,
  problem: undefined,
}

const isPage = ({ operation, code }: PollReport['requests'][number]) => operation === 'list_calls' && code === '200'

export type HealthRecord = ReturnType<typeof healthRecord>

/**
 * Records how a target has been doing since the process started.
 *
 * @param monotonic seconds
 */
export function healthRecord(monotonic: () => number) {
  let last: Omit<PollReport, 'requests'> = NO_POLL
  /** What failed in the last hinted request since the last poll. */
  let hintedProblem: string | undefined
  let hasPage = true
  let failed: { polls: number; since: number } | undefined
  /** When the requests of the last minute were made. */
  let recent: number[] = []
  const answers = recentShare(monotonic)
  let polledSince = monotonic()
  let effectiveInterval: number | undefined
  let endedAt: number | undefined
  return {
    add: ({ requests, ...poll }: PollReport) => {
      const at = monotonic()
      if (endedAt === undefined) polledSince = at
      else effectiveInterval = at - endedAt
      endedAt = at
      last = poll
      hintedProblem = undefined
      hasPage = requests.some(isPage)
      if (poll.successful) failed = undefined
      else if (poll.fault === 'service') failed = { since: at, ...failed, polls: (failed?.polls ?? 0) + 1 }
      // The limit spreads the requests of a poll.
      const times = requests.map((_, i) => at - poll.seconds * (1 - (i + 1) / requests.length))
      recent = [...recent.filter((past) => at - past <= 60), ...times]
      answers.add(
        requests.length,
        requests.filter(isServiceError).map(({ code }) => code),
      )
    },
    /** Adds requests that were made between polls, and what failed. */
    addHinted: (requests: number, problem: string | undefined) => {
      recent.push(...Array.from({ length: requests }, monotonic))
      hintedProblem = problem
    },
    current: () => {
      const now = monotonic()
      return {
        ...last,
        problem: last.problem ?? hintedProblem,
        /** Whether the last poll got a page of the list. True until the first poll has ended. */
        hasPage,
        /** The polls since the last successful one that failed because of the service: how many, and for how long (seconds). */
        failed: failed && { polls: failed.polls, seconds: now - failed.since },
        /** How long the target has been polled (seconds): since its first poll ended, or until then since the start. */
        polledFor: now - polledSince,
        requestsLastMinute: recent.filter((at) => now - at <= 60).length,
        /** Seconds between the ends of the last two polls; undefined before the second one. */
        effectiveInterval,
      }
    },
    /** The requests of the polls that ended in the last seconds, and those that the service failed to answer. */
    requestsWithin: answers.within,
  }
}

/** Whether the service, or the way to it, failed. What it refuses is an answer. */
function isServiceError({ code }: PollReport['requests'][number]): boolean {
  return /^(?:5\d\d|timeout|network|invalid)$/.test(code)
}
