import { expect, test } from 'vitest'
import { alertmanagerPost } from '../../../src/notifications/receivers/alertmanager/alertmanager-refresh.ts'
import { alertmanagerAlert } from '../../../src/notifications/receivers/alertmanager/alertmanager-alert.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { read, withReceivers, type Received } from '../../kit/notifications/receiver.ts'
import { AT } from '../../kit/notifications/sample.ts'
import { firingSince } from '../../kit/notifications/receivers/alertmanager/alertmanager-sample.ts'

const ALERTS = [alertmanagerAlert(firingSince(AT), { now: AT, endsAt: AT + 300 })]
const opening = withReceivers()

test.each([
  ['', '/api/v2/alerts'],
  ['/', '/api/v2/alerts'],
  ['/prefix/', '/prefix/api/v2/alerts'],
])('alerts are posted as JSON to the API of Alertmanager, under its address (%j)', async (prefix, path) => {
  const received: Received[] = []
  const { url } = await opening.open((request, response) => {
    void read(request).then((got) => {
      received.push(got)
      response.end()
    })
  })
  await alertmanagerPost({ url: `${new URL(url).origin}${prefix}`, clock: virtualClock(AT) })(ALERTS)
  const headers = { 'content-type': 'application/json', 'user-agent': 'callwatch' }
  expect(received).toMatchObject([{ method: 'POST', path, headers }])
  expect(JSON.parse(received[0]!.body)).toEqual(ALERTS)
})

test('alerts are posted with the configured headers and login', async () => {
  const received: Received[] = []
  const { url } = await opening.open((request, response) => {
    void read(request).then((got) => {
      received.push(got)
      response.end()
    })
  })
  const headers = { 'X-Scope-OrgID': 'calls', 'User-Agent': 'ours' }
  await alertmanagerPost({ url, clock: virtualClock(AT), headers, username: 'ann', password: 'pä ss' })(ALERTS)
  const authorization = `Basic ${Buffer.from('ann:pä ss').toString('base64')}`
  expect(received[0]!.headers).toMatchObject({ 'x-scope-orgid': 'calls', 'user-agent': 'ours', authorization })
})

test.each([
  [500, '"no disk"', 'no disk'],
  [503, '<html>', undefined],
])('Alertmanager says with %d and %j what is wrong: %j', async (status, body, reason) => {
  const { url } = await opening.open((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(body))
  })
  const posted = alertmanagerPost({ url, clock: virtualClock(AT) })(ALERTS)
  await expect(posted).rejects.toThrow(`Alertmanager answered ${status}${reason === undefined ? '' : ` (${reason})`}`)
})
