import type { FlappedAlert } from '../message.ts'
import { formatTime } from '../../text/format.ts'
import { formatValue } from './notification-text.ts'

/** How often an alert fired and resolved between deliveries: `fired and resolved 3 times, worst 62%, last at …`. */
export function flappedText({ notification, times, peak, endedAt }: FlappedAlert): string {
  const worst = formatValue(notification, peak)
  if (times === 1) return `fired and resolved at ${formatTime(endedAt)}, worst ${worst}`
  return `fired and resolved ${times} times, worst ${worst}, last at ${formatTime(endedAt)}`
}
