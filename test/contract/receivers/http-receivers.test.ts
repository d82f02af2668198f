import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { receivers } from '../../../src/notifications/receivers.ts'
import { listenOn, listenOnBlockedPort } from '../../kit/commands/local-server.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { failure, withReceivers } from '../../kit/notifications/receiver.ts'
import { AT } from '../../kit/notifications/sample.ts'
import { swallowingServer } from '../../kit/swallowing-server.ts'
import { HTTP_RECEIVERS } from './http-receivers.ts'

const opening = withReceivers()

// Neither answer ends. Both pause after some megabytes, so that a delivery that reads them whole times out.

/** A body that comes as fast as it is read. */
function endless(response: ServerResponse, status: number): void {
  const part = Buffer.alloc(64 * 1024, 'x')
  response.writeHead(status)
  Readable.from(Array.from({ length: 2048 }, () => part)).pipe(response, { end: false })
}

/** 64 MB of zeros in 64 KB. */
function gzipBomb(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-encoding': 'gzip' }).write(GZIP_BOMB)
}

const GZIP_BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024))

test('every receiver by HTTP keeps the contract below', () => {
  const { email: _smtp, ...byHttp } = receivers
  expect(Object.keys(HTTP_RECEIVERS)).toEqual(Object.keys(byHttp))
})

