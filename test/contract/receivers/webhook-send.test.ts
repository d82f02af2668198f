import { expect, test } from 'vitest'
import { webhookSend } from '../../../src/notifications/receivers/webhook/webhook-send.ts'
import { messageView } from '../../../src/notifications/receivers/webhook/webhook-body.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { failure, read, SECRET, withReceivers, type Received } from '../../kit/notifications/receiver.ts'
import { AT, DAILY, FIRING, messageOf, RESOLVED, STORE_FAILING } from '../../kit/notifications/sample.ts'

const MESSAGE = messageOf([FIRING, RESOLVED])
const opening = withReceivers()

/** A webhook that accepts all, and what it received. */
async function webhook(headers: Record<string, string> = {}) {
  const received: Received[] = []
  const { url } = await opening.open((request, response) => {
    void read(request).then((got) => {
      received.push(got)
      response.end()
    })
  })
  return {
    send: webhookSend({ url, headers }, { clock: virtualClock(AT) }),
    received,
  }
}

test.each([MESSAGE, DAILY, STORE_FAILING])(
  'a message of the kind $kind is posted to the webhook as JSON',
  async (message) => {
    const { send, received } = await webhook()
    await send(message)
    expect(received).toMatchObject([
      {
        method: 'POST',
        path: `/services/${SECRET}`,
        headers: { 'content-type': 'application/json', 'user-agent': 'callwatch' },
      },
    ])
    expect(JSON.parse(received[0]!.body)).toEqual(JSON.parse(JSON.stringify(messageView(message, AT))))
  },
)

test('the configured headers of the webhook are sent, instead of those of the same name', async () => {
  const { send, received } = await webhook({
    Authorization: `Bearer ${SECRET}`,
    'Content-Type': 'application/vnd.callwatch+json',
  })
  await send(MESSAGE)
  expect(received[0]!.headers).toMatchObject({
    authorization: `Bearer ${SECRET}`,
    'content-type': 'application/vnd.callwatch+json',
    'user-agent': 'callwatch',
  })
})

test('half a character in a name is not sent to the webhook, which many a receiver would refuse', async () => {
  const { send, received } = await webhook()
  await send(messageOf([{ ...FIRING, alert: 'A\uD83D' }]))
  expect(received[0]!.body).toContain('"alert":"A\uFFFD"')
  expect(received[0]!.body).not.toMatch(/\\ud83d/i)
})

test.each([
  ['a header', { 'X-Token': `${SECRET}\nX: y` }, 'invalid X-Token header'],
  ['a header name', { [SECRET]: 'x' }, 'invalid header key'],
])('%s of the webhook that cannot be sent is not shown, and no fault of the network', async (_case, headers, why) => {
  const { send } = await webhook(headers)
  const message = `the webhook: callwatch cannot send such a request: ${why}`
  expect(await failure(send(MESSAGE))).toMatchObject({ message, retryable: false, mayHaveArrived: false })
})

/** A webhook that takes bodies of so many bytes, and the sizes of those that it got. */
async function limited(most: number) {
  const sizes: number[] = []
  const { url } = await opening.open((request, response) => {
    void read(request).then(({ body }) => {
      sizes.push(Buffer.byteLength(body))
      response.writeHead(Buffer.byteLength(body) > most ? 413 : 200).end()
    })
  })
  const config = { url, headers: {} }
  return { send: webhookSend(config, { clock: virtualClock(AT) }), sizes }
}
const MANY = messageOf(Array.from({ length: 300 }, (_, i) => ({ ...FIRING, target: `target ${i}` })))

test('the largest incident is at most 90 kB', async () => {
  const { send, sizes } = await limited(Infinity)
  await send(MANY)
  expect(sizes).toHaveLength(1)
  expect(sizes[0]).toBeGreaterThan(20_000)
  expect(sizes[0]).toBeLessThanOrEqual(90_000)
})

test('a message that is too large for the receiver is sent with fewer alerts', async () => {
  const { send, sizes } = await limited(12_000)
  await send(MANY)
  expect(sizes.length).toBeGreaterThan(1)
  expect(sizes.at(-1)).toBeLessThanOrEqual(12_000)
  expect(sizes.toSorted((a, b) => b - a)).toEqual(sizes)
})

test('a message that is too large with one alert is refused, and posted once in each size', async () => {
  const { send, sizes } = await limited(100)
  expect(await failure(send(messageOf([FIRING])))).toMatchObject({ retryable: false, status: 413 })
  expect(sizes).toHaveLength(1)
})
