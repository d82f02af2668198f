import { isOrderVerified, isOrderRefuted, isTotalWrong } from './list-traits.ts'
import { NO_LIST_TRAITS, type SyncState } from './state.ts'

/** A property of the service's list or clock that a user should know. The counts are correct nevertheless. */
export type ListWarning = {
  kind: 'clock_skew' | 'order_unverified' | 'order_refuted' | 'hidden_calls' | 'total_capped' | 'total_wrong'
  message: string
}

/** Clocks that differ by more are misconfigured. */
const HOUR = 3600

/** The warnings of a target as last committed; `now` in UNIX seconds by the service's clock. */
export function listWarnings(
  { clockSkew = 0, list, listTraits = NO_LIST_TRAITS }: SyncState,
  now: number,
): ListWarning[] {
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
  if (isOrderRefuted(listTraits, now)) {
    warn('order_refuted', 'the list is not in order of time: each poll reads it to its end')
  } else if (list !== undefined && !isOrderVerified(listTraits)) {
    warn('order_unverified', 'order not verified: nothing is evicted until the list was read to its end once')
  }
  if (listTraits.hidden > 0) {
    const calls = listTraits.hidden === 1 ? '1 call' : `${listTraits.hidden} calls`
    warn('hidden_calls', `the service's total counts ${calls} that no page shows: callwatch cannot count them`)
  }
  if (listTraits.cap !== undefined) {
    warn('total_capped', `the service's total stops at ${listTraits.cap}: callwatch reads the list without it`)
  }
  if (isTotalWrong(listTraits, now)) {
    warn('total_wrong', "the service's total is smaller than what its pages show: callwatch reads the list without it")
  }
  return warnings
}