describe.each(Object.entries(HTTP_RECEIVERS))('a delivery by HTTP to %s', (name, receiver) => {
  const { called, accepted, open, readsSuccess, reads, reasons } = receiver

  /** A server on this machine that answers so, and deliveries to it. */
  async function deliveringTo(handler: RequestListener) {
    let requests = 0
    const arrival = Promise.withResolvers<void>()
    const { url, server } = await opening.open((request, response) => {
      requests += 1
      arrival.resolve()
      handler(request, response)
    })
    const clock = virtualClock(AT)
    return { clock, server, arrived: arrival.promise, requests: () => requests, deliver: open(url, clock) }
  }

  const answering = (status: number, headers: Record<string, string> = {}, body = (status < 300 && accepted) || '') =>
    deliveringTo((request, response) => {
      request.resume().on('end', () => response.writeHead(status, headers).end(body))
    })

  const unconfirmed = (status: number) =>
    `${called} answered ${status}, but not \`ok\`, as it does when it has accepted a message`

  test.each([200, 201, 202, ...(accepted === undefined ? [204] : [])])('is accepted with %d', async (status) => {
    const { deliver, requests } = await answering(status)
    await deliver()
    expect(requests()).toBe(1)
  })

  test.each<[status: number, body: string]>([
    [204, ''],
    [200, ''],
    [200, '<html>please log in</html>'],
    [200, 'ok, please log in'],
  ])('with %d and %j is repeated, where it says what it has accepted', async (status, body) => {
    const { deliver } = await answering(status, {}, body)
    if (accepted === undefined) return deliver()
    const message = `${called} answered ${status}, but not \`ok\`, as it does when it has accepted a message`
    expect(await failure(deliver())).toMatchObject({ retryable: true, mayHaveArrived: true, message })
  })

  test.each<[status: number, headers: Record<string, string>, retryAfter?: number]>([
    [429, { 'Retry-After': '30' }, 30],
    [429, { 'Retry-After': 'Fri, 20 Nov 2026 08:16:00 GMT' }, 30],
    [429, {}],
    [500, {}],
    [502, {}],
    [503, { 'Retry-After': '5' }, 5],
  ])('may be repeated after %d with %j', async (status, headers, retryAfter) => {
    const { deliver } = await answering(status, headers)
    const problem = { retryable: true, retryAfter, mayHaveArrived: false }
    expect(await failure(deliver())).toMatchObject({ ...problem, message: `${called} answered ${status}` })
  })

  test('may have arrived where a gateway waited too long for the answer', async () => {
    const { deliver } = await answering(504)
    const problem = { retryable: true, mayHaveArrived: true }
    expect(await failure(deliver())).toMatchObject({ ...problem, message: `${called} answered 504` })
  })

  test.each([400, 401, 403, 404, 410, 422])('is refused permanently with %d, also with Retry-After', async (status) => {
    const { deliver } = await answering(status, { 'Retry-After': '5' })
    const message = `${called} refused the message with ${status}`
    const problem = { retryable: false, mayHaveArrived: false }
    expect(await failure(deliver())).toMatchObject({ ...problem, message })
  })

  test.each([301, 302, 304, 307])('may be repeated after %d: a redirect is not followed', async (status) => {
    const { deliver, requests } = await answering(status, { location: '/elsewhere' })
    const message = `${called} answered ${status}, a redirect, which is not followed`
    expect(await failure(deliver())).toMatchObject({ retryable: true, mayHaveArrived: false, message })
    expect(requests()).toBe(1)
  })

  test.each(reasons)('repeats of the refusal %j what may be shown: %j', async (body, reason) => {
    const { deliver } = await answering(400, {}, body)
    const because = reason === '' ? '' : ` (${reason})`
    expect((await failure(deliver())).message).toBe(`${called} refused the message with 400${because}`)
  })

  test.each([400, 429, 502])('repeats nothing of the page of a proxy that quotes the address (%d)', async (status) => {
    const { deliver } = await deliveringTo((request, response) => {
      response.writeHead(status).end(`<html>cannot reach http://127.0.0.1${request.url}</html>`)
    })
    expect((await failure(deliver())).message).toMatch(/(?:answered|refused the message with) \d+$/)
  })

  /** That a delivery which is under way is given up, after 8 seconds and not before. */
  async function expectTimeout({ deliver, arrived, clock }: Awaited<ReturnType<typeof deliveringTo>>) {
    let failed = false
    const failing = failure(deliver()).finally(() => (failed = true))
    await arrived
    await clock.advance(7.9)
    // Time enough for the head of the answer to come.
    for (let turn = 0; turn < 100; turn += 1) await setImmediate()
    expect(failed).toBe(false)
    await clock.advance(0.1)
    const problem = { retryable: true, mayHaveArrived: true }
    expect(await failing).toMatchObject({ ...problem, message: `${called} did not answer within 8 s` })
  }

  /** That a delivery is accepted by its status, at the latest when its time is over. */
  async function acceptedAtTheEnd({ deliver, clock }: Awaited<ReturnType<typeof deliveringTo>>) {
    const headed = Promise.withResolvers<unknown>()
    subscribe('undici:request:headers', headed.resolve)
    onTestFinished(() => void unsubscribe('undici:request:headers', headed.resolve))
    const delivered = deliver()
    await headed.promise
    await clock.advance(8)
    await delivered
  }

  test.each([
    ['OK (not found)', false, ' (not found)'],
    ['OK (rate limited)', true, ' (rate limited)'],
    ['Webhook message delivery failed with error: HTTP error 403', false, ' (Webhook message delivery failed)'],
    ['{"ok":false,"msg":"Monitor not found or not active."}', false, ' (Monitor not found or not active.)'],
    ['{"success":false,"error":"try again later"}', true, ' (try again later)'],
    ['{"status":"error","message":"see http://127.0.0.1/"}', false, ''],
    ['{"result":"failure"}', false, ''],
    ['{"errcode":93000,"errmsg":"invalid webhook url"}', false, ' (invalid webhook url)'],
    ['{"errors":[{"code":7}]}', false, ''],
  ])('with 200 and %j is refused, where it is known to refuse so', async (body, retryable, reason) => {
    const { deliver } = await answering(200, {}, body)
    if (!readsSuccess) return deliver()
    const message = `${called} ${retryable ? 'answered' : 'refused the message with'} 200${reason}`
    expect(await failure(deliver())).toMatchObject({ message, retryable, mayHaveArrived: false })
  })

  test.each([
    'OK',
    'Got it, thanks.',
    'event_received',
    '1',
    '{"status":"ok","error":null,"errors":[],"errcode":0}',
    '{"ok":true}',
  ])('with 200 and %j is accepted, where every 2xx is that does not refuse', async (body) => {
    if (accepted !== undefined) return
    const { deliver } = await answering(200, {}, body)
    await deliver()
  })

  test('is given up after 8 seconds where no answer comes', async () => {
    await expectTimeout(await deliveringTo(() => undefined))
  })

  test.each([
    [200, accepted !== undefined, undefined],
    [400, reads, `${called} refused the message with 400`],
    [503, reads, `${called} answered 503`],
  ])('with %d whose body only drips waits for the rest: %s', async (status, waits, message) => {
    const delivery = await deliveringTo((_request, response) => void response.writeHead(status).write('"'))
    if (waits) await expectTimeout(delivery)
    else if (message === undefined) await acceptedAtTheEnd(delivery)
    else expect((await failure(delivery.deliver())).message).toBe(message)
  })

  test.each([
    [200, accepted && unconfirmed(200)],
    [400, `${called} refused the message with 400`],
    [503, `${called} answered 503`],
  ])('with %d reads a few kilobytes at most, of an endless body and of a gzip bomb: %s', async (status, message) => {
    for (const answer of [endless, gzipBomb]) {
      const closed = Promise.withResolvers<void>()
      const { deliver } = await deliveringTo((_request, response) =>
        answer(response.on('close', closed.resolve), status),
      )
      if (message === undefined) await deliver()
      else expect((await failure(deliver())).message).toBe(message)
      await closed.promise
    }
  })

  test('leaves no timer, which would delay the end of the process', async () => {
    const { deliver, clock } = await answering(200)
    const schedule = vi.spyOn(clock.scheduler, 'schedule')
    await deliver()
    const timeouts = schedule.mock.calls.flatMap(([, delay], i) =>
      delay === 8000 ? [schedule.mock.results[i]?.value] : [],
    )
    expect(timeouts).toMatchObject([{ closed: true }])
  })

  test('reaches a port that browsers block', async () => {
    const server = createServer((request, response) => request.resume().on('end', () => response.end(accepted)))
    await open(`http://127.0.0.1:${await listenOnBlockedPort(server)}/`, virtualClock(AT))()
  })

  test('says that the answer is not HTTP', async () => {
    const port = await listenOn(createTcpServer((socket) => void socket.once('data', () => socket.end('220 mail\r\n'))))
    const message = `the answer of ${called} was not HTTP, or its headers were larger than 16 kB: HPE_INVALID`
    const failed = await failure(open(`http://127.0.0.1:${port}/`, virtualClock(AT))())
    expect(failed).toMatchObject({ message, retryable: true, mayHaveArrived: true })
  })

  test('gets a new connection after one that died in silence', { timeout: 60_000 }, async () => {
    const server = await swallowingServer((_request, response) => void response.end(accepted ?? ''))
    const clock = virtualClock(AT)
    const deliver = open(server.url, clock)
    await deliver()
    await clock.advance(60)
    const connections = server.connections()
    server.swallow(() => clock.advance(8))
    let failed = 0
    while (!(await deliver().then(() => true, () => false))) expect((failed += 1)).toBeLessThanOrEqual(connections) // oxfmt-ignore
  })

  test('that is refused the connection did not arrive, and says why', async () => {
    const { deliver, server } = await deliveringTo(() => undefined)
    server.close()
    await once(server, 'close')
    const message = `${called} could not be reached: ECONNREFUSED`
    expect(await failure(deliver())).toMatchObject({ retryable: true, mayHaveArrived: false, message })
  })

  test('may have arrived where the connection was reset', async () => {
    const { deliver } = await deliveringTo((request) => void request.socket.destroy())
    const message = expect.stringMatching(new RegExp(`^${called} could not be reached`))
    expect(await failure(deliver())).toMatchObject({ retryable: true, mayHaveArrived: true, message })
  })
})
