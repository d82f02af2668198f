import type { Message } from '../../../src/notifications/message.ts'
import { AT, FIRING, messageOf } from '../../kit/notifications/sample.ts'

/** Characters that one receiver or another escapes, or that are more than one for it. */
export const WIDE = ['x', '&', '"', '\\', '😀', 'ש']

/** A message as long as possible, of `count` alerts. */
export function longestMessage(text: string, count: number): Message {
  const page = (length: number) => 'https://callwatch.test/'.padEnd(length, 'x')
  // Slack gets no longer addresses in a message of several alerts.
  const long = page(count === 1 ? 600 : 250)
  const links = { alert: page(140), calls: long, silence: long }
  const most = { ended: 1e300, unanswered: 1e300, rejected: 1e300, canceled: 1e300, other: 1e300, total: 1e300 }
  const values = { value: 1e300, threshold: 1e300, peak: 1e300, calls: 1e300, counts: most, forecast: 1e300 }
  const texts = { target: text, alert: text, description: text, cause: text, match: { type: text, mode: text } }
  const contributor = { ...FIRING.contributor!, value: text }
  const notification = {
    ...FIRING,
    ...values,
    ...texts,
    asOf: AT,
    lastPoll: AT,
    oldest: { session: text, began: AT },
    contributor,
    runbookUrl: long,
  }
  const times = <T>(length: number, one: T): T[] => Array.from({ length }, () => one)
  return messageOf(times(count, { notification, flaps: 1e9, links }), {
    target: text,
    links: { overview: long, silence: long },
    flapped: times(100, { notification, times: 1e9, peak: 1e300, endedAt: AT, links }),
    silenced: times(100, { alert: text, target: `${text.slice(9)}y`, until: AT, reason: text }),
    inhibited: times(100, { alert: text, target: `${text.slice(9)}y`, severity: 'critical' }),
  })
}
