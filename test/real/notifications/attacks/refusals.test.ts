import { describe, expect, test } from 'vitest'
import { notifyingDaemon, type NotifyingDaemon } from '../../../kit/notifications/notifying-daemon.ts'

const NOTIFY = { group_wait: '20s', group_interval: '2m' }
const firstOf = (d: NotifyingDaemon, receiver: string, alert: string) =>
  d.said(receiver).find(({ begins }) => begins.includes(alert))?.at ?? Infinity

describe('one message that a webhook', () => {
  test.each([
    ['answers with 500', 'error'],
    ['refuses', 'refuse'],
    ['does not answer for 8 s', { hang: 8 }],
    ['accepts, but its answer is lost', 'lost'],
  ] as const)('%s, whenever it is sent, delays no other', async (_what, mode) => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    d.answers('pager', mode, { rule: 'Few' })
    await d.fire(0, 'Few')
    for (const start of [60, 600, 1800]) {
      await d.advance(start - d.clock.monotonic())
      const target = start / 60
      await d.reload({ targets: 40 })
      await d.fire(target, 'High')
      await d.advance(30)
      expect(firstOf(d, 'pager', `t${target}/High`), d.lines('pager')).toBeLessThanOrEqual(start + 24)
      await d.end(target, 'High')
      await d.advance(5)
      expect(d.knownTo('pager'), d.lines('pager')).not.toContain(`t${target}/High`)
    }
  })
})

test('a receiver that was down for an hour gets one message for each group, of what is then', async () => {
  const d = await notifyingDaemon({ receivers: ['pager'], targets: 30, notify: NOTIFY })
  d.answers('pager', 'down')
  for (let target = 0; target < 30; target += 1) await d.fire(target, 'High')
  await d.fire(0, 'Few')
  await d.advance(1800)
  for (let target = 10; target < 30; target += 1) await d.end(target, 'High')
  await d.advance(1800)
  d.answers('pager', 'ok')
  await d.advance(310)
  expect(d.said('pager'), d.lines('pager')).toHaveLength(2)
  expect(d.knownTo('pager').length).toBe(11)
})

describe('a bot whose edits fail', () => {
  const failing = () => ({ ok: false, error: 'internal_error' })

  test('posts a new incident in time', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'High')
    await d.advance(60)
    d.slack.answers('chat.update', failing)
    await d.fire(1, 'VeryHigh')
    await d.advance(40)
    await d.fire(2, 'Few')
    await d.advance(30)
    expect(d.channel('bot').map(({ at }) => at)).toEqual([20, expect.closeTo(121, -1)])
  })

  test('says in the thread that the incident is worse', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'High')
    await d.advance(60)
    d.slack.answers('chat.update', failing)
    await d.fire(1, 'VeryHigh')
    await d.advance(30)
    expect(d.channel('bot')[0]!.replies.map(({ isBroadcast }) => isBroadcast)).toEqual([true])
  })

  test('posts a new incident in time while Slack limits its edits', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'High')
    await d.advance(40)
    d.slack.answers('chat.update', () => ({ ok: false, error: 'rate_limited' }))
    d.see(0, 'High', { value: 0.9 })
    await d.advance(60)
    await d.fire(0, 'Few')
    await d.advance(30)
    expect(d.channel('bot').map(({ at }) => at)).toEqual([20, expect.closeTo(121, -1)])
  })

  test.each(['edit_window_closed', 'cant_update_message'])(
    'in a workspace that forbids edits (%s) posts an incident once, and says what changes in its thread',
    async (error) => {
      const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
      d.slack.answers('chat.update', () => ({ ok: false, error }))
      await d.fire(0, 'High')
      for (let second = 0; second < 3600; second += 60) {
        d.see(0, 'High', { value: 0.4 + second / 10_000 })
        await d.advance(60)
      }
      await d.end(0, 'High')
      await d.advance(30)
      expect(d.channel('bot').length, 'messages in an hour').toBe(1)
      expect(d.channel('bot')[0]!.replies.map(({ text }) => text)).toEqual([expect.stringContaining('✅')])
    },
  )

  test('posts a message that a person deleted once more', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'High')
    await d.advance(60)
    d.slack.delete(d.channel('bot')[0]!.ts)
    d.see(0, 'High', { value: 0.9 })
    await d.advance(400)
    expect(d.channel('bot')).toHaveLength(1)
    await d.end(0, 'High')
    await d.advance(10)
    expect(d.channel('bot')[0]!.edits.at(-1)?.text).toContain('✅')
  })
})

describe('a store that fails', () => {
  test.each([['for all that the daemon does'], ['for writes']])(
    '%s delays messages, and loses and repeats none',
    async (what) => {
      const d = await notifyingDaemon({ receivers: ['pager'], bots: ['bot'], notify: NOTIFY })
      await d.fire(0, 'Few')
      await d.advance(10)
      if (what === 'for writes') d.breakWrites(true)
      else d.breakStore('all')
      await d.advance(60)
      d.breakStore([])
      d.breakWrites(false)
      await d.advance(10)
      expect(
        d.said('pager').map(({ kind }) => kind),
        d.lines('pager'),
      ).toEqual(['begins'])
      expect(d.channel('bot')).toHaveLength(1)
      await d.end(0, 'Few')
      await d.advance(10)
      expect(d.knownTo('pager'), d.lines('pager')).toEqual([])
    },
  )
})
