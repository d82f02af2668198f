import type { Clock } from '../../../clock/clock.ts'
import { httpSender } from '../../../network/http-sender.ts'
import type { AlertmanagerAlert } from './alertmanager-alert.ts'

/** Posts these alerts to Alertmanager; rejects with a DeliveryError. */
export type PostAlerts = (alerts: readonly AlertmanagerAlert[]) => Promise<void>

/** Longer reasons are cut (characters). */
const MAX_REASON_LENGTH = 300

/** Posts to the Alertmanager at this address, without `/api/v2/alerts`. */
export function alertmanagerPost({ url: address, clock }: { url: string; clock: Clock }): PostAlerts {
  const url = `${address.replace(/\/+$/, '')}/api/v2/alerts`
  const deliver = httpSender({ receiver: 'Alertmanager', url, clock, reasonIn })
  const headers = { 'content-type': 'application/json', 'user-agent': 'callwatch' }
  return (alerts) => deliver((request) => request({ method: 'POST', headers, body: JSON.stringify(alerts) }))
}

/** Alertmanager explains a refusal in a JSON string, or in `message` if the form of the request is wrong. */
function reasonIn(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    const message = typeof parsed === 'object' && parsed !== null && 'message' in parsed ? parsed.message : parsed
    return typeof message === 'string' ? message.slice(0, MAX_REASON_LENGTH) : undefined
  } catch {
    return undefined
  }
}
