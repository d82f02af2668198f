import { withPrefix } from '../../../src/simulator/calls/session-id.ts'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test, vi } from 'vitest'
import { createService } from '../../../src/simulator/answers/service.ts'
import { newWebhooks } from '../../../src/simulator/answers/webhooks.ts'
import type { WebhookFault } from '../../../src/simulator/answers/faults.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { SOON } from '../../kit/eventually.ts'
import { START } from '../../kit/world/request-service.ts'

type Body = { trigger: string; appId: string; data: { sessionId?: string; call?: unknown } }

/** What the service sends in ten minutes, read each second. */
function sendFor10Minutes(fault?: WebhookFault) {
  const webhookFault = fault === undefined ? {} : { [fault]: 1 }
  const service = createService({ history: 50, callsPerMinute: 20, speed: 10, switches: { webhookFault } }, START)
  const webhooks = newWebhooks(service)
  const all: { at: number; isForged: boolean; body: Body }[] = []
  for (let at = START; at < START + 600; at += 1) {
    advance(service.world, at, service.switches)
    for (const { body, isForged } of webhooks.due()) all.push({ at, isForged, body: JSON.parse(body) })
  }
  return { all, lost: webhooks.sent.lost, ledger: service.world.ledger.filter(({ at }) => at > START) }
}

const sent = new Map<WebhookFault | undefined, ReturnType<typeof sendFor10Minutes>>()

function sentIn10Minutes(fault?: WebhookFault) {
  const known = sent.get(fault) ?? sendFor10Minutes(fault)
  sent.set(fault, known)
  return known
}

const sessionOf = ({ data }: Body) => data.sessionId ?? /"sessionid":"([^"]+)"/.exec(JSON.stringify(data))?.[1]
const idsOf = (all: readonly { body: Body }[]) => all.map(({ body }) => `${sessionOf(body)} ${body.trigger}`)

describe('webhooks of the simulator', () => {
  test('are sent of each change of a call, and of nothing before the start', () => {
    const { all, ledger } = sentIn10Minutes()
    const happened = ledger.filter(({ event }) => !['progress', 'unlisted'].includes(event))
    expect(all.length).toBeGreaterThan(300)
    expect(Math.abs(all.length - happened.length)).toBeLessThan(10)
    const known = new Set(happened.map(({ sessionId }) => withPrefix(sessionId)))
    expect(all.map(({ body }) => sessionOf(body)).filter((id) => !known.has(id!))).toEqual([])
    expect(new Set(all.map(({ body }) => body.trigger))).toEqual(
      new Set([
        'meeting_started',
        'meeting_ended',
        ...['initiated', 'started', 'ended', 'unanswered', 'rejected', 'cancelled'].map((name) => `call_${name}`),
      ]),
    )
  })

  test('are the same for the same seed, and change nothing that happens', () => {
    expect(sendFor10Minutes('reordered').all).toEqual(sentIn10Minutes('reordered').all)
    expect(sentIn10Minutes('late').ledger).toEqual(sentIn10Minutes().ledger)
  })

  test('may be lost', () => {
    const { all, lost } = sentIn10Minutes('lost')
    expect(all).toEqual([])
    expect(lost.map(({ sessionId, trigger }) => `${withPrefix(sessionId)} ${trigger}`)).toEqual(
      idsOf(sentIn10Minutes().all),
    )
  })

  test('may come twice, late, in another order, of another app and forged', () => {
    const usual = idsOf(sentIn10Minutes().all)
    const twice = idsOf(sentIn10Minutes('twice').all)
    expect(twice.length).toBeGreaterThan(1.8 * usual.length)
    expect(new Set(twice).size).toBeLessThanOrEqual(usual.length)
    const late = sentIn10Minutes('late').all
    expect(late.length).toBeGreaterThan(0.8 * usual.length)
    const reordered = idsOf(sentIn10Minutes('reordered').all)
    expect(reordered).not.toEqual(usual.slice(0, reordered.length))
    expect(new Set(reordered).difference(new Set(usual))).toEqual(new Set())
    const others = sentIn10Minutes('other_app').all.filter(({ body }) => body.appId !== 'simulator')
    expect(others).toHaveLength(usual.length)
    const forged = sentIn10Minutes('forged').all.filter(({ isForged }) => isForged)
    expect(forged).toHaveLength(usual.length)
    expect(idsOf(forged).filter((id) => usual.includes(id))).toEqual([])
  })

  test('are sent over HTTP with the password of the address', async () => {
    const received: { authorization: string | undefined; body: Body }[] = []
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        received.push({ authorization: request.headers.authorization, body: JSON.parse(body) })
        response.end()
      })
    }).listen(0, '127.0.0.1')
    await vi.waitUntil(() => server.listening, SOON)
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const webhook = new URL(`http://vendor:p%40ss@127.0.0.1:${port}/hooks/simulated`)
    const simulator = await startSimulator({ callsPerMinute: 6000, speed: 100, history: 0 })
    simulator.sendWebhooks(webhook)
    await vi.waitUntil(() => received.length > 20, SOON)
    await simulator.close()
    server.closeAllConnections()
    server.close()
    expect(received[0]!.authorization).toBe(`Basic ${btoa('vendor:p@ss')}`)
    expect(received[0]!.body).toMatchObject({ appId: 'simulator', trigger: expect.any(String) })
    expect(simulator.webhooks().sent).toBeGreaterThanOrEqual(received.length)
  })
})
