import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import { isoTime } from '../clock/iso-time.ts'
import { formatNumber, formatSeconds, formatTime } from '../text/format.ts'
import { LOG_REPEAT_SECONDS } from './ongoing-problems.ts'

export type PollOutagesOptions = {
  log: Logger
  clock: Pick<Clock, 'wall' | 'monotonic'>
  /** The names of the targets that this daemon polls. */
  owned: () => readonly string[]
  /** Seconds between two polls of a target. */
  interval: () => number
}

/** A poll that has failed: what its line has beside the problem. */
export type FailedPoll = { target: string; outcome: string; requests: number; seconds: number; problem: string }

/** Logs targets that cannot be polled: those that fail together are one outage. */
export type PollOutages = {
  failed: (poll: FailedPoll) => void
  /** Whether this ends or continues an outage, which is logged then: what the line of the poll would say is known. */
  succeeded: (poll: Omit<FailedPoll, 'problem'>) => boolean
  /** A poll that says nothing of the service has ended. */
  ended: (target: string) => void
  /** The target is not polled here any more. */
  forget: (target: string) => void
  /** Logs what is due; to be called every few seconds. */
  tick: () => void
}

/** The names that a log line has at most. */
const MAX_NAMES = 20
/** What fails again after this many seconds is another outage. */
const RELAPSE_SECONDS = LOG_REPEAT_SECONDS
/** The first times that a single target fails are lines of their own. */
const LOGGED_RELAPSES = 2
/** After so many causes another one of a target that fails again and again is no news: each may have a number of its own. */
const MAX_CAUSES = 5
/** An outage of so many times the targets that its first line named is news. */
const GROWTH = 2

/** Failed polls, and since when (UNIX seconds, and by the monotonic clock). */
type Span = { since: number; began: number; polls: number }

type Outage = {
  all: Span
  /** Since its targets began to fail, the last time; and whether that was logged. */
  relapse: Span & { isAnnounced: boolean }
  relapses: number
  logged: number
  /** What its first line has; undefined as long as it is open which targets it concerns. */
  announced: { targets: number; cause: string } | undefined
  /** The causes that were logged at its beginnings. */
  causes: Set<string>
  /** The latest failure of each target that fails. */
  failing: Map<string, FailedPoll>
  /** When each target failed last. */
  failedAt: Map<string, number>
  /** The latest problem. */
  problem: string
  /** Whether something happened that was not logged yet. */
  isUnlogged: boolean
}

/**
 * A target's first failure waits for its line until all targets were polled once more, for two intervals at most: by then
 * it is known whether it is alone. One line says that, another each quarter of an hour what it amounts to, and a last
 * one that it has ended. What a target fails of may change in between. A single target that fails again soon after that is
 * the same outage: from the third time on it has lines of its own if it has another cause or lasts for more than two
 * intervals, and otherwise at most a line each quarter of an hour.
 */
