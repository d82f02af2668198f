import type { WatchedTarget } from './views.ts'

/** What `/readyz` answers; `degraded` is 200 as well, `not ready` 503. */
export type Readiness = { status: 'ready' } | { status: 'degraded' | 'not ready'; problems: string[] }

/** A target that had no successful poll for so many intervals has been failing for too long. */
const STALE_AFTER_INTERVALS = 3
/** A first reading that takes longer than this (seconds) does not keep callwatch from being ready any more. */
const LONGEST_WAIT_SECONDS = 600

/**
 * Whether callwatch is ready. A daemon that owns no target is: others do. The sentences are callwatch's own: `/readyz`
 * asks for no password, so nothing that the service or the database said is repeated.
 *
 * @param problem why this daemon can own none
 */
export function readiness(all: readonly WatchedTarget[], problem: string | undefined): Readiness {
  if (problem !== undefined) return { status: 'not ready', problems: [problem] }
  const targets = all.filter(({ isOwn }) => isOwn())
  const say = (some: readonly WatchedTarget[], of: (watched: WatchedTarget) => string) =>
    some.map((watched) => `target ${watched.target}: ${of(watched)}`)

  const unwritable = targets.filter(({ health }) => health.storeFailed())
  const waiting = targets.filter((watched) => isFirstReading(watched) && !unwritable.includes(watched))
  if (unwritable.length + waiting.length > 0) {
    const problems = [...say(unwritable, () => `the store cannot be written; ${WHY}`), ...say(waiting, readSoFar)]
    return { status: 'not ready', problems }
  }
  const failing = targets.filter(isFailing)
  if (failing.length === 0) return { status: 'ready' }
  const isLost = failing.length === targets.length && failing.every(isStale)
  return { status: isLost ? 'not ready' : 'degraded', problems: say(failing, howItFails) }
}

const WHY = '/api/v1/status says why'

const hasSucceeded = ({ ledger }: WatchedTarget) => ledger.facts.lastGood !== undefined

/** Its list is being read for the first time, and the service answers. */
function isFirstReading(watched: WatchedTarget): boolean {
  const { health } = watched
  return !hasSucceeded(watched) && health.hasPage() && health.polledFor() <= LONGEST_WAIT_SECONDS
}

function isFailing(watched: WatchedTarget): boolean {
  const { health } = watched
  return isStale(watched) || (!health.up() && !health.isReading() && health.problem() !== undefined)
}

/** A first reading that goes on, however long, is no outage. */
function isStale(watched: WatchedTarget): boolean {
  const isAnswered = !hasSucceeded(watched) && watched.health.hasPage()
  return !isAnswered && watched.lookAge() > STALE_AFTER_INTERVALS * watched.interval
}

function readSoFar({ progress }: WatchedTarget): string {
  const reading = progress?.()
  if (reading === undefined) return 'the first look has not ended yet'
  const { done, of = 'an unknown number of' } = reading
  return `the first look has read ${done} of ${of} pages`
}

function howItFails(watched: WatchedTarget): string {
  if (!hasSucceeded(watched)) return `no successful poll yet; ${WHY}`
  return isStale(watched) ? `no successful poll for too long; ${WHY}` : `the last poll failed; ${WHY}`
}
