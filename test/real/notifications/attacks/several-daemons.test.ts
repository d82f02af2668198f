import { expect, test } from 'vitest'
import { notifyingDaemon } from '../../../kit/notifications/notifying-daemon.ts'

const NOTIFY = { group_wait: '20s', group_interval: '2m' }

test.each([5, 15, 19, 20])(
  'a daemon that was halted after %i s, and wakes while another one leads, sends nothing twice',
  async (seconds) => {
    const d = await notifyingDaemon({ receivers: ['pager'], bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'Few')
    await d.advance(seconds)
    const old = d.failover()
    await d.advance(60)
    old.wake()
    await d.advance(5)
    await d.fire(1, 'Few')
    await d.advance(150)
    old.learn()
    await d.advance(5)
    expect(
      d.said('pager').map(({ kind }) => kind),
      d.lines('pager'),
    ).toEqual(['begins', 'changed'])
    expect(d.channel('bot')).toHaveLength(1)
    for (const target of [0, 1]) await d.end(target, 'Few')
    await d.advance(10)
    expect(
      d.said('pager').map(({ kind }) => kind),
      d.lines('pager'),
    ).toEqual(['begins', 'changed', 'ended'])
  },
)

test('a failover in the middle of an interval neither begins it anew nor ends it', async () => {
  const d = await notifyingDaemon({ receivers: ['pager'], targets: 30, notify: NOTIFY })
  for (const target of [0, 1, 2]) await d.fire(target, 'Few')
  await d.advance(60)
  await d.fire(3, 'Few')
  d.failover()
  await d.advance(100)
  expect(
    d.said('pager').map(({ at }) => at),
    d.lines('pager'),
  ).toEqual([20, expect.closeTo(141, -1)])
})
