import type { WatchedTarget } from './views.ts'

/** Intervals without a good look after which a target counts as failing. */
const PATIENCE = 3

/**
 * Why callwatch is not ready, one sentence each; none when it is. A daemon that owns no target is: others do.
 *
 * @param problem why it can own none
 */
export function unreadyBecause(all: readonly WatchedTarget[], problem: string | undefined): string[] {
  if (problem !== undefined) return [problem]
  const targets = all.filter(({ isOwn }) => isOwn())
  const waiting = targets.filter(({ ledger }) => ledger.facts.lastGood === undefined)
  if (waiting.length > 0) return waiting.map((watched) => because(watched, 'the first look has not ended yet'))
  const failing = targets.filter(({ lookAge, interval }) => lookAge() > PATIENCE * interval)
  if (failing.length === targets.length) return failing.map((watched) => because(watched, 'no good look for too long'))
  return targets
    .filter(({ health }) => health.storeFailed())
    .map((watched) => because(watched, 'the store cannot be written'))
}

function because({ target, health, ledger, progress }: WatchedTarget, state: string): string {
  const reading = ledger.facts.lastGood === undefined ? progress?.() : undefined
  const problem = health.isReading() ? undefined : health.problem()
  if (problem !== undefined || reading === undefined) return `target ${target}: ${problem ?? state}`
  const { done, of = 'an unknown number of' } = reading
  return `target ${target}: the first look has read ${done} of ${of} pages`
}
