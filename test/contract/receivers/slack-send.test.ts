import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { backOff } from '../../../src/notifications/delivery/back-off.ts'
import { slackMessage } from '../../../src/notifications/receivers/slack/slack-message.ts'
import { slackSend } from '../../../src/notifications/receivers/slack/slack-send.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { anyMessage } from '../../unit/notifications/any-message.ts'
import { failure, read, SECRET, withReceivers, type Received } from '../../kit/notifications/receiver.ts'
import { AT, DAILY, FIRING, messageOf, STORE_FAILING } from '../../kit/notifications/sample.ts'
import { slackProblems } from '../../unit/notifications/receivers/slack/slack-limits.ts'
import { runs } from '../../kit/runs.ts'

const MESSAGE = messageOf([FIRING])
const opening = withReceivers()

/** A receiver that takes what Slack would take, and nothing else. */
async function strictSlack() {
  const received: Received[] = []
  const { url } = await opening.open((request, response) => {
    void read(request).then((got) => {
      received.push(got)
      const problems = slackProblems(JSON.parse(got.body))
      if (problems.length === 0) response.end('ok')
      else response.writeHead(400).end('invalid_blocks')
    })
  })
  return { send: slackSend({ webhookUrl: url }, { clock: virtualClock(AT) }), received }
}

test('a message to Slack is posted as JSON', async () => {
  const { send, received } = await strictSlack()
  await send(MESSAGE)
  const message = slackMessage(MESSAGE, { now: AT })
  expect(received).toMatchObject([
    { method: 'POST', path: `/services/${SECRET}`, headers: { 'content-type': 'application/json' } },
  ])
  expect(JSON.parse(received[0]!.body)).toEqual(JSON.parse(JSON.stringify(message)))
})

test('a receiver as strict as Slack takes whatever is sent', async () => {
  const { send, received } = await strictSlack()
  const messages = [DAILY, STORE_FAILING, ...fc.sample(anyMessage, { numRuns: runs(50), seed: 20_261_120 })]
  for (const message of messages) await send(message)
  expect(received).toHaveLength(messages.length)
})

test.each([
  [429, 'rate_limited', 'Slack answered 429 (rate_limited)'],
  [500, 'rollup_error', 'Slack answered 500 (rollup_error)'],
])('Slack says with %d in a few words why: %s', async (status, body, message) => {
  const { url } = await opening.open((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(body))
  })
  expect(await failure(slackSend({ webhookUrl: url }, { clock: virtualClock(AT) })(MESSAGE))).toMatchObject({ message })
})

/** A receiver that answers with these bodies one after the other, the last one from then on. */
async function answering(...answers: readonly (readonly [status: number, body: string])[]) {
  let requests = 0
  const { url } = await opening.open((request, response) => {
    const [status, body] = answers[Math.min(requests, answers.length - 1)]!
    requests += 1
    request.resume().on('end', () => response.writeHead(status).end(body))
  })
  return { send: slackSend({ webhookUrl: url }, { clock: virtualClock(AT) }), requests: () => requests }
}

test.each(['ok', '{"ok":true}', '{"success":true}\n', '{ "result": "success", "msg": "", "ok": true }'])(
  'a receiver that is compatible with Slack accepts a message with %j',
  async (body) => {
    const { send, requests } = await answering([200, body])
    await send(MESSAGE)
    expect(requests()).toBe(1)
  },
)

test.each<[status: number, body: string]>([
  [200, '<html>please log in</html>'],
  [200, '{"ok":"true"}'],
  [200, '[true]'],
  [200, 'null'],
  [202, ''],
])(
  'a message that is answered with %d and %j is given up at the third such answer, which says why',
  async (...answer) => {
    const { send, requests } = await answering(answer, [503, ''], answer, answer)
    const attempts = []
    for (let attempt = 0; attempt < 4; attempt += 1) attempts.push(await failure(send(MESSAGE)))
    const message = `Slack answered ${answer[0]}, but not \`ok\`, as it does when it has accepted a message`
    const unconfirmed = { retryable: true, retryAfter: 300, mayHaveArrived: true, message }
    expect(attempts).toMatchObject([
      unconfirmed,
      { retryable: true, mayHaveArrived: false, message: 'Slack answered 503' },
      unconfirmed,
      {
        retryable: false,
        mayHaveArrived: true,
        message: `${message}; the message may have arrived, and is not sent again`,
      },
    ])
    expect(requests()).toBe(4)
  },
)

test('a receiver that never says ok gets each further message once, until it has said ok', async () => {
  const odd = [200, 'thanks'] as const
  const { send } = await answering(odd, odd, odd, odd, [200, 'ok'], odd)
  const retryable = []
  for (let attempt = 0; attempt < 4; attempt += 1) retryable.push((await failure(send(MESSAGE))).retryable)
  await send(MESSAGE)
  retryable.push((await failure(send(MESSAGE))).retryable)
  expect(retryable).toEqual([true, true, false, false, true])
})

test('a firing alert outlives five minutes of a login page', async () => {
  const clock = virtualClock(AT)
  let requests = 0
  const { url } = await opening.open((request, response) => {
    requests += 1
    request.resume().on('end', () => response.end(clock.wall() < AT + 300 ? '<html>please log in</html>' : 'ok'))
  })
  const send = slackSend({ webhookUrl: url }, { clock })
  const attempts = backOff(clock)
  const outcomes: string[] = []
  for (let second = 0; second <= 300; second += 1) {
    if (attempts.left() === 0) outcomes.push((await attempts.attempt(() => send(MESSAGE))).outcome)
    await clock.advance(1)
  }
  expect({ outcomes, requests }).toEqual({ outcomes: ['retried', 'sent'], requests: 2 })
})

test.each([
  ['no_service', ' (no_service)'],
  ['{"ok":false,"error":"no_text"}', ' (no_text)'],
  [
    '{"success":false,"error":"Invalid integration id or token provided."}',
    ' (Invalid integration id or token provided.)',
  ],
  ['{"success":false}', ''],
  ['{"ok":false,"error":{"code":7}}', ''],
  ['{"ok":false,"error":"\\u001b[2Jno"}', ''],
  [`{"ok":false,"error":"nothing at /services/${SECRET}"}`, ''],
  [`{"ok":false,"error":"${'very '.repeat(30)}long"}`, ''],
])(
  'a message that is answered with 200 and %j is refused, however often, and has not arrived',
  async (body, reason) => {
    const { send } = await answering([200, body])
    for (let attempt = 0; attempt < 4; attempt += 1) {
      expect(await failure(send(MESSAGE))).toMatchObject({
        message: `Slack refused the message with 200${reason}`,
        retryable: false,
        mayHaveArrived: false,
        status: 200,
      })
    }
  },
)

test.each([401, 503])('an error in JSON is the reason of a %d as well', async (status) => {
  const { send } = await answering([status, '{"success":false,"error":"Invalid token."}'])
  expect((await failure(send(MESSAGE))).message).toContain(`${status} (Invalid token.)`)
})
