import { isUnordered } from './known-list.ts'
import type { SyncState } from './state.ts'

/** A property of the service's list or clock that users should know. It does not make the counts wrong. */
export type ListWarning = {
  kind: 'clock_skew' | 'order_unverified' | 'order_refuted'
  message: string
}

/** Clocks that differ by more than this are misconfigured. */
const HOUR = 3600

/** The warnings of a target, from its committed state. `now` in UNIX seconds by the service's clock. */
export function listWarnings({ clockSkew = 0, list, lastSweepBegan }: SyncState, now: number): ListWarning[] {
  const warnings: ListWarning[] = []
  const warn = (kind: ListWarning['kind'], message: string) => void warnings.push({ kind, message })
  if (Math.abs(clockSkew) > HOUR) {
    const hours = Math.round(Math.abs(clockSkew) / HOUR)
    const side = clockSkew > 0 ? 'behind' : 'ahead of'
    warn(
      'clock_skew',
      `this host's clock is ${hours} h ${side} the service's, which callwatch uses: check the host's clock`,
    )
  }
  if (isUnordered(list, now)) {
    warn('order_refuted', 'calls come in anywhere in the list: each poll reads it to its end')
  } else if (list?.order?.isByTime === false) {
    warn(
      'order_refuted',
      'the list is not in order of time: a sweep reads it to its end, and finds calls that come in elsewhere',
    )
  } else if (list !== undefined && lastSweepBegan === undefined) {
    warn('order_unverified', 'the list was not read to its end yet: until then, finished calls stay in memory')
  }
  return warnings
}
