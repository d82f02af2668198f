import type { Rule } from '../../../src/alerts/rule.ts'
import type { Finish } from '../../../src/ledger/tracked-call.ts'
import type { Commit } from '../../../src/store/store.ts'

/** The notifications that a failure-ratio rule implies, from what was committed alone, as plainly as possible. */
export type AlertOracle = {
  /** Takes one commit that succeeded, at that time of the host's clock (UNIX seconds). */
  committed: (commit: Commit, at: number) => void
  /** `firing`, `resolved` and `expired`, in order. */
  notified: () => readonly string[]
}

/** @param interval seconds between polls */
export function alertOracle(rule: Rule, interval: number): AlertOracle {
  if (rule.signal.name !== 'failure_ratio') throw new Error('the oracle knows of failure ratios only')
  const { reason, window, minCalls } = rule.signal
  const finishes: Finish[] = []
  const notified: string[] = []
  let lastSuccess: number | undefined
  let lastSuccessHostTime: number | undefined
  let breach: { credited: number; at: number } | undefined
  let firing = false
  let silence: { credited: number; at: number } | undefined
  let recovery: { credited: number; at: number } | undefined
  /** The previous evaluation, and how far apart the last three were. */
  let previous: { at: number; gaps: readonly number[] } = { at: 0, gaps: [] }

  const credit = (since: { credited: number; at: number }, at: number) => {
    const gap = at - since.at
    const pace = previous.gaps.length < 2 ? 0 : Math.min(...previous.gaps)
    return { credited: since.credited + (gap > 0 && gap <= 3 * Math.max(interval, pace) ? gap : 0), at }
  }
  const hasLasted = (credited: number, needed: number) =>
    needed === 0 || (credited > 0 && credited >= needed - interval / 2)
  const evaluate = (from: number, to: number, at: number, created: number) => {
    const inside = finishes.filter((finish) => finish.at >= from && finish.at <= to)
    const reasons = reason === 'any' ? ['unanswered', 'rejected', 'canceled'] : [reason]
    const ratio = inside.filter(({ status }) => reasons.includes(status)).length / inside.length
    const tooFew = inside.length < Math.max(1, minCalls)
    if (firing) {
      if (tooFew) {
        silence = silence === undefined ? { credited: 0, at } : credit(silence, at)
        // Without enough calls the alert stays as it was: such polls add nothing to the recovery, however few they are.
        recovery = recovery && { ...recovery, at }
        if (silence.credited < window) return
        notified.push('expired')
        firing = false
        silence = undefined
        recovery = undefined
        return
      }
      silence = undefined
      if (ratio > rule.clear) {
        recovery = undefined
        return
      }
      recovery = recovery === undefined ? { credited: 0, at } : credit(recovery, at)
      if (!hasLasted(recovery.credited, rule.keepFiringFor)) return
      notified.push('resolved')
      firing = false
      recovery = undefined
      return
    }
    const isOfPast = inside.every((finish) => finish.at < Math.floor(created))
    if (tooFew || ratio <= rule.threshold || isOfPast) {
      breach = undefined
      return
    }
    breach = breach === undefined ? { credited: 0, at } : credit(breach, at)
    if (!hasLasted(breach.credited, rule.for)) return
    notified.push('firing')
    firing = true
    breach = undefined
  }
  return {
    committed: ({ ledger: { finishes: added, sync } }, at) => {
      finishes.push(...added)
      // Rules are evaluated at the end of a successful poll only.
      if (sync.lastSuccessHostTime === undefined || sync.lastSuccessHostTime === lastSuccessHostTime) return
      const now = sync.lastSuccess!
      const isAlert = firing || breach !== undefined
      const gap = isAlert ? at - previous.at : now - (lastSuccess ?? now)
      const gaps = isAlert ? [...previous.gaps.slice(-1), gap] : [gap]
      evaluate(Math.min(now - window, lastSuccess ?? now), now, at, sync.created)
      previous = { at, gaps }
      lastSuccess = now
      lastSuccessHostTime = sync.lastSuccessHostTime
    },
    notified: () => notified,
  }
}
