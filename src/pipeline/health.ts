import type { PollReport } from '../polling/poll-report.ts'

/** How a target is doing. */
export type Health = {
  /** Whether the last poll was successful. */
  readonly up: boolean
  /** What went wrong in the last poll. */
  readonly problem: string | undefined
  /** The polls that the service made fail since the last successful one: how many, and for how long (seconds). */
  readonly failed: { polls: number; seconds: number } | undefined
  /** The problem is only that the whole list was not read yet. */
  readonly isSweeping: boolean
  /** Whether the last poll brought a page of the list; true as well until one has ended. */
  readonly hasPage: boolean
  /** The store could not be written. */
  readonly storeFailed: boolean
  /** The first page of the list that the service refuses to show, where it does. */
  readonly refusedFrom: number | undefined
  /** Where the list is too long to be read as often as it should be: its pages, and what reading them takes (seconds). */
  readonly slowSweep: PollReport['slowSweep']
  /** For how long the target has been polled (seconds): since its first poll ended, or since the start until then. */
  readonly polledFor: number
  readonly requestsLastMinute: number
  /** Seconds between the ends of the last two polls; undefined before. */
  readonly effectiveInterval: number | undefined
}

/** What health depends on in the report of a poll. */
export type RecordedPoll = Pick<PollReport, 'successful' | 'problem' | 'requests' | 'storeFailed'> &
  Partial<Pick<PollReport, 'isSweeping' | 'refusedFrom' | 'slowSweep'>> & {
    /** A bug of callwatch ended it. */
    isBug?: boolean
  }

/** Whether the service kept a poll from being successful: neither the store, nor that the list is long, nor a bug. */
export function isServiceFailure({
  problem,
  storeFailed,
  isSweeping = false,
  isBug = false,
}: Omit<RecordedPoll, 'requests'>): boolean {
  return problem !== undefined && !storeFailed && !isSweeping && !isBug
}

/** How a target has been doing since the process started. */
export type HealthRecord = {
  readonly add: (poll: RecordedPoll) => void
  readonly current: () => Health
}

const isPage = ({ operation, code }: PollReport['requests'][number]) => operation === 'list_calls' && code === '200'

type LastPoll = Omit<RecordedPoll, 'requests'> & { hasPage: boolean }

/** @param monotonic seconds */
export function healthRecord(monotonic: () => number): HealthRecord {
  let last: LastPoll = { successful: false, problem: undefined, storeFailed: false, hasPage: true }
  let failed: { polls: number; since: number } | undefined
  let recent: { at: number; requests: number }[] = []
  let polledSince = monotonic()
  let endedAt: number | undefined
  let effectiveInterval: number | undefined
  return {
    add: ({ requests, ...poll }) => {
      const at = monotonic()
      if (endedAt === undefined) polledSince = at
      else effectiveInterval = at - endedAt
      endedAt = at
      last = { ...poll, hasPage: requests.some(isPage) }
      if (poll.successful) failed = undefined
      else if (isServiceFailure(poll)) failed = { since: at, ...failed, polls: (failed?.polls ?? 0) + 1 }
      recent = [...recent.filter((past) => at - past.at <= 60), { at, requests: requests.length }]
    },
    current: () => {
      const now = monotonic()
      return {
        up: last.successful,
        problem: last.problem,
        failed: failed && { polls: failed.polls, seconds: now - failed.since },
        isSweeping: last.isSweeping ?? false,
        hasPage: last.hasPage,
        storeFailed: last.storeFailed,
        refusedFrom: last.refusedFrom,
        slowSweep: last.slowSweep,
        polledFor: now - polledSince,
        requestsLastMinute: recent.reduce((sum, { at, requests }) => (now - at <= 60 ? sum + requests : sum), 0),
        effectiveInterval,
      }
    },
  }
}
