import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { slackMessage } from '../../../src/notify/slack/slack-message.ts'
import { slackNotifier } from '../../../src/notify/slack/slack.ts'
import { virtualClock } from '../../clock/virtual-clock.ts'
import { anyMessage } from '../any-message.ts'
import { failure, read, SECRET, withReceivers, type Received } from '../receiver.ts'
import { AT, DIGEST, FIRING, messageOf, STORE_FAILING } from '../sample.ts'
import { slackTroubles } from './slack-limits.ts'

const MESSAGE = messageOf([FIRING])
const receivers = withReceivers()

/** A receiver on this machine, and a notifier that knows its address. */
async function slackAt(handler: RequestListener) {
  const { url, server } = await receivers.open(handler)
  const clock = virtualClock(AT)
  return { clock, server, notifier: slackNotifier({ webhookUrl: url, dashboardUrl: 'https://grafana.test/', clock }) }
}

/** A receiver that takes what Slack would take, and nothing else. */
async function strictSlack() {
  const received: Received[] = []
  const slack = await slackAt((request, response) => {
    void read(request).then((got) => {
      received.push(got)
      const troubles = slackTroubles(JSON.parse(got.body))
      if (troubles.length === 0) response.end('ok')
      else response.writeHead(400).end('invalid_blocks')
    })
  })
  return { ...slack, received }
}

test('a message is posted as JSON', async () => {
  const { notifier, received } = await strictSlack()
  await notifier.deliver(MESSAGE)
  const message = slackMessage(MESSAGE, { now: AT, dashboardUrl: 'https://grafana.test/' })
  expect(received).toMatchObject([
    { method: 'POST', path: `/services/${SECRET}`, headers: { 'content-type': 'application/json' } },
  ])
  expect(JSON.parse(received[0]!.body)).toEqual(JSON.parse(JSON.stringify(message)))
  expect(notifier.name).toBe('slack')
})

test('a receiver as strict as Slack takes whatever is sent', async () => {
  const { notifier, received } = await strictSlack()
  const messages = [DIGEST, STORE_FAILING, ...fc.sample(anyMessage, { numRuns: 50, seed: 20_261_120 })]
  for (const message of messages) await notifier.deliver(message)
  expect(received).toHaveLength(messages.length)
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
    expect(await failure(notifier.deliver(MESSAGE))).toMatchObject({ retryable, retryAfter, message })
  },
)

test.each([400, 429, 502])('a page of a proxy that quotes the address is not told (%d)', async (status) => {
  const { notifier } = await slackAt((request, response) => {
    response.writeHead(status).end(`cannot reach http://127.0.0.1${request.url}`)
  })
  expect((await failure(notifier.deliver(MESSAGE))).message).toMatch(
    /^Slack (?:answered|refused the message with) \d+$/,
  )
})

test('a receiver that hangs is given up after 8 seconds, and may be tried again', async () => {
  const { promise: arrival, resolve: arrived } = Promise.withResolvers<void>()
  const { notifier, clock } = await slackAt(() => arrived())
  const failing = failure(notifier.deliver(MESSAGE))
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
  const failing = failure(notifier.deliver(MESSAGE))
  // The clock is read for the message, and again when the head of the answer has come.
  await vi.waitFor(() => expect(wall).toHaveBeenCalledTimes(2))
  await clock.advance(8)
  expect(await failing).toMatchObject({ retryable: true, message: 'Slack did not answer within 8 s' })
})

test('a refused connection says why, and may be tried again', async () => {
  const { notifier, server } = await slackAt(() => undefined)
  server.close()
  await once(server, 'close')
  expect(await failure(notifier.deliver(MESSAGE))).toMatchObject({
    retryable: true,
    message: 'Slack could not be reached: ECONNREFUSED',
  })
})

test('a connection that is cut may be tried again', async () => {
  const { notifier } = await slackAt((request) => void request.socket.destroy())
  expect(await failure(notifier.deliver(MESSAGE))).toMatchObject({
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
  expect(await failure(notifier.deliver(MESSAGE))).toMatchObject({ retryable: false })
  expect(requests).toBe(1)
})
