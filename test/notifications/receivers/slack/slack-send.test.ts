import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { slackMessage, slackSend } from '../../../../src/notifications/receivers/slack/slack-send.ts'
import { virtualClock } from '../../../clock/virtual-clock.ts'
import { anyMessage } from '../../any-message.ts'
import { failure, read, SECRET, withReceivers, type Received } from '../../receiver.ts'
import { AT, DIGEST, FIRING, messageOf, STORE_FAILING } from '../../sample.ts'
import { slackProblems } from './slack-limits.ts'

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
  const config = { webhookUrl: url, dashboardUrl: 'https://grafana.test/' }
  return { send: slackSend(config, { clock: virtualClock(AT) }), received }
}

test('a message to Slack is posted as JSON', async () => {
  const { send, received } = await strictSlack()
  await send(MESSAGE)
  const message = slackMessage(MESSAGE, { now: AT, dashboardUrl: 'https://grafana.test/' })
  expect(received).toMatchObject([
    { method: 'POST', path: `/services/${SECRET}`, headers: { 'content-type': 'application/json' } },
  ])
  expect(JSON.parse(received[0]!.body)).toEqual(JSON.parse(JSON.stringify(message)))
})

test('a receiver as strict as Slack takes whatever is sent', async () => {
  const { send, received } = await strictSlack()
  const messages = [DIGEST, STORE_FAILING, ...fc.sample(anyMessage, { numRuns: 50, seed: 20_261_120 })]
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
