import { once } from 'node:events'
import { connect } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { callsRoute } from '../../src/web/calls-route.ts'
import { eventFeed } from '../../src/web/event-feed.ts'
import { eventsRoute } from '../../src/web/events-route.ts'
import { oneATurn } from '../../src/web/one-a-turn.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { finish, finishedCall, openCall } from '../metrics/hand-made-target.ts'
import { eventClient } from './event-client.ts'
import { serve, watchedTarget } from './serve.ts'

const HISTORY = Array.from({ length: 1203 }, (_, i) => ({
  target: 'production',
  call: finishedCall(`call-${i}`, { finish: finish('ended', i + 1) }),
}))

async function events(clients = 0) {
  const app = fastify({ forceCloseConnections: true })
  const feed = eventFeed()
  eventsRoute(app, feed, virtualClock())
  onTestFinished(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const leaving = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new AbortController()
      // Kept: an answer that nobody holds is closed when memory is tidied up.
      const response = await fetch(`${url}/api/v1/events`, { signal: client.signal })
      expect(response.status).toBe(200)
      return { response, abort: () => client.abort() }
    }),
  )
  return { url, feed, leaving }
}

describe('the events', () => {
  test('begin with the last 500, whatever is asked for', async () => {
    const { url, feed } = await events()
    for (let n = 1; n <= 10_000; n++) feed.publish('transition', () => ({ n }))
    const client = await eventClient(url, {}, '?latest=99999')
    for (let n = 9501; n <= 10_000; n++) expect(await client.next()).toMatchObject({ data: { n } })
  })

  test('resumed after ten thousand others come whole and in order, and what is new comes after them', async () => {
    const { url, feed } = await events()
    feed.publish('transition', () => ({ n: 0 }))
    const { id } = (await (await eventClient(url, {}, '?latest=1')).next())!
    for (let n = 1; n <= 10_000; n++) feed.publish('transition', () => ({ n }))
    const client = await eventClient(url, { 'last-event-id': id })
    feed.publish('transition', () => ({ n: 10_001 }))
    for (let n = 1; n <= 10_001; n++) expect(await client.next()).toMatchObject({ data: { n } })
  })

  test('go to a hundred clients at a time; the next is told when to come back, and has a place when one leaves', async () => {
    const { url, leaving } = await events(100)
    const refused = await fetch(`${url}/api/v1/events`)
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '10',
      { error: '100 clients follow the events already; close one, or try again later' },
    ])
    leaving[0]?.abort()
    await vi.waitFor(async () => expect((await eventClient(url)).response.status).toBe(200))
  })
})

