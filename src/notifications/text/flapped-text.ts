import { formatValue } from '../../alerts/text/alert-text.ts'
import { formatTime } from '../../text/format.ts'
import type { FlappedAlert } from '../message.ts'

/** How an alert ended last that fired and ended between deliveries. */
export const endOf = ({ hasExpired }: FlappedAlert) => (hasExpired ? 'expired' : 'resolved')

/** How often an alert fired and resolved between deliveries: `fired and resolved 3 times, worst 62%, last at …`. */
export function flappedText(flapped: FlappedAlert): string {
  const { notification, times, peak, endedAt } = flapped
  const [worst, ended] = [formatValue(notification, peak), endOf(flapped)]
  if (times === 1) return `fired and ${ended} at ${formatTime(endedAt)}, worst ${worst}`
  return `fired and ended ${times} times, worst ${worst}, last ${ended} at ${formatTime(endedAt)}`
}
