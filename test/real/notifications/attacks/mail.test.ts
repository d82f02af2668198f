import { expect, test } from 'vitest'
import { notifyingDaemon } from '../../../kit/notifications/notifying-daemon.ts'

const NOTIFY = { group_wait: '20s', group_interval: '2m' }
const MAIL = { receivers: ['mail/ann', 'mail/ben', 'mail/eve'], notify: NOTIFY }

test('a recipient that is greylisted gets its mail later, and no other gets a second one', async () => {
  const d = await notifyingDaemon(MAIL)
  d.answers('mail/ben', 'error')
  await d.fire(0, 'High')
  await d.advance(90)
  d.answers('mail/ben', 'ok')
  await d.advance(100)
  const counts = MAIL.receivers.map((recipient) => d.said(recipient).length)
  expect(counts).toEqual([1, 1, 1])
  await d.end(0, 'High')
  await d.advance(5)
  for (const recipient of MAIL.receivers)
    expect(
      d.said(recipient).map(({ kind }) => kind),
      d.lines(recipient),
    ).toEqual(['begins', 'ended'])
})

test('what recipients of a mail wait for is said together, under its name', async () => {
  const d = await notifyingDaemon(MAIL)
  for (const recipient of ['mail/ben', 'mail/eve']) d.answers(recipient, 'error')
  await d.fire(0, 'High')
  await d.advance(30)
  const failing = { problem: 'it answered 500', pending: 2 }
  expect(d.failures().of('mail')).toMatchObject(failing)
  expect(d.failures().of('mail')).not.toHaveProperty('since')
  d.answers('mail/ann', 'error')
  await d.fire(0, 'Few')
  await d.advance(60)
  expect(d.failures().of('mail')).toMatchObject({ pending: 5, since: expect.any(Number) })
  await d.reload({ receivers: ['mail/ann'] })
  for (const recipient of MAIL.receivers) d.answers(recipient, 'ok')
  await d.advance(30)
  expect(d.failures().of('mail')).toBeUndefined()
})

test('a recipient that a reload adds gets what fires, and nothing of before, and the others get nothing twice', async () => {
  const d = await notifyingDaemon({ receivers: ['mail/ann', 'mail/ben'], notify: NOTIFY })
  await d.fire(0, 'Few')
  await d.fire(1, 'High')
  await d.advance(60)
  await d.end(0, 'Few')
  await d.advance(60)
  await d.reload({ receivers: ['mail/eve', 'mail/ben'] })
  await d.advance(200)
  expect(
    d.said('mail/eve').map(({ kind, begins }) => [kind, begins]),
    d.lines('mail/eve'),
  ).toEqual([['begins', ['t1/High']]])
  expect(d.said('mail/ben'), d.lines('mail/ben')).toHaveLength(3)
  await d.end(1, 'High')
  await d.advance(5)
  expect(d.said('mail/ann'), d.lines('mail/ann')).toHaveLength(3)
  expect(d.said('mail/ben').at(-1)?.kind, d.lines('mail/ben')).toBe('ended')
})
