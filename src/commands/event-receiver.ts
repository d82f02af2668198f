import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { signedHeaders } from '../events/webhooks/sign.ts'

/** An event as it arrived. */
export type ReceivedEvent = { id: string; type: string }

/** A receiver of a webhook on loopback. */
export type EventReceiver = {
  url: string
  /** With which the webhook signs. */
  secret: string
  /** The events that arrived and were not taken yet, each once. */
  take: () => ReceivedEvent[]
  /** How many events arrived, and how many requests were refused. */
  counts: () => { events: number; refused: number }
  close: () => void
}

/** A request that is older or newer is refused (seconds). */
const TOLERANCE = 300

/**
 * Starts a receiver that verifies what arrives, as docs/events.md says: the signature, the time, and the id, by which an event
 * that comes again is known.
 *
 * @param wall the host's clock (UNIX seconds)
 */
export async function startEventReceiver(wall: () => number): Promise<EventReceiver> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const ids = new Set<string>()
  let arrived: ReceivedEvent[] = []
  let refused = 0

  /** @returns the status of the answer */
  function receive(headers: IncomingHttpHeaders, body: string): number {
    if (!isSigned(headers, body, secret, wall())) {
      refused += 1
      return 401
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only callwatch has the secret
    const { id, type } = JSON.parse(body) as ReceivedEvent
    if (!ids.has(id)) arrived.push({ id, type })
    ids.add(id)
    return 204
  }

  const server = createServer((request, response) => {
    text(request).then(
      (body) => response.writeHead(receive(request.headers, body)).end(),
      () => response.destroy(),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the receiver does not listen')
  return {
    url: `http://127.0.0.1:${address.port}/`,
    secret,
    take: () => {
      const taken = arrived
      arrived = []
      return taken
    },
    counts: () => ({ events: ids.size, refused }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function isSigned(headers: IncomingHttpHeaders, body: string, secret: string, now: number): boolean {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]))
  const sent = Number(timestamp)
  if (!(Math.abs(now - sent) <= TOLERANCE)) return false
  const expected = Buffer.from(signedHeaders(id!, sent, body, [secret])['webhook-signature']!)
  return signatures!
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
}
