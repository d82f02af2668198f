import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
/**
 * The headers with which a receiver verifies the sender and the time of a body (https://www.standardwebhooks.com).
 *
 * @param timestamp UNIX seconds
 */
export function signedHeaders(
  id: string,
  timestamp: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const seconds = String(Math.floor(timestamp))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
}

/** The least and most bytes of a secret. */
const [MIN, MAX] = [24, 64]

/** Whether a text is a secret in the form of Standard Webhooks. */
export function isSigningSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (base64 === undefined || base64.length % 4 !== 0) return false
  const { length } = Buffer.from(base64, 'base64')
  return length >= MIN && length <= MAX
}
