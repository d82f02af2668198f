import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { HTTP } from 'cloudevents'
import { Webhook } from 'standardwebhooks'
import type { Random } from '../../../src/simulator/random.ts'
import type { KnownEvent } from '../../kit/events/event-problems.ts'

/** A receiver of events on loopback that fails in every way a real one does, and verifies each request. */
export type FailingWebhook = {
  url: string
  secret: string
  /** All that it has processed, repetitions as well. */
  processed: KnownEvent[]
  /** What was no event, or not signed as it must be. */
  problems: string[]
  /** How often it has failed, by way. */
  reached: Map<string, number>
  /** Whether it has answered 410 since this was called. */
  isGone: () => boolean
  /** From now on it accepts everything. */
  heal: () => void
  close: () => void
}

const WAYS = ['http_500', 'http_429', 'http_404', 'hang', 'reset_after', 'slow'] as const
/** How often something fails, and is gone. */
const FAILURES = 0.35
const GONE = 0.004
const SLOW_MS = 400

export async function failingWebhook(draw: Random): Promise<FailingWebhook> {
  const secret = `whsec_${Buffer.from(Array.from({ length: 32 }, () => Math.floor(draw() * 256))).toString('base64')}`
  const verifier = new Webhook(secret)
  let isHealed = false
  let isGone = false
  const count = (way: string) => {
    webhook.reached.set(`webhook.${way}`, (webhook.reached.get(`webhook.${way}`) ?? 0) + 1)
  }

  function process(headers: IncomingHttpHeaders, body: string): void {
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each is there once, or verification fails
      verifier.verify(body, headers as Record<string, string>)
      const event = HTTP.toEvent({ headers, body })
      if (Array.isArray(event) || event.id !== headers['webhook-id'])
        throw new Error(`not the event ${String(headers['webhook-id'])}`)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own events
      webhook.processed.push(JSON.parse(body) as KnownEvent)
    } catch (error) {
      webhook.problems.push(`${String(error)}: ${body.slice(0, 200)}`)
    }
  }

  async function respond(headers: IncomingHttpHeaders, body: string, response: ServerResponse): Promise<void> {
    const drawn = isHealed ? 1 : draw()
    if (drawn < GONE) {
      isGone = true
      count('http_410')
      response.writeHead(410).end()
      return
    }
    const way = drawn < FAILURES ? WAYS[Math.floor((drawn / FAILURES) * WAYS.length)]! : 'ok'
    if (way !== 'ok') count(way)
    switch (way) {
      case 'hang':
        return
      case 'http_500':
        response.writeHead(500).end('oops')
        return
      case 'http_429':
        response.writeHead(429, { 'retry-after': '1' }).end()
        return
      case 'http_404':
        response.writeHead(404).end()
        return
      case 'reset_after':
        process(headers, body)
        response.destroy()
        return
      case 'slow':
        await wait(SLOW_MS)
        break
      default:
    }
    process(headers, body)
    response.writeHead(204).end()
  }

  const server = createServer((request, response) => {
    const parts: string[] = []
    request.setEncoding('utf8').on('data', (part: string) => parts.push(part))
    request.once('end', () => void respond(request.headers, parts.join(''), response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  const webhook: FailingWebhook = {
    url: `http://127.0.0.1:${address.port}/hooks`,
    secret,
    processed: [],
    problems: [],
    reached: new Map(),
    isGone: () => {
      const was = isGone
      isGone = false
      return was
    },
    heal: () => (isHealed = true),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return webhook
}

/** The webhook in a configuration, named `chaos`. */
export function webhookSection({ url, secret }: Pick<FailingWebhook, 'url' | 'secret'>): string {
  return `
events:
  webhooks: [{ name: chaos, url: '${url}', secret: '${secret}', timeout: 1s, from: start }]
`
}
