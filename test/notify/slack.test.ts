import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DeliveryError } from '../../src/notify/notifier.ts'
import { slackMessage } from '../../src/notify/slack-message.ts'
import { slackNotifier } from '../../src/notify/slack.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { AT, FIRING } from './sample.ts'

const SECRET = 'T0AAAA/B0BBBB/very-secret'
let server: Server | undefined

beforeEach(() => {
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) {
    vi.stubEnv(name, undefined)
  }
})

afterEach(() => {
  vi.unstubAllEnvs()
  server?.closeAllConnections()
  server?.close()
})

/** A receiver on this machine, and a notifier that knows its address. */
async function slackAt(handler: RequestListener) {
  server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo
  const clock = virtualClock(AT)
  const webhookUrl = `http://127.0.0.1:${port}/services/${SECRET}`
  return { clock, notifier: slackNotifier({ webhookUrl, dashboardUrl: 'https://grafana.test/', clock }) }
}

/** Why a delivery failed; nothing of it may hold the address. */
async function failure(delivery: Promise<void>): Promise<DeliveryError> {
  const error = await delivery.then(
    () => expect.unreachable('it was delivered'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof DeliveryError)) throw error
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/T0AAAA|B0BBBB|very-secret|127\.0\.0\.1/)
  return error
}

test('a message is posted as JSON', async () => {
  const received: unknown[] = []
  const { notifier } = await slackAt((request, response) => {
    const { method, url, headers } = request
    let body = ''
    request.setEncoding('utf8').on('data', (part) => (body += part))
    request.on('end', () => {
      received.push([method, url, headers['content-type'], JSON.parse(body)])
      response.end('ok')
    })
  })
  await notifier.deliver(FIRING)
  const message = slackMessage(FIRING, { now: AT, dashboardUrl: 'https://grafana.test/' })
  expect(received).toEqual([['POST', `/services/${SECRET}`, 'application/json', JSON.parse(JSON.stringify(message))]])
  expect(notifier.name).toBe('slack')
})

test.each([
  [429, { 'Retry-After': '30' }, 'rate_limited', true, 30, 'Slack answered 429 (rate_limited)'],
  [429, { 'Retry-After': 'Fri, 20 Nov 2026 08:16:00 GMT' }, '', true, 30, 'Slack answered 429'],
  [429, {}, '', true, undefined, 'Slack answered 429'],
  [500, {}, 'rollup_error', true, undefined, 'Slack answered 500 (rollup_error)'],
  [503, { 'Retry-After': '5' }, '<html>', true, 5, 'Slack answered 503'],
  [400, {}, 'invalid_blocks', false, undefined, 'Slack refused the message with 400 (invalid_blocks)'],
  [404, {}, 'no_service', false, undefined, 'Slack refused the message with 404 (no_service)'],
  [410, {}, 'channel_is_archived', false, undefined, 'Slack refused the message with 410 (channel_is_archived)'],
])(
  '%d with %j and the body %j may be sent again: %s',
  async (status, headers, body, retryable, retryAfter, message) => {
    const { notifier } = await slackAt((request, response) => {
      request.resume().on('end', () => response.writeHead(status, headers).end(body))
    })
    expect(await failure(notifier.deliver(FIRING))).toMatchObject({ retryable, retryAfter, message })
  },
)

test.each([400, 429, 502])('a page of a proxy that quotes the address is not told (%d)', async (status) => {
  const { notifier } = await slackAt((request, response) => {
    response.writeHead(status).end(`cannot reach http://127.0.0.1${request.url}`)
  })
  expect((await failure(notifier.deliver(FIRING))).message).toMatch(/^Slack (?:answered|refused the message with) \d+$/)
})

test('a receiver that hangs is given up after 8 seconds, and may be tried again', async () => {
  const { promise: arrival, resolve: arrived } = Promise.withResolvers<void>()
  const { notifier, clock } = await slackAt(() => arrived())
  const failing = failure(notifier.deliver(FIRING))
  await arrival
  let failed = false
  void failing.then(() => (failed = true))
  await clock.advance(7.9)
  expect(failed).toBe(false)
  await clock.advance(0.1)
  expect(await failing).toMatchObject({ retryable: true, message: 'Slack did not answer within 8 s' })
})

test('a receiver whose answer only drips is given up, too', async () => {
  const { notifier, clock } = await slackAt((_request, response) => void response.writeHead(200).write('o'))
  const wall = vi.spyOn(clock, 'wall')
  const failing = failure(notifier.deliver(FIRING))
  // The clock is read for the message, and again when the head of the answer has come.
  await vi.waitFor(() => expect(wall).toHaveBeenCalledTimes(2))
  await clock.advance(8)
  expect(await failing).toMatchObject({ retryable: true, message: 'Slack did not answer within 8 s' })
})

test('a refused connection says why, and may be tried again', async () => {
  const { notifier } = await slackAt(() => undefined)
  server!.close()
  await once(server!, 'close')
  expect(await failure(notifier.deliver(FIRING))).toMatchObject({
    retryable: true,
    message: 'Slack could not be reached: ECONNREFUSED',
  })
})

test('a connection that is cut may be tried again', async () => {
  const { notifier } = await slackAt((request) => void request.socket.destroy())
  expect(await failure(notifier.deliver(FIRING))).toMatchObject({
    retryable: true,
    message: expect.stringMatching(/^Slack could not be reached/),
  })
})

test('a redirect is not followed: the message goes nowhere else', async () => {
  let requests = 0
  const { notifier } = await slackAt((_request, response) => {
    requests += 1
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  expect(await failure(notifier.deliver(FIRING))).toMatchObject({ retryable: true })
  expect(requests).toBe(1)
})