describe('lists of calls come page by page', () => {
  async function paged(url: string, query: string): Promise<{ ids: string[]; pages: number }> {
    const ids: string[] = []
    for (let pages = 1, cursor = ''; ; pages++) {
      const { calls, truncated, next } = JSON.parse(await (await fetch(`${url}/api/v1/calls${query}${cursor}`)).text())
      ids.push(...calls.map(({ session_id }: { session_id: string }) => session_id))
      expect(truncated).toBe(next === undefined ? undefined : true)
      if (next === undefined) return { ids, pages }
      cursor = `&cursor=${next}`
    }
  }

  test.each([
    ['?finished_since=0', 1],
    ['?finished_since=0&limit=401', 3],
    ['?finished_since=0&limit=601', 3],
    ['?finished_since=0&limit=1202', 2],
    ['?finished_since=0&limit=1203', 1],
  ])('the history, by %s in %i', async (query, pages) => {
    const { url } = await serve([watchedTarget()], HISTORY)
    expect(await paged(url, query)).toEqual({ ids: HISTORY.map(({ call }) => call.id), pages })
  })

  test.each([
    ['?', 1],
    ['?limit=600', 2],
    ['?limit=100&status=ongoing', 11],
  ])('calls in progress, by %s in %i', async (query, pages) => {
    const ids = Array.from({ length: 1100 }, (_, i) => `open-${i}`)
    const [a, b] = [ids.slice(0, 501), ids.slice(501)]
    const { url } = await serve([
      watchedTarget({ calls: a.map((id) => openCall(id)) }),
      watchedTarget({ target: 'b', calls: b.map((id) => openCall(id)) }),
    ])
    expect(await paged(url, query)).toEqual({ ids, pages })
  })

  test('no answer has more than ten thousand calls in progress', async () => {
    const { url } = await serve([
      watchedTarget({ calls: Array.from({ length: 10_001 }, (_, i) => openCall(`open-${i}`)) }),
    ])
    const { calls, truncated } = JSON.parse(await (await fetch(`${url}/api/v1/calls`)).text())
    expect([calls.length, truncated]).toEqual([10_000, true])
  })

  test('CSV has the next page in a header', async () => {
    const { url } = await serve([watchedTarget()], HISTORY)
    const first = await fetch(`${url}/api/v1/calls?finished_since=0&format=csv&limit=1200`)
    const next = first.headers.get('x-callwatch-next')
    const last = await fetch(`${url}/api/v1/calls?finished_since=0&format=csv&cursor=${next}`)
    const lines = (await last.text()).trimEnd().split('\r\n')
    expect(lines.map((line) => line.split(',')[1])).toEqual(['session_id', 'call-1200', 'call-1201', 'call-1202'])
    expect(last.headers.get('x-callwatch-next')).toBeNull()
  })

  test.each(['x', 'bnVsbA', Buffer.from('{"offset":-1}').toString('base64url')])(
    'cursor=%s is refused',
    async (cursor) => {
      const { url } = await serve([watchedTarget()])
      for (const query of ['?', '?finished_since=0&']) {
        const refused = await fetch(`${url}/api/v1/calls${query}cursor=${cursor}`)
        expect([refused.status, await refused.json()]).toEqual([
          400,
          { error: 'cursor must be the `next` of an answer to the same question' },
        ])
      }
    },
  )
})

