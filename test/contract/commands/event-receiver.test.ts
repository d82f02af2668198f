import { expect, onTestFinished, test } from 'vitest'
import { startEventReceiver } from '../../../src/commands/demo/event-receiver.ts'
import { eventPoster } from '../../../src/events/webhooks/post-event.ts'
import { signedHeaders } from '../../../src/events/webhooks/sign.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { SECRET, webhookOf } from '../../kit/events/webhooks/any-webhook.ts'

const [ID, TEXT] = ['a-1', JSON.stringify({ id: 'a-1', type: 'callwatch.call.ended' })]

async function receiver() {
  const started = await startEventReceiver()
  onTestFinished(started.close)
  const post = (given: Parameters<typeof webhookOf>[0] = {}, ahead = 0) => {
    const clock = { ...systemClock, wall: () => systemClock.wall() + ahead }
    const send = eventPoster(webhookOf({ url: started.url, secret: started.secret, ...given }), clock)
    return send(ID, TEXT, new AbortController().signal)
  }
  return { ...started, post }
}

test('the receiver of the demo takes an event once, however often it comes, and while a secret is rotated', async () => {
  const { post, counts, secret } = await receiver()
  await post()
  await post()
  await post({ secret: SECRET, old_secret: secret })
  expect(counts()).toEqual({ events: 1, refused: 0 })
})

test('the receiver of the demo refuses another secret, an old or future time, an altered byte, and what is not signed', async () => {
  const { url, post, counts, secret } = await receiver()
  await expect(post({ secret: SECRET })).rejects.toMatchObject({ status: 401 })
  for (const ahead of [-400, 400]) await expect(post({}, ahead)).rejects.toMatchObject({ status: 401 })
  const headers = signedHeaders(ID, systemClock.wall(), TEXT, [secret])
  const altered = await fetch(url, { method: 'POST', headers, body: TEXT.replace('ended', 'endex') })
  const unsigned = await fetch(url, { method: 'POST', body: TEXT })
  expect([altered.status, unsigned.status]).toEqual([401, 401])
  expect(counts()).toEqual({ events: 0, refused: 5 })
})
