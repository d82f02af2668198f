import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fastify, { type FastifyInstance } from 'fastify'
import { Agent, request } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { callsRoute } from '../../../../src/web/api/calls.ts'
import { eventsRoute } from '../../../../src/web/api/events.ts'
import { openSqliteStore } from '../../../../src/store/open-sqlite.ts'
import { mount } from '../../../../src/web/api/route.ts'
import { oneRequestPerIteration } from '../../../../src/web/limit-connections.ts'
import { virtualClock } from '../../../kit/virtual-clock.ts'
import { openCall } from '../../../kit/metrics/hand-made-target.ts'
import { selfSigned } from '../../../kit/commands/self-signed.ts'
import { serve, shownTarget } from '../../../kit/web/serve.ts'

const NO_TARGETS = { all: () => [], own: () => [], others: () => [] }
const NO_CALLS = { rows: async () => [], openCalls: async () => [] }

test('four large responses are made at a time: a fifth waits, for so long that it gets 503 with Retry-After; a small one does not', async () => {
  const app = fastify({ forceCloseConnections: true })
  const clock = virtualClock()
  onTestFinished(() => app.close())
  const waiting: (() => void)[] = []
  let isHeld = true
  const rows = async () => {
    if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
    return []
  }
  mount(app, callsRoute, { targets: NO_TARGETS, store: { ...NO_CALLS, rows }, clock })
  const list = (more = '') => app.inject(`/api/v1/calls?since=0${more}`)
  const four = Array.from({ length: 4 }, () => list())
  await vi.waitFor(() => expect(waiting).toHaveLength(4))
  const late = list('&limit=501')
  for (let i = 0; i < 10; i++) await nextTurn()
  await clock.advance(10)
  const fifth = await late
  expect([fifth.statusCode, fifth.headers['retry-after'], fifth.json()]).toEqual([
    503,
    '5',
    expect.objectContaining({
      detail: '4 responses of this size are in progress; try again later, or request less',
    }),
  ])
  isHeld = false
  expect((await list('&limit=50')).statusCode).toBe(200)
  const sixth = list()
  for (const release of waiting.splice(0)) release()
  expect((await Promise.all([...four, sixth])).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200])
  isHeld = true
  const next = list()
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  isHeld = false
  waiting[0]?.()
  expect((await next).statusCode).toBe(200)
})

test('twenty large pages of events are made at a time; of a small one any number is', async () => {
  const app = fastify({ forceCloseConnections: true })
  const clock = virtualClock()
  onTestFinished(() => app.close())
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const log = openSqliteStore({ path: ':memory:' })
  onTestFinished(log.close)
  const held: typeof log.events = async (...asked) => released.then(() => log.events(...asked))
  const store = { events: held, latestEvents: log.latestEvents }
  mount(app, eventsRoute, { store, configured: () => [], clock })
  const page = (limit: number) => app.inject(`/api/v1/events?limit=${limit}`)
  const pages = Array.from({ length: 20 }, () => page(1000))
  for (let i = 0; i < 10; i++) await nextTurn()
  const [late, small] = [page(101), page(100)]
  for (let i = 0; i < 10; i++) await nextTurn()
  await clock.advance(10)
  expect((await late).statusCode).toBe(503)
  release()
  expect(new Set((await Promise.all([...pages, small])).map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
})

test('a client that does not read its large response is disconnected', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  const clock = virtualClock()
  const call = openCall('x'.repeat(4000))
  const targets = [shownTarget()]
  for (let i = 0; i < 10_000; i++) targets[0]!.ledger.open.set(`call-${i}`, call)
  const own = { ...NO_TARGETS, all: () => [targets[0]!.name], own: () => targets }
  mount(app, callsRoute, { targets: own, store: NO_CALLS, clock })
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

test('requests that arrive at once start in separate iterations of the event loop', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  oneRequestPerIteration(app)
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

/** Opens connections to a URL and writes the same requests to each. */
async function connections(url: string, count: number, requests: string) {
  const { hostname, port } = new URL(url)
  const open = Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => undefined))
  onTestFinished(() => open.forEach((socket) => void socket.destroy()))
  await Promise.all(open.map((socket) => new Promise((resolve) => socket.write(requests, resolve))))
  return open
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`

test('a connection that pipelines requests is destroyed, and does not delay other clients', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  oneRequestPerIteration(app)
  const begun: string[] = []
  app.get('/*', ({ url }) => begun.push(url))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const [pipelining, other] = await connections(url, 2, get('/four').repeat(4))
  await vi.waitFor(() => expect(begun).toHaveLength(8))
  pipelining!.resume().write(get('/many').repeat(1000))
  await once(pipelining!, 'close')
  expect((await fetch(`${url}/other`)).status).toBe(200)
  expect(other!.resume().destroyed).toBe(false)
  expect(begun.filter((path) => path === '/many').length).toBeLessThan(5)
})

/** Delays requests of these URLs until their clients have disconnected. */
function delayUntilClosed(app: FastifyInstance, isLeaving: (url: string) => boolean): { count: () => number } {
  let left = 0
  app.addHook('onRequest', async ({ url }, { raw }) => {
    if (!isLeaving(url)) return
    await once(raw, 'close')
    left += 1
  })
  return { count: () => left }
}

test('a request whose client has disconnected before its turn is not started', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  const left = delayUntilClosed(app, (url) => url === '/leaves')
  oneRequestPerIteration(app)
  const begun: string[] = []
  app.get('/*', ({ url }) => begun.push(url))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const leaving = await connections(url, 3, get('/leaves'))
  leaving.forEach((socket) => socket.destroy())
  await vi.waitFor(() => expect(left.count()).toBe(3))
  expect((await fetch(`${url}/stays`)).status).toBe(200)
  expect(begun).toEqual(['/stays'])
})

test('a client that has disconnected before its large response starts does not count against the limit', async () => {
  const app = fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  // As while a log-in attempt waits.
  const left = delayUntilClosed(app, (url) => url.includes('leaves'))
  mount(app, callsRoute, { targets: NO_TARGETS, store: NO_CALLS })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const leaving = await connections(url, 4, get('/api/v1/calls?target=leaves'))
  leaving.forEach((socket) => socket.destroy())
  await vi.waitFor(() => expect(left.count()).toBe(4))
  expect((await fetch(`${url}/api/v1/calls`)).status).toBe(200)
})

test.each(['http', 'https'])('by %s, 60 kB of cookies of other programs are no obstacle', async (scheme) => {
  const { url } = await serve([shownTarget()], scheme === 'https' ? { tls: selfSigned() } : {})
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  onTestFinished(() => dispatcher.close())
  const headers = { cookie: Array.from({ length: 15 }, (_, i) => `other${i}=${'x'.repeat(4000)}`).join('; ') }
  const { statusCode } = await request(`${url.replace('http:', `${scheme}:`)}/healthz`, { headers, dispatcher })
  expect(statusCode).toBe(200)
})

test('the server keeps at most 500 connections open', async () => {
  const { url } = await serve([shownTarget()])
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