test('four long answers are made at a time; one more is told when to come back, a short one is not', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  const waiting: (() => void)[] = []
  const finishedCalls = async ({ limit }: { limit: number }) => {
    if (limit > 100) await new Promise<void>((resolve) => waiting.push(resolve))
    return []
  }
  callsRoute(app, { targets: [], store: { finishedCalls } })
  const ask = (more = '') => app.inject(`/api/v1/calls?finished_since=0${more}`)
  const four = Array.from({ length: 4 }, () => ask())
  await vi.waitFor(() => expect(waiting).toHaveLength(4))
  const fifth = await ask('&limit=501')
  expect([fifth.statusCode, fifth.headers['retry-after'], fifth.json()]).toEqual([
    503,
    '5',
    { error: '4 answers as long as this one are under way; try again later, or ask for fewer by limit' },
  ])
  expect((await ask('&limit=50')).statusCode).toBe(200)
  for (const release of waiting.splice(0)) release()
  expect((await Promise.all(four)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  const next = ask()
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  waiting[0]?.()
  expect((await next).statusCode).toBe(200)
})

test('a long answer that is not read is given up', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  const clock = virtualClock()
  const call = openCall('x'.repeat(4000))
  const targets = [watchedTarget()]
  for (let i = 0; i < 10_000; i++) targets[0]!.ledger.open.set(`call-${i}`, call)
  callsRoute(app, { targets, store: { finishedCalls: async () => [] } }, clock)
  const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const slow = connect(Number(port), hostname)
  onTestFinished(() => void slow.destroy())
  slow.on('error', () => undefined)
  slow.write(`GET /api/v1/calls HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
  await once(slow, 'data')
  slow.pause()
  await clock.advance(120)
  slow.resume()
  await once(slow, 'close')
  expect(slow.bytesRead).toBeLessThan(40_000_000)
})

test('requests that come at once are begun one a turn of the event loop', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  oneATurn(app)
  let turn = 0
  const begun: number[] = []
  app.get('/metrics', () => begun.push(turn))
  const count = () => {
    turn += 1
    if (begun.length < 20) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 20 }, () => app.inject('/metrics')))
  expect(new Set(begun).size).toBe(20)
})

/** Connections to this address on which all of this has been written. */
async function connections(url: string, count: number, requests: string) {
  const { hostname, port } = new URL(url)
  const open = Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => undefined))
  onTestFinished(() => open.forEach((socket) => void socket.destroy()))
  await Promise.all(open.map((socket) => new Promise((resolve) => socket.write(requests, resolve))))
  return open
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`

test('a connection that sends requests without waiting for answers is cut off, and holds up no other client', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  oneATurn(app)
  const begun: string[] = []
  app.get('/*', ({ url }) => begun.push(url))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const [hasty, other] = await connections(url, 2, get('/four').repeat(4))
  await vi.waitFor(() => expect(begun).toHaveLength(8))
  hasty!.resume().write(get('/many').repeat(1000))
  await once(hasty!, 'close')
  expect((await fetch(`${url}/other`)).status).toBe(200)
  expect(other!.resume().destroyed).toBe(false)
  expect(begun.filter((path) => path === '/many').length).toBeLessThan(5)
})

/** Requests of these addresses are held back until their clients have left. */
function outliving(app: FastifyInstance, isLeaving: (url: string) => boolean): { count: () => number } {
  let left = 0
  app.addHook('onRequest', async ({ url }, { raw }) => {
    if (!isLeaving(url)) return
    await once(raw, 'close')
    left += 1
  })
  return { count: () => left }
}

test('a request whose client has left before its turn is not begun', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  const left = outliving(app, (url) => url === '/leaves')
  oneATurn(app)
  const begun: string[] = []
  app.get('/*', ({ url }) => begun.push(url))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const leaving = await connections(url, 3, get('/leaves'))
  leaving.forEach((socket) => socket.destroy())
  await vi.waitFor(() => expect(left.count()).toBe(3))
  expect((await fetch(`${url}/stays`)).status).toBe(200)
  expect(begun).toEqual(['/stays'])
})

test('a client that has left before its long answer is begun takes no place of others', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  // As while a log-in is slowed down.
  const left = outliving(app, (url) => url.includes('leaves'))
  callsRoute(app, { targets: [], store: { finishedCalls: async () => [] } })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const leaving = await connections(url, 4, get('/api/v1/calls?target=leaves'))
  leaving.forEach((socket) => socket.destroy())
  await vi.waitFor(() => expect(left.count()).toBe(4))
  expect((await fetch(`${url}/api/v1/calls`)).status).toBe(200)
})

test('a body that does not end is cut off', async () => {
  const { url } = await serve([watchedTarget()], [], undefined, undefined, 0.2)
  const { hostname, port } = new URL(url)
  const slow = connect(Number(port), hostname)
  onTestFinished(() => void slow.destroy())
  slow.write(
    `POST /api/v1/silences HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
  )
  let answer = ''
  slow.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  await once(slow, 'close')
  expect(answer).toMatch(/^HTTP\/1.1 408 /)
})

test('a body longer than any silence is refused', async () => {
  const auth = { username: 'ops', password: 'secret' }
  const { url } = await serve([watchedTarget()], [], auth)
  const authorization = `Basic ${Buffer.from('ops:secret').toString('base64')}`
  const body = JSON.stringify({ all: true, for: '1m', reason: 'x'.repeat(65 * 1024) })
  const headers = { authorization, 'content-type': 'application/json' }
  expect((await fetch(`${url}/api/v1/silences`, { method: 'POST', headers, body })).status).toBe(413)
})

test('no more than 500 connections at once are kept open', async () => {
  const { url } = await serve([watchedTarget()])
  const { hostname, port } = new URL(url)
  let open = 0
  for (let n = 0; n < 510; n++) {
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    open += 1
    socket.on('close', () => (open -= 1))
  }
  await vi.waitFor(() => expect(open).toBe(500), { timeout: 5000 })
})
