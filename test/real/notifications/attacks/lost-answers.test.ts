import { describe, expect, test } from 'vitest'
import type { Instead } from '../../../kit/notifications/daemon/slack-workspace.ts'
import { notifyingDaemon, type NotifyingDaemon } from '../../../kit/notifications/notifying-daemon.ts'

const NOTIFY = { group_wait: '20s', group_interval: '2m' }

/** The next so many posts of the bot, or of its replies, have this outcome instead. */
function nextPosts(d: NotifyingDaemon, outcome: Instead, { times = 1, replies = false } = {}) {
  let left = times
  d.slack.answers('chat.postMessage', ({ body }) => {
    if ('thread_ts' in body !== replies || left === 0) return undefined
    left -= 1
    return outcome
  })
}

const texts = (d: NotifyingDaemon) => d.channel('bot').map(({ text }) => text)
const repliesIn = (d: NotifyingDaemon) => d.channel('bot').flatMap(({ replies }) => replies)

describe('a bot whose answer is lost', () => {
  test('posts an incident of another route on its own, not into the message of the first one', async () => {
    const routes = [
      { match: { target: 't0' }, notify: ['bot'] },
      { match: { target: 't1' }, notify: ['bot'] },
    ]
    const d = await notifyingDaemon({ bots: ['bot'], notify: { ...NOTIFY, routes } })
    await d.fire(0, 'High')
    await d.advance(40)
    nextPosts(d, 'lostgone')
    await d.fire(1, 'High')
    await d.advance(60)
    expect(texts(d)).toEqual([expect.stringContaining('t0'), expect.stringContaining('t1')])
    expect(d.channel('bot')[0]!.edits.filter(({ text }) => text.includes('t1'))).toEqual([])
  })

  test('posts a new incident, and does not edit it into the message of one that is over', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'High')
    await d.advance(40)
    await d.end(0, 'High')
    await d.advance(130)
    nextPosts(d, 'lostgone')
    await d.fire(1, 'High')
    await d.advance(60)
    expect(d.channel('bot'), JSON.stringify(d.channel('bot'), ['at', 'text', 'edits', 'replies'], 1)).toHaveLength(2)
    expect(d.channel('bot')[0]!.edits.at(-1)?.text).toContain('✅')
  })

  test('finds the message that has arrived, and posts no second one', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    nextPosts(d, 'lost')
    await d.fire(0, 'High')
    await d.advance(100)
    expect(d.channel('bot')).toHaveLength(1)
    await d.end(0, 'High')
    await d.advance(10)
    expect(d.channel('bot')[0]!.edits.at(-1)?.text).toContain('✅')
  })

  test('shows the end in the message that has arrived, also where that is the first that is known of it', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    nextPosts(d, 'lost')
    await d.fire(0, 'High')
    await d.advance(20)
    expect(d.channel('bot')).toHaveLength(1)
    await d.end(0, 'High')
    await d.advance(60)
    expect(d.channel('bot')).toHaveLength(1)
    expect(d.channel('bot')[0]!.edits.at(-1)?.text).toContain('✅')
  })

  test('repeats the reply that says that it became worse', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'High')
    await d.advance(40)
    nextPosts(d, 'lostgone', { replies: true })
    await d.fire(1, 'VeryHigh')
    await d.advance(30)
    expect(repliesIn(d).filter(({ isBroadcast }) => isBroadcast)).toHaveLength(1)
  })

  test('repeats the reply that says that it is over', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    await d.fire(0, 'High')
    await d.advance(40)
    nextPosts(d, 'lostgone', { replies: true })
    await d.end(0, 'High')
    await d.advance(30)
    expect(repliesIn(d).filter(({ text }) => text.includes('✅'))).toHaveLength(1)
  })
})

describe('a webhook whose answer is lost', () => {
  test('is told that an alert fires again, of which it may have got the end', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    await d.fire(0, 'Few')
    await d.advance(99)
    d.answers('pager', 'lost')
    await d.end(0, 'Few')
    await d.advance(2)
    d.answers('pager', 'ok')
    await d.fire(0, 'Few')
    await d.advance(200)
    expect(d.knownTo('pager'), d.lines('pager')).toEqual(['t0/Few'])
  })

  test.each(['lost', 'lostgone'] as const)('is told the end of what may have begun (%s)', async (mode) => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    d.answers('pager', mode)
    await d.fire(0, 'Few')
    await d.advance(22)
    await d.end(0, 'Few')
    d.answers('pager', 'ok')
    await d.advance(200)
    expect(d.knownTo('pager'), d.lines('pager')).toEqual([])
    expect(d.said('pager').length).toBeGreaterThan(mode === 'lost' ? 1 : 0)
  })

  test('is told the end of what may have begun, though it refused that once meanwhile', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    d.answers('pager', 'lost')
    await d.fire(0, 'Few')
    await d.advance(20)
    d.answers('pager', 'refuse')
    await d.advance(8)
    d.answers('pager', 'ok')
    await d.end(0, 'Few')
    await d.advance(400)
    expect(d.knownTo('pager'), d.lines('pager')).toEqual([])
  })

  test('is told the end of an alert that was added in a message without an answer', async () => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    await d.fire(0, 'Few')
    await d.advance(100)
    await d.fire(1, 'Few')
    await d.advance(39)
    d.answers('pager', 'lost')
    await d.advance(3)
    d.answers('pager', 'ok')
    await d.end(1, 'Few')
    await d.advance(200)
    expect(d.knownTo('pager'), d.lines('pager')).toEqual(['t0/Few'])
  })
})

describe('a process that dies', () => {
  test.each([
    ['before send', 1],
    ['after send', 2],
  ] as const)('%s tells a beginning at least once', async (point, most) => {
    const d = await notifyingDaemon({ receivers: ['pager'], notify: NOTIFY })
    d.crashAt(point)
    await d.fire(0, 'Few')
    await d.advance(60)
    expect(d.knownTo('pager'), d.lines('pager')).toEqual(['t0/Few'])
    expect(d.said('pager').length).toBeLessThanOrEqual(most)
    await d.end(0, 'Few')
    await d.advance(10)
    expect(d.knownTo('pager'), d.lines('pager')).toEqual([])
  })

  test('after it posted as a bot finds that message', async () => {
    const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
    d.crashAt('after send')
    await d.fire(0, 'High')
    await d.advance(60)
    expect(d.channel('bot')).toHaveLength(1)
  })
})
