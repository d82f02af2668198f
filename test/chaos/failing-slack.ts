import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Random } from '../../src/simulator/random.ts'

/** A message that was answered with 200. */
export type Accepted = {
  alert: string
  kind: 'firing' | 'resolved' | 'closed'
  text: string
  /** Which life of the daemon sent it. */
  life: number
}

export type FailingSlack = {
  url: string
  /** The part of the address that nobody may see. */
  secret: string
  accepted: Accepted[]
  /** How often it has failed in which way. */
  reached: Map<string, number>
  /** From now on it accepts everything. */
  heal: () => void
  /** Called with each message as soon as it is accepted, before the answer has gone out. */
  onAccepted: ((message: Accepted) => void) | undefined
  close: () => void
}

const TURNS = ['http_500', 'http_429', 'ok', 'ok', 'hang', 'ok', 'ok', 'ok'] as const

/**
 * A channel on loopback that fails now and then, in every way a real one does: in an order that the seed draws, each way
 * once in eight attempts.
 *
 * @param life which life of the daemon it is now
 */
export async function failingSlack(draw: Random, life: () => number): Promise<FailingSlack> {
  const secret = `T0CHAOS/B0CHAOS/${Array.from({ length: 24 }, () => Math.floor(draw() * 36).toString(36)).join('')}`
  let turns: (typeof TURNS)[number][] = []
  let isHealed = false
  const server = createServer((request, response) => {
    const parts: string[] = []
    request.setEncoding('utf8').on('data', (part: string) => parts.push(part))
    request.once('end', () => {
      if (turns.length === 0) turns = shuffled(TURNS, draw)
      const turn = isHealed ? 'ok' : turns.pop()!
      if (turn !== 'ok') slack.reached.set(`slack.${turn}`, (slack.reached.get(`slack.${turn}`) ?? 0) + 1)
      if (turn === 'hang') return
      if (turn === 'http_500') response.writeHead(500).end('fatal_error')
      else if (turn === 'http_429') response.writeHead(429, { 'retry-after': '1' }).end('rate_limited')
      else {
        const message = readMessage(parts.join(''), life())
        slack.accepted.push(message)
        response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
        slack.onAccepted?.(message)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the channel has no port')
  const slack: FailingSlack = {
    url: `http://127.0.0.1:${address.port}/services/${secret}`,
    secret,
    accepted: [],
    reached: new Map(),
    heal: () => (isHealed = true),
    onAccepted: undefined,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return slack
}

/** In an order that `draw` decides (Fisher and Yates). */
export function shuffled<T>(items: readonly T[], draw: Random): T[] {
  const result = [...items]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1))
    ;[result[i], result[j]] = [result[j]!, result[i]!]
  }
  return result
}

/** A message's title is `<sign> <kind or severity>: <alert> on <target>: ...`. */
function readMessage(body: string, life: number): Accepted {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon sends
  const { text } = JSON.parse(body) as { text: string }
  const [, word, alert] = /^\S+ (\w+): (\w+) on /u.exec(text) ?? []
  if (word === undefined || alert === undefined) throw new Error(`no message of an alert: ${text}`)
  return { alert, kind: word === 'resolved' || word === 'closed' ? word : 'firing', text, life }
}
