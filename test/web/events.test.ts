import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { eventFeed } from '../../src/web/event-feed.ts'
import { eventsRoute } from '../../src/web/events-route.ts'
import { callView } from '../../src/events/call-data.ts'
import { alertEvent, transitionEvent } from '../../src/web/views.ts'
import { NOW, openCall } from '../metrics/hand-made-target.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { eventClient } from './event-client.ts'
import { firingOf, RATIO } from '../alerts/sample-rules.ts'
import { serve, shownTarget } from './serve.ts'

describe('/api/v1/events', () => {
  test('sends a published event to every connected client at once', async () => {
    const { url, feed } = await serve([shownTarget()])
    const clients = [await eventClient(url), await eventClient(url)]
    feed.publish('transition', () => ({ n: 1 }))
    feed.publish('alert', () => ({ n: 2 }))
    for (const client of clients) {
      expect(await client.next()).toMatchObject({ event: 'transition', data: { n: 1 } })
      expect(await client.next()).toMatchObject({ event: 'alert', data: { n: 2 } })
    }
  })

  test('is an event stream that no proxy stores or buffers', async () => {
    const { url } = await serve([shownTarget()])
    const { response } = await eventClient(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
  })

  test('sends a client that reconnects with its last id the missed events, then new ones', async () => {
    const { url, feed } = await serve([shownTarget()])
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
    ['of another process', '00000000-1'],
    ['that never existed', 'nonsense'],
  ])('sends a client that reconnects with an id %s a reset, then new events', async (_what, id) => {
    const { url, feed } = await serve([shownTarget()])
    const client = await eventClient(url, { 'last-event-id': id })
    feed.publish('transition', () => ({ n: 1 }))
    expect(await client.next()).toMatchObject({ event: 'reset', data: {} })
    expect(await client.next()).toMatchObject({ event: 'transition', data: { n: 1 } })
  })

  test('starts a new client with the latest events that it requests', async () => {
    const { url, feed } = await serve([shownTarget()])
    for (let n = 1; n <= 4; n++) feed.publish('transition', () => ({ n }))
    const client = await eventClient(url, {}, '?latest=2')
    expect([await client.next(), await client.next()]).toMatchObject([{ data: { n: 3 } }, { data: { n: 4 } }])
    const refused = await fetch(`${url}/api/v1/events?latest=some`)
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: 'latest must be a whole number up to 99999' },
    ])
  })

  test('does not disconnect a client that reads, even if one commit fills the whole feed', async () => {
    const { url, feed } = await serve([shownTarget()])
    const client = await eventClient(url)
    const filling = 'x'.repeat(450)
    for (let n = 1; n <= 10_000; n++) feed.publish('transition', () => ({ n, filling }))
    for (let n = 1; n <= 10_000; n++) expect(await client.next()).toMatchObject({ data: { n } })
  })

  test('disconnects a client that does not read, and keeps serving the others', async () => {
    const { url, feed } = await serve([shownTarget()])
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
    // The client still receives what the operating system had buffered; then the connection ends without a last chunk.
    let received = ''
    slow.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    slow.on('error', () => undefined)
    slow.resume()
    await once(slow, 'close')
    expect(received).toContain('"n":1,')
    expect(received).not.toContain('"n":40,')
    expect(received.endsWith('0\r\n\r\n')).toBe(false)
  })

  test('sends a comment every 15 s while nothing happens, until the client disconnects', async () => {
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
      expect(await next()).toBe(': keep-alive\n\n')
    }
    expect(clock.waiting()).toBe(1)
    client.abort()
    await expect.poll(() => clock.waiting()).toBe(0)
  })

  test('ends the stream properly when the server closes', async () => {
    const { url, close } = await serve([shownTarget()])
    const client = await eventClient(url)
    const closed = close()
    expect(await client.next()).toBeUndefined()
    await closed
  })

  test('starts with at most the last 500 events', async () => {
    const { url, feed } = await eventServer()
    for (let n = 1; n <= 10_000; n++) feed.publish('transition', () => ({ n }))
    const client = await eventClient(url, {}, '?latest=99999')
    for (let n = 9501; n <= 10_000; n++) expect(await client.next()).toMatchObject({ data: { n } })
  })

  test('sends ten thousand missed events completely and in order, then new ones', async () => {
    const { url, feed } = await eventServer()
    feed.publish('transition', () => ({ n: 0 }))
    const { id } = (await (await eventClient(url, {}, '?latest=1')).next())!
    for (let n = 1; n <= 10_000; n++) feed.publish('transition', () => ({ n }))
    const client = await eventClient(url, { 'last-event-id': id })
    feed.publish('transition', () => ({ n: 10_001 }))
    for (let n = 1; n <= 10_001; n++) expect(await client.next()).toMatchObject({ data: { n } })
  })

  test('serves a hundred clients: the next one gets 503 with Retry-After until one disconnects', async () => {
    const { url, leaving } = await eventServer(100)
    const refused = await fetch(`${url}/api/v1/events`)
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '10',
      { error: '100 event streams are open already; close one, or try again later' },
    ])
    leaving[0]?.abort()
    await vi.waitFor(async () => expect((await eventClient(url)).response.status).toBe(200))
  })
})

test('the event of a transition names the call, the step and whether a poll observed it', () => {
  const transition = { call: openCall('a'), from: 'initiated', to: 'ongoing', observed: true, at: NOW } as const
  expect(transitionEvent('production', transition)).toEqual({
    ...callView('production', openCall('a')),
    from: 'initiated',
    to: 'ongoing',
    observed: true,
    at: '2026-09-21T14:13:20.000Z',
  })
})

test('the event of an alert names the alert, its new state and its values', () => {
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

/** Serves the route on a virtual clock, with clients connected. */
async function eventServer(clients = 0) {
  const app = fastify({ forceCloseConnections: true })
  const feed = eventFeed()
  eventsRoute(app, feed, virtualClock())
  onTestFinished(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const leaving = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new AbortController()
      // The response is returned, because fetch closes a response that is garbage-collected.
      const response = await fetch(`${url}/api/v1/events`, { signal: client.signal })
      expect(response.status).toBe(200)
      return { response, abort: () => client.abort() }
    }),
  )
  return { url, feed, leaving }
}
