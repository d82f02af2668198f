import { timingSafeEqual } from 'node:crypto'
import { systemClock } from '../../clock/clock.ts'
import type { CallwatchEvent } from '../types.ts'
import { signedHeaders } from './sign.ts'

/** A request that is not of a callwatch that has the secret, or is too old: answer 401. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
}

/** A request as Node.js, Express, Fastify or a `Request` has it. */
export type WebhookRequest = {
  /** The body as it arrived, to the byte: parsed and written again it would have another signature. */
  body: string
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>
}

/** A request that is older or newer is refused (seconds). */
const TOLERANCE = 300

/**
 * Verifies a request of a webhook: its signature and its time, as Standard Webhooks say. An event may come again; its id tells.
 *
 * @param secret as in the configuration (`whsec_…`); several while it is changed
 * @param now UNIX seconds
 * @throws {WebhookRefused}
 */
export function verifyWebhook(
  { body, headers }: WebhookRequest,
  secret: string | readonly string[],
  now = systemClock.wall(),
): CallwatchEvent {
  const header = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    if (typeof value !== 'string') throw new WebhookRefused(`the request has no header ${name}`)
    return value
  }
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  const sent = /^\d+$/.test(timestamp) ? Number(timestamp) : NaN
  if (!(Math.abs(now - sent) <= TOLERANCE))
    throw new WebhookRefused(`the request was signed more than ${TOLERANCE} seconds ago, or the clocks differ`)
  const given = header('webhook-signature').split(' ').map((signature) => Buffer.from(signature)) // oxfmt-ignore
  const expected = [secret].flat().map((one) => Buffer.from(signedHeaders(id, sent, body, [one])['webhook-signature']!))
  const isSigned = given.some((one) => expected.some((own) => own.length === one.length && timingSafeEqual(own, one)))
  if (!isSigned) throw new WebhookRefused('the request is not signed with this secret')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only callwatch has the secret
  return JSON.parse(body) as CallwatchEvent
}
