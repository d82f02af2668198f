import { fetch } from 'undici'
import type { Clock } from '../../clock/clock.ts'
import type { AlertmanagerAlert } from './alertmanager-alert.ts'
import { attempt, outwardAgent, refusal, retryAfterOf } from '../http-attempt.ts'

/** Tells Alertmanager these alerts; rejects with a DeliveryError. */
export type PostAlerts = (alerts: readonly AlertmanagerAlert[]) => Promise<void>

/** A refusal is a line; a larger answer (bytes) is somebody else's. */
const MAX_ANSWER = 1024 * 1024
/** A reason longer than this (characters) is cut. */
const LONGEST_REASON = 300

/** Posts to the Alertmanager at this address, `/api/v2/alerts` left out. `version` is that of callwatch. */
export function alertmanagerPost(options: { url: string; clock: Clock; version?: string | undefined }): PostAlerts {
  const { url, clock, version } = options
  const dispatcher = outwardAgent(url, { maxResponseSize: MAX_ANSWER })
  const headers = {
    'content-type': 'application/json',
    'user-agent': version === undefined ? 'callwatch' : `callwatch/${version}`,
  }
  return (alerts) =>
    attempt('Alertmanager', clock, async (signal) => {
      const response = await fetch(`${url.replace(/\/+$/, '')}/api/v2/alerts`, {
        method: 'POST',
        headers,
        body: JSON.stringify(alerts),
        // A redirected POST may come back as a GET, which succeeds and tells nobody of the alerts.
        redirect: 'manual',
        dispatcher,
        signal,
      })
      const { status, ok } = response
      if (ok) await response.body?.cancel()
      else {
        const answer = { status, retryAfter: retryAfterOf(response.headers, clock) }
        throw refusal('Alertmanager', answer, reasonIn(await response.text()))
      }
    })
}

/** Alertmanager says in a JSON string what it refuses, or in `message` where the form is wrong. */
function reasonIn(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    const said = typeof parsed === 'object' && parsed !== null && 'message' in parsed ? parsed.message : parsed
    return typeof said === 'string' ? said.slice(0, LONGEST_REASON) : undefined
  } catch {
    return undefined
  }
}
