import type { Clock } from '../../../clock/clock.ts'
import { httpSender } from '../../../network/http-sender.ts'
import type { AlertmanagerAlert } from './alertmanager-alert.ts'

/** Posts these alerts to Alertmanager; rejects with a DeliveryError. */
export type PostAlerts = (alerts: readonly AlertmanagerAlert[]) => Promise<void>

/** A reason longer than this (characters) is cut. */
const MAX_REASON_LENGTH = 300

/** Posts to the Alertmanager at this address, `/api/v2/alerts` left out. `version` is that of callwatch. */
export function alertmanagerPost(options: { url: string; clock: Clock; version?: string | undefined }): PostAlerts {
  const { clock, version } = options
  const url = `${options.url.replace(/\/+$/, '')}/api/v2/alerts`
  const deliver = httpSender({ receiver: 'Alertmanager', url, clock, reasonIn })
  const headers = {
    'content-type': 'application/json',
    'user-agent': version === undefined ? 'callwatch' : `callwatch/${version}`,
  }
  return (alerts) => deliver((request) => request({ method: 'POST', headers, body: JSON.stringify(alerts) }))
}

/** Alertmanager says in a JSON string what it refuses, or in `message` where the form is wrong. */
function reasonIn(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    const message = typeof parsed === 'object' && parsed !== null && 'message' in parsed ? parsed.message : parsed
    return typeof message === 'string' ? message.slice(0, MAX_REASON_LENGTH) : undefined
  } catch {
    return undefined
  }
}