export function pollOutages({ log, clock, owned, interval }: PollOutagesOptions): PollOutages {
  let outages: Outage[] = []
  /** The targets that were polled since the outage began whose first line is not written yet. */
  const polled = new Set<string>()
  const waiting = () => outages.find(({ announced }) => announced === undefined)

  const newSpan = (): Span => ({ since: clock.wall(), began: clock.monotonic(), polls: 0 })

  function begun(): Outage {
    polled.clear()
    // A target that just failed again may be the first one of many.
    const again = outages.find(hasUnloggedRelapse)
    if (again !== undefined) remove(again)
    const { since, began, polls } = again?.relapse ?? newSpan()
    const outage: Outage = {
      all: { since, began, polls },
      relapse: { since, began, polls, isAnnounced: false },
      relapses: again === undefined ? 0 : 1,
      logged: clock.monotonic(),
      announced: undefined,
      causes: new Set(),
      failing: again?.failing ?? new Map(),
      failedAt: again?.failedAt ?? new Map(),
      problem: '',
      isUnlogged: true,
    }
    outages.push(outage)
    return outage
  }

  function outageOf({ target, problem }: FailedPoll): Outage {
    const now = clock.monotonic()
    const current = outages.find(({ failing }) => failing.has(target))
    const recent = outages.find(({ failedAt }) => now - (failedAt.get(target) ?? -Infinity) <= RELAPSE_SECONDS)
    const known = current ?? recent
    if (known !== undefined && (known === current || known.failedAt.size > 1)) return known
    const same = outages.find(
      ({ announced, failing }) =>
        announced !== undefined &&
        announced.targets > 1 &&
        announced.cause === problem &&
        failing.size < GROWTH * announced.targets,
    )
    const common = same ?? waiting()
    if (common !== undefined && recent !== undefined) remove(recent)
    return common ?? recent ?? begun()
  }

  /** Writes the first line once every target was polled. */
  function settle(target: string): void {
    const outage = waiting()
    if (outage === undefined) return
    polled.add(target)
    if (polled.size >= owned().length) announce(outage)
  }

  function announce(outage: Outage): void {
    const { failing, failedAt } = outage
    const [cause, count] = mostCommon([...failing.values()].map(({ problem }) => problem))
    outage.announced = { targets: failedAt.size, cause }
    markRelapseLogged(outage, cause)
    const [first] = failing.values()
    if (failedAt.size === 1 && first !== undefined) {
      const { problem, ...figures } = first
      log.warn(figures, `poll ${first.outcome}: ${problem}`)
      return
    }
    log.warn(
      fieldsOf(outage, outage.relapse),
      `polls of ${targetsOf(failedAt.size)} failed${shareOf(count, failedAt.size)}: ${cause}`,
    )
  }

  /** Writes the line of another beginning, with what came before. */
  function announceAgain(outage: Outage): void {
    logAgain(outage)
    markRelapseLogged(outage, outage.problem)
  }

  function logAgain(outage: Outage): void {
    markLogged(outage)
    const { all, relapse, relapses, failing, failedAt, problem } = outage
    if (relapses > 1 && (failing.size === 0 || !relapse.isAnnounced)) {
      const now = failing.size === 0 ? 'the target is up' : `it has been down since ${formatTime(relapse.since)}`
      const polls = `${formatNumber(all.polls)} in all in ${formatNumber(relapses)} outages`
      log.warn(
        fieldsOf(outage, all),
        `polls of the target have failed again and again ${lasted(all)}, ${polls}: ${problem}; ${now}`,
      )
      return
    }
    const [cause, count] = mostCommon([...failing.values()].map((poll) => poll.problem))
    const which = failedAt.size === 1 ? 'the target' : `${formatNumber(failing.size)} of ${targetsOf(failedAt.size)}`
    const polls = `${formatNumber(relapse.polls)} in all${shareOf(count, failing.size)}`
    log.warn(fieldsOf(outage, relapse), `polls of ${which} have failed ${lasted(relapse)}, ${polls}: ${cause}`)
  }

  function lasted({ since, began }: Span): string {
    return `since ${formatTime(since)} (${formatSeconds(clock.monotonic() - began)})`
  }

  /** Notes that it was logged. */
  function markLogged(outage: Outage): void {
    outage.logged = clock.monotonic()
    outage.isUnlogged = false
  }

  /** Notes that the latest failure of its targets was logged. */
  function markRelapseLogged(outage: Outage, cause: string): void {
    markLogged(outage)
    outage.relapse.isAnnounced = true
    if (outage.causes.size < MAX_CAUSES) outage.causes.add(cause)
  }

  function remove(outage: Outage): void {
    outages = outages.filter((each) => each !== outage)
  }

  /** Logs that none of its targets fails any more. */
  function end(outage: Outage, poll: Omit<FailedPoll, 'problem'>): void {
    const { failedAt, relapse } = outage
    const { polls } = relapse
    const isLone = failedAt.size === 1
    if (!isLone) remove(outage)
    // It fails again and again, which is logged each quarter of an hour.
    if (!relapse.isAnnounced) return
    markLogged(outage)
    const after = `after ${formatSeconds(clock.monotonic() - relapse.began)}`
    const failed = `${formatNumber(polls)} ${polls === 1 ? 'poll' : 'polls'} failed`
    if (isLone) log.info({ ...poll, failed: polls }, `poll ${poll.outcome}: the target is up ${after}; ${failed}`)
    else
      log.info(fieldsOf(outage, relapse), `no poll fails any more of ${targetsOf(failedAt.size)}, ${after}; ${failed}`)
  }

  return {
    failed: (poll) => {
      const outage = outageOf(poll)
      if (outage.failing.size === 0) {
        outage.relapses += 1
        outage.relapse = { ...newSpan(), isAnnounced: false }
      }
      outage.failing.set(poll.target, poll)
      outage.failedAt.set(poll.target, clock.monotonic())
      outage.all.polls += 1
      outage.relapse.polls += 1
      outage.problem = poll.problem
      outage.isUnlogged = true
      if (hasUnloggedRelapse(outage)) {
        if (outage.relapses <= LOGGED_RELAPSES) announce(outage)
        else if (outage.causes.size < MAX_CAUSES && !outage.causes.has(poll.problem)) announceAgain(outage)
      }
      settle(poll.target)
    },
    succeeded: (poll) => {
      const { target } = poll
      settle(target)
      const outage = outages.find(({ failing }) => failing.has(target))
      if (outage === undefined) return false
      if (outage.failing.size === 1 && outage.announced === undefined) announce(outage)
      outage.failing.delete(target)
      outage.isUnlogged = true
      if (outage.failing.size === 0) end(outage, poll)
      return true
    },
    ended: settle,
    forget: (target) => {
      polled.delete(target)
      for (const outage of outages) {
        const wasFailing = outage.failing.delete(target)
        if (outage.failing.size > 0 || !outage.failedAt.has(target)) continue
        remove(outage)
        if (!wasFailing || outage.announced === undefined) continue
        log.info(fieldsOf(outage, outage.relapse), 'the last targets whose polls failed are not polled here any more')
      }
    },
    tick: () => {
      const now = clock.monotonic()
      for (const outage of outages) {
        if (outage.announced === undefined) {
          if (now - outage.all.began >= 2 * interval()) announce(outage)
        } else if (hasUnloggedRelapse(outage) && now - outage.relapse.began > 2 * interval()) {
          announceAgain(outage)
        } else if (now - outage.logged >= LOG_REPEAT_SECONDS) {
          if (outage.failing.size > 0 || outage.isUnlogged) logAgain(outage)
          else if (now - Math.max(...outage.failedAt.values()) > RELAPSE_SECONDS) remove(outage)
        }
      }
    },
  }
}

/** Whether it is known which target fails, but not yet logged that it does so again. */
function hasUnloggedRelapse({ announced, failing, relapse }: Outage): boolean {
  return announced !== undefined && failing.size > 0 && !relapse.isAnnounced
}

/** What all lines of an outage can be filtered by. */
function fieldsOf({ failing, failedAt }: Outage, { polls, since }: Span): object {
  const names = [...(failing.size > 0 ? failing : failedAt).keys()]
  const which = failedAt.size === 1 ? { target: names[0] } : { targets: names.slice(0, MAX_NAMES) }
  return { ...which, failing: failing.size, polls, since: isoTime(since) }
}

function targetsOf(count: number): string {
  return `${formatNumber(count)} ${count === 1 ? 'target' : 'targets'}`
}

/** How many of them have the cause that is named, where that is not all. */
function shareOf(count: number, all: number): string {
  return count === all ? '' : `, ${formatNumber(count)} of them with`
}

/** What there is most of, and how often. */
function mostCommon(texts: readonly string[]): [text: string, count: number] {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), ['', 0])
}
