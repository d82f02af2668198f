import { STALE_INTERVALS } from '../clock/intervals.ts'
import type { TargetStatus } from '../pipeline/target.ts'
import { formatSync } from '../text/format.ts'
import type { ServedTargets } from './server.ts'

/** The response of `/readyz`: 503 for `not ready`, otherwise 200. */
export type Readiness = { status: 'ready' } | { status: 'degraded' | 'not ready'; problems: string[] }

/** An initial sync delays readiness for this long at most. */
const MAX_INITIAL_SYNC_SECONDS = 600

type Targets = Pick<ServedTargets, 'own' | 'loading' | 'areOthersKnown'>

/**
 * Whether callwatch is ready. A daemon that owns no target is ready: other daemons poll them. `/readyz` needs no
 * password, so the problems contain no text of the service or the database, which has their hosts and users.
 *
 * @param problem why this daemon can own no target
 */
export function readiness(targets: Targets, problem: string | undefined): Readiness {
  const own = targets.own()
  const early = problemOfDaemon(targets, problem)
  if (early !== undefined) return { status: 'not ready', problems: [early] }
  const describe = (some: readonly TargetStatus[], textOf: (target: TargetStatus) => string) =>
    some.map((target) => `target ${target.name}: ${textOf(target)}`)

  const unwritable = own.filter(({ health }) => health().fault === 'store')
  const syncing = own.filter((target) => isInitialSync(target) && !unwritable.includes(target))
  if (unwritable.length + syncing.length > 0) {
    const problems = [
      ...describe(unwritable, () => `the store cannot be written to; ${DETAILS}`),
      ...describe(syncing, syncProgress),
    ]
    return { status: 'not ready', problems }
  }
  const failing = own.filter(isFailing)
  if (failing.length === 0) return { status: 'ready' }
  const isOutage = failing.length === own.length && failing.every(isStale)
  return { status: isOutage ? 'not ready' : 'degraded', problems: describe(failing, failureOf) }
}

/** What keeps the whole daemon from being ready. */
function problemOfDaemon(targets: Targets, problem: string | undefined): string | undefined {
  if (problem !== undefined) return `${OWNS_NOTHING}; ${DETAILS}`
  if (!targets.areOthersKnown()) return 'the targets of other daemons were not read from the store yet'
  const loading = targets.loading()
  const unloadable = loading.filter((target) => target.problem !== undefined).length
  if (unloadable > 0) return `${unloadable} targets cannot be loaded from the store; ${DETAILS}`
  // A daemon that loads the targets of one that died still has its own.
  return loading.length > 0 && targets.own().length === 0
    ? `${loading.length} targets are being loaded from the store`
    : undefined
}

const DETAILS = '/api/v1/state says why'
const OWNS_NOTHING =
  'this daemon can own no target: the store cannot be used, or other daemons have another configuration'

const hasSucceeded = ({ ledger }: TargetStatus) => ledger.sync.lastSuccess !== undefined

/** Its initial sync is in progress, and the service answers. */
function isInitialSync(target: TargetStatus): boolean {
  const { hasPage, polledFor } = target.health()
  return !hasSucceeded(target) && hasPage && polledFor <= MAX_INITIAL_SYNC_SECONDS
}

function isFailing(target: TargetStatus): boolean {
  const { successful, fault, problem } = target.health()
  return isStale(target) || (!successful && fault !== 'list' && problem !== undefined)
}

/** An initial sync that continues is not an outage, however long it takes; but without a clock it counts nothing. */
function isStale(target: TargetStatus): boolean {
  const isSyncing = !hasSucceeded(target) && target.health().hasPage && target.ledger.sync.clockSkew !== undefined
  return !isSyncing && target.pollAge() > STALE_INTERVALS * target.settings.poll.interval
}

function syncProgress({ progress }: TargetStatus): string {
  const current = progress()
  return current === undefined ? 'the initial sync has not ended yet' : formatSync(current)
}

function failureOf(target: TargetStatus): string {
  if (!hasSucceeded(target)) return `no successful poll yet; ${DETAILS}`
  return isStale(target) ? `no successful poll for too long; ${DETAILS}` : `the last poll failed; ${DETAILS}`
}
