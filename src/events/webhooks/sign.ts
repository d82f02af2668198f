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
