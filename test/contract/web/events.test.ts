import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import fastify from 'fastify'
import { expect, describe, onTestFinished, test, vi } from 'vitest'
import { StoreError } from '../../../src/store/store-error.ts'
import type { LoggedEvents } from '../../../src/store/store.ts'
import { eventsRoute } from '../../../src/web/api/events.ts'
import { mount } from '../../../src/web/api/route.ts'
import { firingOf, RATIO } from '../../kit/alerts/sample-rules.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'
import { eventClient } from '../../kit/web/event-client.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const STREAM = { accept: 'text/event-stream' }
const FIRING = firingOf(RATIO, 'production', NOW, {})
/** What a client reads of an event: its own number in the test. */
const numberIn = (event: { data: unknown } | undefined) => (event?.data as { subject?: string } | undefined)?.subject // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own events

/** Serves the route on a virtual clock, from a log in memory. */
async function eventServer() {
  const rows: LoggedEvents[] = []
  const app = fastify({ forceCloseConnections: true })
  const clock = virtualClock()
  let reads = 0
  let reading = 0
  let together = 0
  let away = false
  const log = {
    events: async (position: number) => {
      if (away) throw new StoreError('unavailable', 'the disk is full')
      reads += 1
      reading += 1
      together = Math.max(together, reading)
      await setImmediate().finally(() => (reading -= 1))
      return rows.slice(Math.max(0, position - 1), position + 20)
    },
    latestEvents: async () => rows.slice(-1000),
  }
  mount(app, eventsRoute, {
    store: log,
    configured: () => [{ name: 'a', baseUrl: 'https://app.call-eu.cometchat.io/v3' }],
    clock,
  })
  onTestFinished(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  /** Logs calls that began, each in a commit of its own, named from one number to another. */
  const append = (from: number, to = from, filling = '') => {
    for (let n = from; n <= to; n++) {
      const body = { type: 'call.initiated', subject: String(n), time: '2026-11-21T00:00:00.000Z', data: { filling } }
      rows.push({
        position: rows.length + 1,
        id: `of-${n}`,
        target: 'a',
        at: 0,
        total: n,
        texts: [JSON.stringify(body)],
      })
    }
  }
  return {
    url,
    rows,
    append,
    clock,
    reads: () => reads,
    together: () => together,
    isAway: (is: boolean) => (away = is),
  }
}

describe('/api/v1/events', () => {
  const get = async (url: string, query: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/api/v1/events?${query}`, { headers })
    return { response, status: response.status, body: (await response.json()) as Record<string, never> } // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own answers
  }

  test('answers with the log from its beginning, page by page', async () => {
    const { url, append } = await serve([shownTarget()])
    await append(FIRING, { ...FIRING, kind: 'resolved' })
    const first = await get(url, 'limit=1')
    expect(first.body).toMatchObject({
      events: [{ specversion: '1.0', source: 'urn:callwatch:production', type: 'callwatch.alert.firing' }],
    })
    const second = await get(url, `limit=1&after=${first.body['next']}`)
    expect(second.body).toMatchObject({ events: [{ type: 'callwatch.alert.resolved' }] })
    const last = await get(url, `after=${second.body['next']}`)
    expect(last.body).toEqual({ events: [], next: second.body['next'] })
  })

  test('answers with a batch where one is asked for, and with the cursor in a header', async () => {
    const { url, append } = await serve([shownTarget()])
    await append(FIRING)
    const { response, body } = await get(url, '', { accept: 'application/cloudevents-batch+json' })
    expect(response.headers.get('content-type')).toContain('application/cloudevents-batch+json')
    expect(body).toMatchObject([{ type: 'callwatch.alert.firing' }])
    const { body: rest } = await get(url, `after=${response.headers.get('callwatch-next')}`)
    expect(rest).toMatchObject({ events: [] })
  })

  test('is read for one client after the other, as pages and as streams', async () => {
    const { url, append, together } = await eventServer()
    append(1, 300)
    const page = async () => expect((await get(url, 'limit=300')).body['events']).toHaveLength(300)
    const stream = async () => {
      const { next } = await eventClient(url, {}, '?after=0')
      for (let n = 1; n <= 300; n++) expect(numberIn(await next())).toBe(String(n))
    }
    await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? page() : stream())))
    expect(together()).toBe(1)
  })

  test('selects events by type, target and call', async () => {
    const { url, append } = await eventServer()
    append(1, 3)
    const subjects = async (query: string) =>
      ((await get(url, query)).body['events'] as unknown as { subject: string }[]).map(({ subject }) => subject) // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own answers
    expect(await subjects('session_id=2')).toEqual(['2'])
    expect(await subjects('session_id=v1.eu.app.2')).toEqual(['2'])
    expect(await subjects('type=callwatch.call.initiated,call.lost&target=b,a&limit=2')).toEqual(['1', '2'])
    expect(await subjects('type=call.ended')).toEqual([])
    expect(await subjects('target=b')).toEqual([])
  })

  test.each([
    ['limit=0', 'limit must be a whole number from 1 to 1000'],
    ['limit=x', 'limit must be a whole number from 1 to 1000'],
    ['type=call.begun', /^type(?:\.0)? must be one or more of call\.initiated, .*commas between them/],
    ['after=7', 'after must be a cursor as an earlier answer had it; leave it out to read from the oldest event'],
    ['latest=some', 'latest must be a whole number up to 99999'],
    ['latest=3', 'latest is for streams (Accept: text/event-stream); use limit'],
    ['from=now', /^unknown parameter from; the parameters are after, limit/],
  ])('refuses %s with a sentence', async (query, problem) => {
    const { url } = await serve([shownTarget()])
    const { status, body } = await get(url, query)
    expect(status).toBe(400)
    if (typeof problem === 'string') expect(body['detail']).toBe(problem)
    else expect(body['detail']).toMatch(problem)
  })

  test('answers 410 with the oldest cursor to one of another store', async () => {
    const { url, append } = await serve([shownTarget()])
    await append(FIRING)
    const { status, body } = await get(url, 'after=1.0.made-up')
    expect([status, body['detail']]).toEqual([410, expect.stringContaining('deleted by events.retention')])
    expect((await get(url, `after=${body['oldest']}`)).body['events']).toHaveLength(1)
  })
})

describe('the stream of events', () => {
  test('has what is logged for every connected client, each as a CloudEvent', async () => {
    const { url, append } = await serve([shownTarget()])
    const clients = [await eventClient(url), await eventClient(url)]
    await append(FIRING)
    for (const client of clients) {
      const data = { type: 'callwatch.alert.firing', data: { alert: 'HighFailureRate' } }
      expect(await client.next()).toMatchObject({ event: 'alert', data })
    }
  })

  test('is one that no proxy stores or buffers', async () => {
    const { url } = await serve([shownTarget()])
    const { response } = await eventClient(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
  })

  test('goes on after the last id of a client that reconnects, also after a restart, then with new events', async () => {
    const { url, append, rows } = await eventServer()
    append(1)
    const before = await eventClient(url, {}, '?latest=1')
    const { id } = (await before.next())!
    append(2, 10_000)
    const again = await eventServer()
    again.rows.push(...rows)
    const after = await eventClient(again.url, { 'last-event-id': id })
    for (let n = 2; n <= 10_000; n++) expect(numberIn(await after.next())).toBe(String(n))
    again.append(10_001)
    await again.clock.advance(1)
    expect(numberIn(await after.next())).toBe('10001')
    const asked = await eventClient(again.url, {}, `?after=${id}`)
    expect(numberIn(await asked.next())).toBe('2')
  })

  test.each([
    ['of another store', '1.0.of-7'],
    ['of an older version', '00000000-1'],
  ])('begins with a reset for an id %s, then has new events', async (_what, id) => {
    const { url, append, clock } = await eventServer()
    append(1)
    const client = await eventClient(url, { 'last-event-id': id })
    expect(await client.next()).toMatchObject({ event: 'reset', data: {}, id: '1.0.of-1' })
    append(2)
    await clock.advance(1)
    expect(numberIn(await client.next())).toBe('2')
  })

  test('begins with the latest events that a client requests, 500 at most', async () => {
    const { url, append } = await eventServer()
    append(1, 2000)
    const client = await eventClient(url, {}, '?latest=2')
    expect([numberIn(await client.next()), numberIn(await client.next())]).toEqual(['1999', '2000'])
    const most = await eventClient(url, {}, '?latest=99999')
    for (let n = 1501; n <= 2000; n++) expect(numberIn(await most.next())).toBe(String(n))
  })

  test('has only events of a filter, and misses none behind those that are left out', async () => {
    const { url, append, clock } = await eventServer()
    const client = await eventClient(url, {}, '?session_id=30000')
    append(1, 30_000)
    await clock.advance(1)
    expect(numberIn(await client.next())).toBe('30000')
  })

  test('holds little of the log for a client that does not read, and serves the others', async () => {
    const { url, append, clock, reads } = await eventServer()
    const { hostname, port } = new URL(url)
    const slow = connect(Number(port), hostname)
    onTestFinished(() => void slow.destroy())
    slow.write(`GET /api/v1/events HTTP/1.1\r\nhost: ${hostname}\r\naccept: text/event-stream\r\n\r\n`)
    await once(slow, 'data')
    slow.pause()
    append(1, 2000, 'x'.repeat(10_000))
    await clock.advance(1)
    await vi.waitFor(() => expect(reads()).toBeGreaterThan(5))
    const reading = await eventClient(url, { 'last-event-id': '0' })
    for (let n = 1; n <= 2000; n++) expect(numberIn(await reading.next())).toBe(String(n))
    // Twenty events in two reads: all of them would be 200 reads for each client.
    expect(reads()).toBeLessThan(300)
    const { promise: receivedAll, resolve } = Promise.withResolvers<void>()
    let before = ''
    slow.on('data', (chunk: Buffer) => {
      const text = before + chunk.toString('latin1')
      if (text.includes('"subject":"2000"')) resolve()
      before = text.slice(-100)
    })
    slow.resume()
    await receivedAll
  })

  test('has a comment every 15 s while there is nothing for the client, until it disconnects', async () => {
    const { url, clock, append } = await eventServer()
    append(1)
    const client = new AbortController()
    const query = '?type=alert.firing'
    const { body } = await fetch(`${url}/api/v1/events${query}`, { headers: STREAM, signal: client.signal })
    const texts = body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const received = async (wanted: string) => {
      while (!text.includes(wanted)) text += (await texts.read()).value ?? ''
      text = text.slice(text.indexOf(wanted) + wanted.length)
    }
    await received(': connected\nretry: 2000\n\n')
    // The id moves behind what is not for it: a client that comes back goes on from there.
    await received(': keep-alive\nid: 1.0.of-1\n\n')
    for (let n = 2; n <= 4; n++) {
      for (let second = 0; second < 5; second++) {
        await expect.poll(() => clock.waiting()).toBe(2)
        await clock.advance(3)
      }
      await received(`: keep-alive\nid: ${n - 1}.0.of-${n - 1}\n\n`)
      append(n)
    }
    client.abort()
    await expect.poll(() => clock.waiting()).toBe(0)
  })

  test('goes on where the store could not be read for a while', async () => {
    const { url, append, clock, isAway } = await eventServer()
    append(1)
    const client = await eventClient(url, { 'last-event-id': '0' })
    expect(numberIn(await client.next())).toBe('1')
    append(2)
    isAway(true)
    await clock.advance(3)
    isAway(false)
    await clock.advance(16)
    expect(numberIn(await client.next())).toBe('2')
  })

  test('ends properly when the server closes', async () => {
    const { url, close } = await serve([shownTarget()])
    const client = await eventClient(url)
    const closed = close()
    expect(await client.next()).toBeUndefined()
    await closed
  })

  test('is for a hundred clients: the next one gets 503 with Retry-After until one disconnects', async () => {
    const { url } = await eventServer()
    const leaving = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const client = new AbortController()
        // The response is returned, because fetch closes a response that is garbage-collected.
        const response = await fetch(`${url}/api/v1/events`, { headers: STREAM, signal: client.signal })
        expect(response.status).toBe(200)
        return { response, abort: () => client.abort() }
      }),
    )
    const refused = await fetch(`${url}/api/v1/events`, { headers: STREAM })
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '10',
      expect.objectContaining({ detail: '100 event streams are open already; close one, or try again later' }),
    ])
    leaving[0]?.abort()
    await vi.waitFor(async () => expect((await eventClient(url)).response.status).toBe(200))
  })
})
