import { expect, test } from 'vitest'
import { notifyingDaemon } from '../../../kit/notifications/notifying-daemon.ts'

const NOTIFY = { group_wait: '20s', group_interval: '2m' }
const rateLimited = () => ({ ok: false, error: 'rate_limited' })

test('two bots of one token stay within the edits that Slack allows', async () => {
  const notify = { ...NOTIFY, group_by: ['target'] }
  const d = await notifyingDaemon({ bots: ['bot', 'other'], targets: 20, notify })
  for (let target = 0; target < 20; target += 1) await d.fire(target, 'High')
  for (let second = 0; second < 240; second += 1) {
    for (let target = 0; target < 20; target += 1) d.see(target, 'High', { value: 0.4 + second / 1000 })
    await d.advance(1)
  }
  expect(d.slack.refused).toEqual([])
  for (const bot of ['bot', 'other'])
    expect(d.channel(bot).filter(({ edits }) => edits.length < 2), bot).toEqual([]) // oxfmt-ignore
})

test.each(['rate_limited', 'ratelimited'])(
  'what Slack limits with status 200 (%s) waits for all bots of the token, and is sent then',
  async (error) => {
    const routes = [
      { match: { alert: 'High' }, notify: ['bot'] },
      { match: { alert: 'Few' }, notify: ['other'] },
    ]
    const d = await notifyingDaemon({ bots: ['bot', 'other'], notify: { ...NOTIFY, routes } })
    let isFirst = true
    d.slack.answers('chat.postMessage', () => {
      const limited = isFirst ? { ok: false, error } : undefined
      isFirst = false
      return limited
    })
    await d.fire(0, 'High')
    await d.advance(3)
    await d.fire(0, 'Few')
    await d.advance(26)
    expect([...d.channel('bot'), ...d.channel('other')]).toEqual([])
    await d.advance(6)
    expect([d.channel('bot').length, d.channel('other').length]).toEqual([1, 1])
  },
)

test('an edit that hangs delays no reply', async () => {
  const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
  await d.fire(0, 'High')
  await d.advance(60)
  const methods = () => d.slack.calls.filter(({ at }) => at >= 60).map(({ method }) => method)
  await d.fire(1, 'VeryHigh')
  await d.advance(4)
  expect(methods().slice(0, 2)).toEqual(['chat.postMessage', 'chat.update'])
})

test('edits that Slack limits are not tried with each reply, and the message shows the end afterwards', async () => {
  const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
  await d.fire(0, 'High')
  await d.advance(40)
  d.slack.answers('chat.update', rateLimited)
  d.see(0, 'High', { value: 0.9 })
  await d.advance(16)
  const tried = d.slack.calls.filter(({ method }) => method === 'chat.update').length
  await d.end(0, 'High')
  await d.advance(3)
  expect(d.channel('bot')[0]!.replies.map(({ text }) => text)).toEqual([expect.stringContaining('✅')])
  expect(d.slack.calls.filter(({ method }) => method === 'chat.update')).toHaveLength(tried)
  d.slack.answers('chat.update', undefined)
  await d.advance(20)
  expect(d.channel('bot')[0]!.edits.at(-1)?.text).toContain('✅')
})

test('after a reload with another channel, the old message says where the incident continues', async () => {
  const d = await notifyingDaemon({ bots: ['bot'], channels: { bot: 'COLD' }, notify: NOTIFY })
  await d.fire(0, 'High')
  await d.advance(60)
  await d.reload({ channels: { bot: 'CNEW' } })
  await d.advance(20)
  expect(d.channel('bot').map(({ text }) => text)).toEqual([expect.stringContaining('High on t0')])
  const [old] = d.slack.posts('COLD')
  expect(old!.edits.at(-1)!.blocks).toMatch(/Continues in <#CNEW>, in the message of <!date/)
  await d.end(0, 'High')
  await d.advance(10)
  expect(d.channel('bot')[0]!.replies.map(({ text }) => text)).toEqual([expect.stringContaining('✅')])
  expect(d.channel('bot')[0]!.edits.at(-1)!.text).toContain('✅')
  expect(old!.replies).toEqual([])
})

test('after a reload with another group_by, the message whose incident is in another one says so', async () => {
  const d = await notifyingDaemon({ bots: ['bot'], notify: { ...NOTIFY, group_by: ['target'] } })
  await d.fire(0, 'High')
  await d.advance(60)
  await d.fire(1, 'High')
  await d.advance(60)
  expect(d.channel('bot')).toHaveLength(2)
  await d.reload({ notify: { ...NOTIFY, group_by: ['alert'] } })
  await d.advance(40)
  const continued = d.channel('bot').filter(({ edits }) => /Continues in <#CBOT>/.test(edits.at(-1)?.blocks ?? ''))
  expect(continued).toEqual([d.channel('bot')[0]])
  expect(d.channel('bot')[1]!.edits.at(-1)!.text).toContain('2 of 3 targets')
})

test('a reply to a message that a person has just deleted is the message of the incident from then on', async () => {
  const d = await notifyingDaemon({ bots: ['bot'], notify: NOTIFY })
  await d.fire(0, 'High')
  await d.advance(60)
  d.slack.delete(d.channel('bot')[0]!.ts)
  await d.fire(1, 'VeryHigh')
  await d.advance(2)
  expect(d.channel('bot').map(({ text }) => text)).toEqual([expect.stringContaining('🔴')])
  await d.end(0, 'High')
  await d.end(1, 'VeryHigh')
  await d.advance(10)
  expect(d.channel('bot')).toHaveLength(1)
  expect(d.channel('bot')[0]!.edits.at(-1)!.text).toContain('✅')
})
