import { timingSafeEqual } from 'node:crypto'
import { systemClock } from '../../clock/clock.ts'
import type { CallEvent, CallwatchEvent } from '../../views/event.ts'
import { signedHeaders, isSigningSecret } from './sign.ts'

/** A request that was not signed with the secret, or is too old. Answer 401. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
}

/** A request of a webhook. */
export type WebhookRequest = {
  /** The body as it arrived, byte for byte. A body that was parsed and serialized again has another signature. */
  body: string | Uint8Array
  /** The headers of Node.js (`request.headers`), or of the Fetch API. */
  headers: HeadersLike | Readonly<Record<string, string | readonly string[] | undefined>>
}

type HeadersLike = { get: (name: string) => string | null }

/** A request that is older or newer than this is refused (seconds). */
const TOLERANCE_SECONDS = 300

/**
 * Verifies the signature and time of a request, as Standard Webhooks specifies, and returns its event. The same event may
 * arrive again, so keep the ids of processed events.
 *
 * @param secret as in the configuration (`whsec_…`); several while you replace a secret
 * @param now UNIX seconds
 * @throws {WebhookRefused}
 * @throws {TypeError} for a mistake in the receiver: an invalid secret, or a body that was already parsed
 */
export function verifyWebhook(
  { body, headers }: WebhookRequest,
  secret: string | readonly string[],
  now = systemClock.wall(),
): CallwatchEvent {
  const secrets = [secret].flat()
  // With an empty secret, any signature would be valid.
  if (secrets.length === 0 || !secrets.every((one) => typeof one === 'string' && isSigningSecret(one)))
    throw new TypeError('the secret of the webhook is missing, or is not whsec_ and base64 of 24 to 64 bytes')
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : body
  if (typeof text !== 'string') throw new TypeError('the body must be as it arrived: text or bytes, not parsed')
  const header = headerOf(headers)
  const [id, timestamp, signatures] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')]
  if (!/^\d+$/.test(timestamp)) throw new WebhookRefused('the header webhook-timestamp is no time')
  if (!(Math.abs(now - Number(timestamp)) <= TOLERANCE_SECONDS))
    throw new WebhookRefused(`the request was signed more than ${TOLERANCE_SECONDS} seconds ago, or the clocks differ`)
  const expected = signedHeaders(id, Number(timestamp), text, secrets)['webhook-signature']!.split(' ')
  const isSigned = signatures.split(' ').some((one) => expected.some((own) => isEqual(own, one)))
  if (!isSigned) throw new WebhookRefused('the request is not signed with this secret')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only callwatch has the secret
  return JSON.parse(text) as CallwatchEvent
}

/** Reads headers case-insensitively. */
function headerOf(headers: WebhookRequest['headers']): (name: string) => string {
  const all = isHeaders(headers) ? undefined : new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])) // oxfmt-ignore
  return (name) => {
    const value = isHeaders(headers) ? headers.get(name) : all?.get(name)
    const [only, ...others] = [value ?? []].flat()
    if (only === undefined || others.length > 0)
      throw new WebhookRefused(`the request has no header ${name}, or several`)
    return only
  }
}

function isHeaders(headers: WebhookRequest['headers']): headers is HeadersLike {
  return typeof headers['get'] === 'function'
}

function isEqual(own: string, given: string): boolean {
  const [a, b] = [Buffer.from(own), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Whether an event is about a call. Otherwise it is about an alert. */
export function isCallEvent(event: CallwatchEvent): event is CallEvent {
  return event.type.startsWith('callwatch.call.')
}
