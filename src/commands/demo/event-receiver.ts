import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { verifyWebhook, WebhookRefused } from '../../events/webhooks/verify.ts'
import type { SlackBlock } from './lines.ts'

/** Receivers of a webhook, and of messages to Slack, on loopback. */
export type EventReceiver = Awaited<ReturnType<typeof startEventReceiver>>

const SLACK_PATH = '/slack'

/**
 * Starts a receiver that verifies requests as docs/events.md describes: the signature, the time, and the id, by which it
 * recognizes an event that arrives again. Messages to Slack arrive there, too.
 *
 * @param onMessage gets the blocks of each message to Slack
 */
export async function startEventReceiver(onMessage: (blocks: SlackBlock[]) => void = () => {}) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const ids = new Set<string>()
  let refused = 0

  /** @returns the status of the response */
  function receive(headers: IncomingHttpHeaders, body: string): number {
    try {
      ids.add(verifyWebhook({ headers, body }, secret).id)
      return 204
    } catch (error) {
      if (!(error instanceof WebhookRefused)) throw error
      refused += 1
      return 401
    }
  }

  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        if (request.url !== SLACK_PATH) return response.writeHead(receive(request.headers, body)).end()
        onMessage(JSON.parse(body).blocks)
        return response.end('ok')
      },
      () => response.destroy(),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the receiver does not listen')
  return {
    url: `http://127.0.0.1:${address.port}/`,
    slackUrl: `http://127.0.0.1:${address.port}${SLACK_PATH}`,
    /** With which the webhook signs. */
    secret,
    /** How many events arrived, and how many requests were refused. */
    counts: () => ({ events: ids.size, refused }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
