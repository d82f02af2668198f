import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { CloudEvent, HTTP } from 'cloudevents'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { WebhookConfig } from '../../../src/events/webhooks/webhook-section.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { SECRET, webhookOf } from '../../kit/events/webhooks/any-webhook.ts'
import { daemonInProcess, KEY, WAIT } from '../../kit/daemon/daemon-in-process.ts'

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'b').toString('base64')}`

type Verified = { id: string; signatures: number }

/** A receiver that verifies with the public libraries; what `respond` answers otherwise is not verified. */
async function receiver(respond?: RequestListener) {
  const state = { secret: SECRET }
  const verified: Verified[] = []
  const refused: string[] = []
  const { url } = await localServer((request, response) => {
    if (respond !== undefined) return respond(request, response)
    return void text(request).then((body) => {
      const { headers } = request
      try {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the verifier refuses what is missing
        new Webhook(state.secret).verify(body, headers as Record<string, string>)
        const event = HTTP.toEvent<object>({ headers, body })
        if (!(event instanceof CloudEvent) || !event.validate()) throw new Error('no valid event')
        verified.push({ id: event.id, signatures: String(headers['webhook-signature']).split(' ').length })
        expect(headers['webhook-id']).toBe(event.id)
        response.writeHead(200).end('thank you')
      } catch (error) {
        refused.push(String(error))
        response.writeHead(401).end()
      }
    })
  })
  return { url: `${url}/token-of-the-receiver`, verified, refused, state }
}

async function daemonWith(webhooks: readonly WebhookConfig[]) {
  const service = await startSimulator({ apiKey: KEY, callsPerMinute: 120, speed: 20, history: 20 })
  onTestFinished(service.close)
  const eventsOf = (those: readonly WebhookConfig[]) => ({
    events: { retention: 86_400, participants: false, webhooks: [...those] },
  })
  const running = await daemonInProcess(service.url, { baseline: 'skip' }, eventsOf(webhooks))
  const get = async (path: string) => (await fetch(`${running.daemon.url}api/v1/${path}`)).json() as Promise<never> // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own answers
  const gauge = async (name: string, webhook: string) =>
    (await running.samples()).find((sample) => sample.name === name && sample.labels['webhook'] === webhook)?.value
  const change = (those: readonly WebhookConfig[]) => running.reload(eventsOf(those))
  /** Of the first events of the log. */
  const idsOf = async (limit: number) =>
    ((await get(`events?limit=${limit}`)) as { events: Verified[] }).events.map(({ id }) => id) // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own answers
  return { ...running, get, gauge, change, idsOf }
}

describe('a daemon with webhooks', () => {
  test('delivers every event of the log, which the public libraries accept', async () => {
    const crm = await receiver()
    const { get, gauge, idsOf, stop, log } = await daemonWith([webhookOf({ url: crm.url, from: 'start' })])
    await vi.waitFor(() => expect(crm.verified.length).toBeGreaterThan(30), WAIT)
    await vi.waitFor(
      async () => expect(await gauge('callwatch_webhook_deliveries_total', 'crm')).toBeGreaterThan(30),
      WAIT,
    )
    const { webhooks } = await get('state')
    expect(webhooks).toMatchObject([{ name: 'crm', state: 'delivering', dead_letters: 0 }])
    const first = await idsOf(30)
    await vi.waitFor(() => expect(crm.verified.map(({ id }) => id)).toEqual(expect.arrayContaining(first)), WAIT)
    expect(crm.refused).toEqual([])
    await stop()
    expect(JSON.stringify(log)).not.toMatch(/token-of-the-receiver|whsec_/)
  })

  test('signs with two secrets while one is rotated, and with another one after a reload', async () => {
    const crm = await receiver()
    const { change } = await daemonWith([webhookOf({ url: crm.url })])
    /** A reload lets the requests under way end first. */
    const more = (signatures: number) => {
      const before = crm.verified.length
      const isSo = (verified: Verified) => verified.signatures === signatures
      return vi.waitFor(() => expect(crm.verified.slice(before).filter(isSo).length).toBeGreaterThan(3), WAIT)
    }
    await more(1)
    await change([webhookOf({ url: crm.url, secret: OTHER_SECRET, old_secret: SECRET })])
    await more(2)
    crm.state.secret = OTHER_SECRET
    await more(2)
    await change([webhookOf({ url: crm.url, secret: OTHER_SECRET })])
    await more(1)
    const ids = crm.verified.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(crm.refused).toEqual([])
  })

  test('is not delayed by a receiver that hangs: polls, another webhook, its own end', async () => {
    const [crm, hanging] = [await receiver(), await receiver(() => undefined)]
    const { get, stop, polls, morePolls, log } = await daemonWith([
      webhookOf({ url: crm.url }),
      webhookOf({ name: 'hanging', url: hanging.url, timeout: '1s', from: 'start' }),
    ])
    await vi.waitFor(() => expect(crm.verified.length).toBeGreaterThan(10), WAIT)
    await morePolls(10)
    expect(polls.every(({ successful }) => successful)).toBe(true)
    await vi.waitFor(async () => {
      expect((await get('state')) as { webhooks: object[] }).toMatchObject({
        webhooks: [{ name: 'crm' }, { name: 'hanging', state: 'failing' }],
      }) // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own answers
    }, WAIT)
    const begun = performance.now()
    await stop()
    expect(performance.now() - begun).toBeLessThan(5000)
    const lines = log.filter(({ msg }) => msg.includes('hanging'))
    expect(lines.map(({ msg }) => msg)).toEqual([
      'events are not accepted, and are sent again: the webhook hanging did not answer within 1 s',
    ])
  })

  test('keeps the place of one that is removed, without its series, and shows it as removed', async () => {
    const crm = await receiver()
    const webhook = webhookOf({ url: crm.url, from: 'start' })
    const { change, get, gauge, idsOf } = await daemonWith([webhook])
    await vi.waitFor(() => expect(crm.verified.length).toBeGreaterThan(5), WAIT)
    await change([])
    await vi.waitFor(async () => {
      expect((await get('state')) as object).toMatchObject({ webhooks: [{ name: 'crm', state: 'removed' }] }) // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own answers
    }, WAIT)
    expect(await gauge('callwatch_webhook_deliveries_total', 'crm')).toBeUndefined()
    const before = crm.verified.length
    await change([{ ...webhook, from: 'now' }])
    await vi.waitFor(async () => {
      expect(crm.verified.length).toBeGreaterThan(before)
      const ids = crm.verified.map(({ id }) => id)
      // Neither a gap nor a repetition.
      expect(ids.toSorted()).toEqual((await idsOf(ids.length)).toSorted())
    }, WAIT)
  })
})
