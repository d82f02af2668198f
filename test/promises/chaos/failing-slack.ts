import { once } from 'node:events'
import { createServer } from 'node:http'
import { SEVERITIES } from '../../../src/alerts/match-keys.ts'
import type { MessageView } from '../../../src/notifications/receivers/webhook/webhook-body.ts'
import type { Random } from '../../../src/simulator/random.ts'

/** A message that was answered with 200. */
export type Accepted = {
  /** `store` where the message is about that. */
  alert: string
  /** Of which target it is; empty where it is about the store. */
  target: string
  /** `flapped`: it fired and resolved between deliveries. */
  kind: 'firing' | 'resolved' | 'expired' | 'flapped' | 'store' | 'report'
  /** How often it fired and resolved in addition. */
  cycles: number
  text: string
  /** The number of the daemon's process that sent it. */
  life: number
}

export type FailingSlack = {
  url: string
  /** The secret part of the address. */
  secret: string
  accepted: Accepted[]
  /** All of them, and those that were never answered: their sender does not know that they were not accepted. */
  attempts: { message: Accepted; accepted: boolean }[]
  /** How often it has failed, by way. */
  reached: Map<string, number>
  /** From now on it accepts everything. */
  heal: () => void
  /** Called with each message as soon as it is accepted, before the answer has gone out. */
  onAccepted: ((message: Accepted) => void) | undefined
  close: () => void
}

const RESPONSES = ['http_500', 'http_429', 'ok', 'ok', 'hang', 'ok', 'ok', 'ok'] as const

/**
 * A receiver on loopback that sometimes fails, in every way a real one does: in an order that the seed draws, each way
 * once in eight attempts.
 *
 * @param life the number of the daemon's current process
 * @param options under which name it counts its failures, and how it reads a message
 */
export async function failingSlack(
  draw: Random,
  life: () => number,
  { name, read }: { name: string; read: (body: string, life: number) => Accepted } = {
    name: 'slack',
    read: readMessage,
  },
): Promise<FailingSlack> {
  const secret = `T0CHAOS/B0CHAOS/${Array.from({ length: 24 }, () => Math.floor(draw() * 36).toString(36)).join('')}`
  let turns: (typeof RESPONSES)[number][] = []
  let isHealed = false
  const server = createServer((request, response) => {
    const parts: string[] = []
    request.setEncoding('utf8').on('data', (part: string) => parts.push(part))
    request.once('end', () => {
      if (turns.length === 0) turns = shuffled(RESPONSES, draw)
      const turn = isHealed ? 'ok' : turns.pop()!
      if (turn !== 'ok') slack.reached.set(`${name}.${turn}`, (slack.reached.get(`${name}.${turn}`) ?? 0) + 1)
      if (turn === 'hang') {
        slack.attempts.push({ message: read(parts.join(''), life()), accepted: false })
        return
      }
      if (turn === 'http_500') response.writeHead(500).end('fatal_error')
      else if (turn === 'http_429') response.writeHead(429, { 'retry-after': '1' }).end('rate_limited')
      else {
        const message = read(parts.join(''), life())
        slack.accepted.push(message)
        slack.attempts.push({ message, accepted: true })
        response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
        slack.onAccepted?.(message)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  const slack: FailingSlack = {
    url: `http://127.0.0.1:${address.port}/services/${secret}`,
    secret,
    accepted: [],
    attempts: [],
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

/** What our own daemon says; each severity has one rule, so that each message is about one alert. */
export function readMessage(body: string, life: number): Accepted {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon sends
  const { text } = JSON.parse(body) as { text: string }
  if (/^\S+ callwatch can/u.test(text)) return { alert: 'store', target: '', kind: 'store', cycles: 0, text, life }
  if (/^\S+ callwatch watches/u.test(text))
    return { alert: 'report', target: '', kind: 'report', cycles: 0, text, life }
  const [, word = '', alert, target] = /^\S+ (?:.* still fires?; )?([a-z, ]+): (\w+) on ([\w-]+)/u.exec(text) ?? []
  const kind = KINDS.get(word)
  if (kind === undefined || alert === undefined || target === undefined)
    throw new Error(`no message of an alert: ${text}`)
  const times = (kind === 'flapped' ? FLAPPED : FLAPS).exec(body)?.[1] ?? (kind === 'flapped' ? 1 : 0)
  return { alert, target, kind, cycles: times === 'once' ? 1 : Number(times), text, life }
}

const FLAPPED = /fired and ended (\d+) times/u
const FLAPS = /fired and resolved (once|\d+) more(?: times)? meanwhile/u

/** What the first words of a message say of its alert. */
const KINDS = new Map<string, Accepted['kind']>([
  ...SEVERITIES.flatMap((severity) => [[severity, 'firing'] as const, [`still ${severity}`, 'firing'] as const]),
  ['resolved', 'resolved'],
  ['expired, not resolved', 'expired'],
  ['already resolved', 'flapped'],
  ['already over', 'flapped'],
])

/** What our own daemon posts to a webhook. */
export function readWebhookMessage(body: string, life: number): Accepted {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon sends
  const message = JSON.parse(body) as MessageView
  const { kind } = message
  if (kind === 'store' || kind === 'report')
    return { alert: kind, target: '', kind, cycles: 0, text: message.summary, life }
  if (kind !== 'alerts') throw new Error(`no message of an alert: ${body}`)
  const [first] = message.alerts
  if (first === undefined || first.state === 'silenced' || first.state === 'inhibited')
    throw new Error(`no alert: ${body}`)
  const { alert, target, summary } = first
  if (first.state === 'over') return { alert, target, kind: 'flapped', cycles: first.times, text: summary, life }
  return { alert, target, kind: first.state, cycles: first.flaps, text: summary, life }
}
