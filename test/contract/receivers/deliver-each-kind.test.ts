import { describe, expect, test } from 'vitest'
import { random, type Random } from '../../../src/simulator/random.ts'
import { emailSend } from '../../../src/notifications/receivers/email/email-send.ts'
import { slackSend } from '../../../src/notifications/receivers/slack/slack-send.ts'
import { webhookSend } from '../../../src/notifications/receivers/webhook/webhook-send.ts'
import type { Send } from '../../../src/notifications/receiver.ts'
import { DeliveryError } from '../../../src/network/delivery-error.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { bodyOf, refusal, smtpInbox } from '../../unit/notifications/receivers/email/smtp-inbox.ts'
import { read, withReceivers } from '../../kit/notifications/receiver.ts'
import { inShort, sending, type Named } from '../../kit/notifications/delivery/sending.ts'

/** `firing A`, as a receiver understood it. */
type Understood = string
/** A real server that fails as often as is drawn, what it accepted, and a sender to it. */
type Kind = (draw: Random) => Promise<{ send: Send; accepted: Understood[] }>

const opening = withReceivers()
const context = { clock: virtualClock(), name: 'slack' }
const FAILURES = 0.4

/** Each alert is of a target of its own, so that each message is about one. */
const ALERTS: Named[] = ['A', 'B', 'C'].map((name) => ({ name, target: `of-${name}` }))

const byHttp =
  (sender: (url: string) => Send, understand: (body: string) => Understood[]): Kind =>
  async (draw) => {
    const accepted: Understood[] = []
    const { url } = await opening.open((request, response) => {
      void read(request).then(({ body }) => {
        const drawn = draw() / FAILURES
        if (drawn < 0.5) response.writeHead(500).end()
        else if (drawn < 1) response.writeHead(429, { 'retry-after': '2' }).end()
        else {
          accepted.push(...understand(body))
          response.end('ok')
        }
      })
    })
    return { send: sender(url), accepted }
  }

type Alert = { state: string; alert: string }

function alertsIn(body: string): Alert[] {
  const { alerts }: { alerts: Alert[] } = JSON.parse(body)
  return alerts
}

const KINDS: Record<string, Kind> = {
  slack: byHttp(
    (url) => slackSend({ webhookUrl: url }, context),
    (body) => {
      const { text }: { text: string } = JSON.parse(body)
      const [, state, name] = /(resolved|warning): (\w) on/.exec(text) ?? []
      return [`${state === 'warning' ? 'firing' : state} ${name}`]
    },
  ),
  webhook: byHttp(
    (url) => webhookSend({ url, headers: {} }, context),
    (body) => alertsIn(body).map(({ state, alert }) => `${state} ${alert}`),
  ),
  email: async (draw) => {
    const accepted: Understood[] = []
    const fails = () => draw() < FAILURES / 3
    const { port } = await smtpInbox({
      login: () => (fails() ? refusal(454, 'not now') : undefined),
      recipient: () => (fails() ? refusal(450, 'not now') : undefined),
      message: (mail) => {
        if (fails()) return refusal(451, 'not now')
        const [, state, name] = /^\[(\w+)\] \w+ (\w)/.exec(bodyOf(mail, 'text/plain')) ?? []
        accepted.push(`${state} ${name}`)
        return undefined
      },
    })
    const server = { host: '127.0.0.1', port, tls: 'none', username: 'ann', password: 'x' } as const
    return {
      send: emailSend({ to: ['a@b.example'], from: 'e@f.example', ...server }, 0, context),
      accepted,
    }
  },
}

describe.each(Object.entries(KINDS))('a real receiver of the kind %s that often fails', (kind, open) => {
  test.each([1, 2])('gets every firing once, and its end after it (seed %i)', async (seed) => {
    const draw = random(seed, kind)
    const { send, accepted } = await open(random(seed, kind, 'server'))
    let inFlight: Promise<unknown> = Promise.resolve()
    const sender = sending({
      receive: (message) => {
        const delivery = send(message)
        inFlight = delivery.catch((error: unknown) => expect(error).toBeInstanceOf(DeliveryError))
        return delivery
      },
    })
    const settle = async (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        await sender.clock.advance(1)
        await inFlight
        await sender.clock.advance(0)
      }
    }
    const firing = new Set<Named>()
    const happened: Understood[] = []
    /** Whether the latest change of an alert was sent. */
    const isToldAll = ({ name }: Named) => {
      const sent = sender.deliveries.flatMap(({ message, outcome }) =>
        outcome === 'sent' && message !== undefined ? inShort(message) : [],
      )
      const ofAlert = (all: readonly string[]) => all.findLast((one) => one.endsWith(` ${name}`))
      return ofAlert(sent) === ofAlert(happened)
    }
    for (let i = 0; i < 14; i++) {
      const alert = ALERTS[Math.floor(draw() * ALERTS.length)]!
      const isFiring = firing.has(alert)
      // What flaps while the receiver fails is told as a number: another law (notifying-law.test.ts).
      while (!isToldAll(alert)) await settle(5)
      await (isFiring ? sender.resolve(alert) : sender.fire(alert))
      if (isFiring) firing.delete(alert)
      else firing.add(alert)
      happened.push(`${isFiring ? 'resolved' : 'firing'} ${alert.name}`)
      await settle(Math.floor(draw() * 3))
    }
    for (let i = 0; i < 200 && !ALERTS.every(isToldAll); i++) await settle(5)
    expect(sender.outcomes().filter((outcome) => outcome === 'retried').length).toBeGreaterThan(0)
    for (const { name } of ALERTS) {
      const ofAlert = (all: readonly Understood[]) => all.filter((one) => one.endsWith(` ${name}`))
      expect(ofAlert(accepted)).toEqual(ofAlert(happened))
    }
  })
})
