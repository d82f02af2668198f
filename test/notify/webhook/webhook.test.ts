import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { expect, test, vi } from 'vitest'
import { webhookBody } from '../../../src/notify/webhook/webhook-body.ts'
import { webhookNotifier } from '../../../src/notify/webhook/webhook.ts'
import { virtualClock } from '../../clock/virtual-clock.ts'
import { failure, read, SECRET, withReceivers, type Received } from '../receiver.ts'
import { AT, DIGEST, FIRING, messageOf, RESOLVED, STORE_FAILING } from '../sample.ts'

const MESSAGE = messageOf([FIRING, RESOLVED])
const receivers = withReceivers()

/** A receiver on this machine, and a notifier that knows its address. */
async function webhookAt(handler: RequestListener, headers: Record<string, string> = {}) {
  const { url, server } = await receivers.open(handler)
  const clock = virtualClock(AT)
  return { clock, server, notifier: webhookNotifier({ url, headers, clock }) }
}

/** A receiver that answers with this status, and what it received. */
async function answering(status: number, headers: Record<string, string> = {}) {
  const received: Received[] = []
  const webhook = await webhookAt((request, response) => {
    void read(request).then((got) => {
      received.push(got)
      response.writeHead(status).end()
    })
  }, headers)
  return { ...webhook, received }
}

test.each([MESSAGE, DIGEST, STORE_FAILING])('a message of the kind $kind is posted as JSON', async (message) => {
  const { notifier, received } = await answering(200)
  await notifier.deliver(message)
  expect(received).toMatchObject([
    {
      method: 'POST',
      path: `/services/${SECRET}`,
      headers: { 'content-type': 'application/json', 'user-agent': 'callwatch' },
    },
  ])
  expect(JSON.parse(received[0]!.body)).toEqual(JSON.parse(JSON.stringify(webhookBody(message, AT))))
  expect(notifier.name).toBe('webhook')
})

test('the configured headers are sent, in place of those of the same name', async () => {
  const { notifier, received } = await answering(200, {
    Authorization: `Bearer ${SECRET}`,
    'Content-Type': 'application/vnd.callwatch+json',
  })
  await notifier.deliver(MESSAGE)
  expect(received[0]!.headers).toMatchObject({
    authorization: `Bearer ${SECRET}`,
    'content-type': 'application/vnd.callwatch+json',
    'user-agent': 'callwatch',
  })
})

test('half a character in a name is not sent, which many a receiver would refuse', async () => {
  const { notifier, received } = await answering(200)
  await notifier.deliver(messageOf([{ ...FIRING, alert: 'A\uD83D' }]))
  expect(received[0]!.body).toContain('"alert":"A\uFFFD"')
  expect(received[0]!.body).not.toMatch(/\\ud83d/i)
})

test('a delivery that is done leaves no timer behind, which would hold up the end of the process', async () => {
  const { notifier, clock } = await answering(200)
  const schedule = vi.spyOn(clock.scheduler, 'schedule')
  await notifier.deliver(MESSAGE)
  expect(schedule.mock.results.map(({ value }) => value)).toMatchObject([{ closed: true }])
})

test.each([200, 201, 202, 204])('%d is an acceptance', async (status) => {
  const { notifier, received } = await answering(status)
  await notifier.deliver(MESSAGE)
  expect(received).toHaveLength(1)
})

test.each([
  [429, { 'Retry-After': '30' }, true, 30, 'the webhook answered 429'],
  [429, { 'Retry-After': 'Fri, 20 Nov 2026 08:16:00 GMT' }, true, 30, 'the webhook answered 429'],
  [429, {}, true, undefined, 'the webhook answered 429'],
  [500, {}, true, undefined, 'the webhook answered 500'],
  [503, { 'Retry-After': '5' }, true, 5, 'the webhook answered 503'],
  [400, {}, false, undefined, 'the webhook refused the message with 400'],
  [401, { 'Retry-After': '5' }, false, undefined, 'the webhook refused the message with 401'],
  [404, {}, false, undefined, 'the webhook refused the message with 404'],
  [301, {}, false, undefined, 'the webhook refused the message with 301'],
  [304, {}, false, undefined, 'the webhook refused the message with 304'],
])('%d with %j may be sent again: %s', async (status, headers, retryable, retryAfter, message) => {
  const { notifier } = await webhookAt((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end(`no ${request.url}`))
  })
  expect(await failure(notifier.deliver(MESSAGE))).toMatchObject({ retryable, retryAfter, message })
})

test('a redirect is not followed: the headers go nowhere else', async () => {
  let requests = 0
  const { notifier } = await webhookAt((_request, response) => {
    requests += 1
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  expect(await failure(notifier.deliver(MESSAGE))).toMatchObject({ retryable: false })
  expect(requests).toBe(1)
})

test('a receiver that hangs is given up after 8 seconds, and may be tried again', async () => {
  const { promise: arrival, resolve: arrived } = Promise.withResolvers<void>()
  const { notifier, clock } = await webhookAt(() => arrived())
  const failing = failure(notifier.deliver(MESSAGE))
  await arrival
  let failed = false
  void failing.then(() => (failed = true))
  await clock.advance(7.9)
  expect(failed).toBe(false)
  await clock.advance(0.1)
  expect(await failing).toMatchObject({ retryable: true, message: 'the webhook did not answer within 8 s' })
})

test.each([
  [200, undefined],
  [503, { retryable: true, message: 'the webhook answered 503' }],
  [400, { retryable: false, message: 'the webhook refused the message with 400' }],
])('of an answer that only drips, the status %d is enough', async (status, problem) => {
  const { notifier } = await webhookAt((_request, response) => void response.writeHead(status).write('o'))
  const delivery = notifier.deliver(MESSAGE)
  if (problem === undefined) await delivery
  else expect(await failure(delivery)).toMatchObject(problem)
})

test('a refused connection says why, and may be tried again', async () => {
  const { notifier, server } = await webhookAt(() => undefined)
  server.close()
  await once(server, 'close')
  expect(await failure(notifier.deliver(MESSAGE))).toMatchObject({
    retryable: true,
    message: 'the webhook could not be reached: ECONNREFUSED',
  })
})

test.each([
  ['a header that cannot be sent', { 'X-Token': `${SECRET}\nX: y` }],
  ['a header name that cannot be sent', { [SECRET]: 'x' }],
])('%s is not told of', async (_case, headers) => {
  const { notifier } = await webhookAt(() => undefined, headers)
  expect((await failure(notifier.deliver(MESSAGE))).message).toBe('the webhook could not be reached')
})
