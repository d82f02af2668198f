import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { alertmanagerAlert } from '../../../src/notify/alertmanager/alertmanager-alert.ts'
import { alertmanagerPost } from '../../../src/notify/alertmanager/alertmanager-post.ts'
import { DeliveryError } from '../../../src/notify/notifier.ts'
import { virtualClock } from '../../clock/virtual-clock.ts'
import { proxyInEnvironment } from './alertmanager-proxy.ts'
import { firingSince } from './alertmanager-sample.ts'
import { AT } from '../sample.ts'

const ALERTS = [alertmanagerAlert(firingSince(AT), { now: AT, endsAt: AT + 300 })]

beforeEach(() => {
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) {
    vi.stubEnv(name, undefined)
  }
  onTestFinished(() => void vi.unstubAllEnvs())
})

/** A server on loopback that answers as it is told, and a way to post to it. */
async function posting(answer: RequestListener, path = '') {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo
  const clock = virtualClock(AT)
  return {
    clock,
    close,
    port,
    post: alertmanagerPost({ url: `http://127.0.0.1:${port}${path}`, clock, version: '1.2' }),
  }
}

/** Why a post failed; nothing of it may hold the address. */
async function failure(posted: Promise<void>): Promise<DeliveryError> {
  const error = await posted.then(
    () => expect.unreachable('it was accepted'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof DeliveryError)) throw error
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('127.0.0.1')
  return error
}

test.each([
  ['', '/api/v2/alerts'],
  ['/', '/api/v2/alerts'],
  ['/prefix/', '/prefix/api/v2/alerts'],
])('alerts are posted as JSON to the API under the address (%j)', async (path, expected) => {
  const received: unknown[] = []
  const { post } = await posting((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request
      received.push([method, url, headers['content-type'], headers['user-agent'], JSON.parse(body)])
      response.end()
    })
  }, path)
  await post(ALERTS)
  expect(received).toEqual([['POST', expected, 'application/json', 'callwatch/1.2', ALERTS]])
})

test.each([
  [429, { 'Retry-After': '30' }, '', true, 30, 'Alertmanager answered 429'],
  [429, { 'Retry-After': 'Fri, 20 Nov 2026 08:16:00 GMT' }, '', true, 30, 'Alertmanager answered 429'],
  [500, {}, '"no disk"', true, undefined, 'Alertmanager answered 500 (no disk)'],
  [503, { 'Retry-After': '5' }, '<html>', true, 5, 'Alertmanager answered 503'],
  [
    400,
    {},
    '"start time missing"\n',
    false,
    undefined,
    'Alertmanager refused the message with 400 (start time missing)',
  ],
  [422, {}, '{"code":601,"message":"no uri"}', false, undefined, 'Alertmanager refused the message with 422 (no uri)'],
  [404, {}, '<html>http://127.0.0.1</html>', false, undefined, 'Alertmanager refused the message with 404'],
  [401, {}, '', false, undefined, 'Alertmanager refused the message with 401'],
  [
    400,
    {},
    JSON.stringify('x'.repeat(9999)),
    false,
    undefined,
    `Alertmanager refused the message with 400 (${'x'.repeat(300)})`,
  ],
])('%d with %j and %j may work in a moment: %s', async (status, headers, body, retryable, retryAfter, message) => {
  const { post } = await posting((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end(body))
  })
  expect(await failure(post(ALERTS))).toMatchObject({ retryable, retryAfter, message })
})

test.each([301, 302, 307])(
  'a redirect (%d) is no acceptance: it is not followed, as it may lose the alerts',
  async (status) => {
    let requests = 0
    const { post } = await posting((_request, response) => {
      requests += 1
      if (requests === 1) response.writeHead(status, { location: '/elsewhere' })
      response.end()
    })
    const message = `Alertmanager refused the message with ${status}`
    expect(await failure(post(ALERTS))).toMatchObject({ retryable: false, message })
    expect(requests).toBe(1)
  },
)

describe('an Alertmanager that cannot be reached', () => {
  test.each([
    ['hangs', false],
    ['refuses a drop at a time', true],
  ])('because it %s is given up after 8 seconds', async (_case, drips) => {
    const { promise: arrival, resolve: arrived } = Promise.withResolvers<void>()
    const { post, clock } = await posting((_request, response) => {
      if (drips) response.writeHead(400).write('"')
      arrived()
    })
    const failing = failure(post(ALERTS))
    await arrival
    let failed = false
    void failing.then(() => (failed = true))
    await clock.advance(7.9)
    expect(failed).toBe(false)
    await clock.advance(0.1)
    expect(await failing).toMatchObject({ retryable: true, message: 'Alertmanager did not answer within 8 s' })
  })

  test('says why, and may be reached in a moment', async () => {
    const { post, close } = await posting(() => undefined)
    close()
    const message = 'Alertmanager could not be reached: ECONNREFUSED'
    expect(await failure(post(ALERTS))).toMatchObject({ retryable: true, message })
  })
})

test('an answer that never ends holds nothing up once it has said 200', async () => {
  const { post } = await posting((_request, response) => void response.writeHead(200).write('o'))
  await post(ALERTS)
})

test('a proxy is honoured', async () => {
  const { asked } = await proxyInEnvironment()
  await failure(alertmanagerPost({ url: 'http://alertmanager.test', clock: virtualClock(AT) })(ALERTS))
  expect(asked).toEqual([expect.stringContaining('alertmanager.test')])
})
