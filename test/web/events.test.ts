import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { eventFeed } from '../../src/web/event-feed.ts'
import { eventsRoute } from '../../src/web/events-route.ts'
import { alertEvent, transitionEvent } from '../../src/web/views.ts'
import { NOW, openCall } from '../metrics/hand-made-target.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { eventClient } from './event-client.ts'
import { firingOf, RATIO } from '../alerts/sample-rules.ts'
import { serve, watchedTarget } from './serve.ts'

test('what is published reaches everybody who is connected, at once', async () => {
  const { url, feed } = await serve([watchedTarget()])
  const clients = [await eventClient(url), await eventClient(url)]
  feed.publish('transition', () => ({ n: 1 }))
  feed.publish('alert', () => ({ n: 2 }))
  for (const client of clients) {
    expect(await client.next()).toMatchObject({ event: 'transition', data: { n: 1 } })
    expect(await client.next()).toMatchObject({ event: 'alert', data: { n: 2 } })
  }
})

test('the answer is an event stream that nobody keeps or buffers', async () => {
  const { url } = await serve([watchedTarget()])
  const { response } = await eventClient(url)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
})

test('who comes back with the last id gets what was missed, then what is new', async () => {
  const { url, feed } = await serve([watchedTarget()])
  const before = await eventClient(url)
  feed.publish('transition', () => ({ n: 1 }))
  const { id } = (await before.next())!
  feed.publish('transition', () => ({ n: 2 }))
  feed.publish('transition', () => ({ n: 3 }))
  const after = await eventClient(url, { 'last-event-id': id })
  feed.publish('transition', () => ({ n: 4 }))
  const received = [await after.next(), await after.next(), await after.next()]
  expect(received.map((event) => event?.data)).toEqual([{ n: 2 }, { n: 3 }, { n: 4 }])
})

test.each([
  ['of another boot', '00000000-1'],
  ['that was never given', 'nonsense'],
])('who comes back with an id %s is told to start anew, and then hears on', async (_what, id) => {
  const { url, feed } = await serve([watchedTarget()])
  const client = await eventClient(url, { 'last-event-id': id })
  feed.publish('transition', () => ({ n: 1 }))
  expect(await client.next()).toMatchObject({ event: 'reset', data: {} })
  expect(await client.next()).toMatchObject({ event: 'transition', data: { n: 1 } })
})

test('who comes for the first time gets as much of the past as it asks for', async () => {
  const { url, feed } = await serve([watchedTarget()])
  for (let n = 1; n <= 4; n++) feed.publish('transition', () => ({ n }))
  const client = await eventClient(url, {}, '?latest=2')
  expect([await client.next(), await client.next()]).toMatchObject([{ data: { n: 3 } }, { data: { n: 4 } }])
  const refused = await fetch(`${url}/api/v1/events?latest=some`)
  expect([refused.status, await refused.json()]).toEqual([400, { error: 'latest must be a whole number up to 99999' }])
})

test('a whole feed in one commit cuts off nobody who reads', async () => {
  const { url, feed } = await serve([watchedTarget()])
  const client = await eventClient(url)
  const filling = 'x'.repeat(450)
  for (let n = 1; n <= 10_000; n++) feed.publish('transition', () => ({ n, filling }))
  for (let n = 1; n <= 10_000; n++) expect(await client.next()).toMatchObject({ data: { n } })
})

test('a client that does not read is cut off, and costs the others nothing', async () => {
  const { url, feed } = await serve([watchedTarget()])
  const reading = await eventClient(url)
  const { hostname, port } = new URL(url)
  const slow = connect(Number(port), hostname)
  onTestFinished(() => void slow.destroy())
  slow.write(`GET /api/v1/events HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
  await once(slow, 'data')
  slow.pause()
  const filling = 'x'.repeat(1024 * 1024)
  for (let n = 1; n <= 40; n++) {
    feed.publish('transition', () => ({ n, filling }))
    expect(await reading.next()).toMatchObject({ data: { n } })
  }
  // What the operating system had already taken is still there to read; then the end comes, and not in good order.
  let received = ''
  slow.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  slow.on('error', () => undefined)
  slow.resume()
  await once(slow, 'close')
  expect(received).toContain('"n":1,')
  expect(received).not.toContain('"n":40,')
  expect(received.endsWith('0\r\n\r\n')).toBe(false)
})

test('while nothing happens a comment comes every 15 s, and no more once the client is gone', async () => {
  const app = fastify({ forceCloseConnections: true })
  const clock = virtualClock()
  eventsRoute(app, eventFeed(), clock)
  onTestFinished(() => app.close())
  const client = new AbortController()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const { body } = await fetch(`${url}/api/v1/events`, { signal: client.signal })
  const texts = body!.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => (await texts.read()).value
  expect(await next()).toBe(': connected\nretry: 2000\n\n')
  for (let n = 0; n < 3; n++) {
    await clock.advance(15)
    expect(await next()).toBe(': still here\n\n')
  }
  expect(clock.waiting()).toBe(1)
  client.abort()
  await expect.poll(() => clock.waiting()).toBe(0)
})

test('the stream ends in good order when callwatch stops', async () => {
  const { url, close } = await serve([watchedTarget()])
  const client = await eventClient(url)
  const closed = close()
  expect(await client.next()).toBeUndefined()
  await closed
})

test('a transition names the call, the step and whether it was seen', () => {
  const transition = { call: openCall('a'), from: 'initiated', to: 'ongoing', observed: true, at: NOW } as const
  expect(transitionEvent('production', transition)).toEqual({
    target: 'production',
    session_id: 'a',
    type: 'audio',
    mode: 'call',
    receiver_type: 'user',
    status: 'ongoing',
    began: '2026-09-21T14:12:50.000Z',
    participants: 2,
    minutes: { audio: 0.5, video: 0 },
    from: 'initiated',
    to: 'ongoing',
    observed: true,
    at: '2026-09-21T14:13:20.000Z',
  })
})

test("an alert's change names the alert, its new state and the figures", () => {
  const resolved = { kind: 'resolved', value: 0.1, threshold: 0.2, calls: 40, since: NOW - 600 } as const
  const event = alertEvent(firingOf(RATIO, 'production', NOW, { ...resolved, labels: { type: 'video' } }))
  expect(event).toEqual({
    target: 'production',
    alert: 'HighFailureRate',
    severity: 'warning',
    labels: { type: 'video' },
    state: 'resolved',
    signal: 'failure_ratio',
    breach: 'above',
    value: 0.1,
    threshold: 0.2,
    calls: 40,
    since: '2026-09-21T14:03:20.000Z',
    peak: 0.5,
    at: '2026-09-21T14:13:20.000Z',
  })
})
