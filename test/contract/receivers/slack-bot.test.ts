import { describe, expect, test } from 'vitest'
import type { AlertMessage, Message } from '../../../src/notifications/message.ts'
import { slackBot } from '../../../src/notifications/receivers/slack/slack-bot.ts'
import { parseMap } from '../../../src/schema/path.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { failure, read, withReceivers } from '../../kit/notifications/receiver.ts'
import { AT, DAILY, FIRING, messageOf, REMINDER, RESOLVED } from '../../kit/notifications/sample.ts'
import { slackProblems } from '../../unit/notifications/receivers/slack/slack-limits.ts'

const TOKEN = 'xoxb-a-secret-token'
const CHANNEL = 'C0123456789'
const opening = withReceivers()

type Posted = Record<string, unknown> & { ts: string }
type Call = { method: string; body: Record<string, unknown> }

/** Slack's API with one channel, as far as a bot uses it. */
async function slackApi() {
  const calls: Call[] = []
  const messages = new Map<string, Posted>()
  /** What it answers a method with instead. */
  const answers = new Map<string, { status?: number; headers?: Record<string, string>; body: object }>()
  const answer = ({ method, body }: Call): object => {
    if (method === 'chat.postMessage') {
      const ts = `${AT}.${String(messages.size).padStart(6, '0')}`
      messages.set(ts, { ...body, ts })
      return { ok: true, channel: CHANNEL, ts }
    }
    if (method === 'chat.update') {
      const known = messages.get(String(body['ts']))
      if (known === undefined) return { ok: false, error: 'message_not_found' }
      messages.set(known.ts, { ...known, ...body, ts: known.ts })
      return { ok: true, ts: known.ts }
    }
    return { ok: true, messages: [...messages.values()].filter(({ ts }) => Number(ts) >= Number(body['oldest'])) }
  }
  const { url } = await opening.open((request, response) => {
    void read(request).then(({ path, headers, body }) => {
      const call = { method: path.split('/').at(-1)!, body: parseMap(body)! }
      expect(headers['authorization']).toBe(`Bearer ${TOKEN}`)
      const { channel, metadata: _metadata, ts: _ts, thread_ts: _thread, reply_broadcast: _all, ...message } = call.body
      expect(channel).toBe(CHANNEL)
      if (call.method !== 'conversations.history') expect(slackProblems(message)).toEqual([])
      calls.push(call)
      const given = answers.get(call.method)
      response.writeHead(given?.status ?? 200, given?.headers ?? {}).end(JSON.stringify(given?.body ?? answer(call)))
    })
  })
  const receiver = () => slackBot({ token: TOKEN, channel: CHANNEL, apiUrl: url }, { clock: virtualClock(AT) })
  const bot = () => {
    const { send, edit } = receiver()
    return async (message: Message) =>
      message.kind === 'alerts' && message.about === 'edit' ? edit(message) : send(message)
  }
  return { receiver, calls, messages, answers, bot, methods: () => calls.map(({ method }) => method) }
}

/** The time stamp of a message. */
const tsOf = (id: string | undefined) => id!.split(' ')[1]!

const shown = ({ text }: Record<string, unknown>) => String(text)

describe('a bot', () => {
  test('posts an incident once, edits it, and says reminders and the end in its thread', async () => {
    const { receiver, messages, methods } = await slackApi()
    const { send, edit } = receiver()
    const posted = await send(messageOf([FIRING]))
    expect(messages.get(tsOf(posted))).toMatchObject({
      channel: CHANNEL,
      metadata: { event_type: 'callwatch_incident' },
    })
    const following = (alerts: Parameters<typeof messageOf>[0], given: Partial<AlertMessage> = {}) =>
      send(messageOf(alerts, { thread: posted!, ...given }))
    const current = messageOf([{ ...FIRING, value: 0.9 }], { thread: posted!, about: 'edit' })
    expect(await edit(current)).toBe(posted)
    expect(messages.size).toBe(1)
    await following([REMINDER], { about: 'reminder' })
    await following([RESOLVED], { about: 'ended' })
    await edit(messageOf([RESOLVED], { thread: posted!, about: 'ended' }))
    const [root, ...replies] = [...messages.values()]
    expect(replies.map((reply) => reply['thread_ts'])).toEqual([tsOf(posted), tsOf(posted)])
    expect(replies.map(shown)).toEqual([expect.stringMatching(/still critical/), expect.stringMatching(/^✅/)])
    expect(shown(root!)).toMatch(/^✅/)
    expect(methods()).toEqual([
      'chat.postMessage',
      'chat.update',
      'chat.postMessage',
      'chat.postMessage',
      'chat.update',
    ])
  })

  test('does not send what the message shows already', async () => {
    const { bot, methods } = await slackApi()
    const send = bot()
    const posted = await send(messageOf([FIRING]))
    const edit = messageOf([{ ...FIRING, value: 0.9 }], { thread: posted!, about: 'edit' })
    for (const _time of [1, 2, 3]) await send(edit)
    expect(methods()).toEqual(['chat.postMessage', 'chat.update'])
  })

  test('posts a message that was deleted again', async () => {
    const { bot, messages } = await slackApi()
    const send = bot()
    const posted = await send(messageOf([FIRING]))
    messages.clear()
    messages.set('1.0', { ts: '1.0' })
    const again = await send(messageOf([FIRING], { thread: posted!, about: 'edit' }))
    expect(again).not.toBe(posted)
    expect(messages.get(tsOf(again))).toBeDefined()
  })

  test('finds the message that an attempt without an answer has posted', async () => {
    const { bot, messages, methods } = await slackApi()
    const posted = await bot()(messageOf([FIRING]))
    await bot()(messageOf([FIRING], { id: 'another' }))
    expect(await bot()(messageOf([FIRING], { unanswered: [{ id: 'a drawn id', at: AT }] }))).toBe(posted)
    expect(messages.size).toBe(2)
    expect(methods().slice(2)).toEqual(['conversations.history'])
  })

  test('posts once more if it may not read the channel', async () => {
    const { bot, messages, answers } = await slackApi()
    answers.set('conversations.history', { body: { ok: false, error: 'missing_scope', needed: 'channels:history' } })
    await bot()(messageOf([FIRING]))
    await bot()(messageOf([FIRING], { unanswered: [{ id: 'a drawn id', at: AT }] }))
    expect(messages.size).toBe(2)
  })

  test('tells the channel that an incident has become more severe', async () => {
    const { bot, messages } = await slackApi()
    const send = bot()
    const posted = await send(messageOf([{ ...FIRING, severity: 'warning' }], { severity: 'warning' }))
    await send(messageOf([FIRING], { thread: posted!, about: 'worse' }))
    expect([...messages.values()].at(-1)).toMatchObject({ thread_ts: tsOf(posted), reply_broadcast: true })
  })

  test('finds its message in a channel with long messages', async () => {
    const { bot, messages, answers } = await slackApi()
    const posted = await bot()(messageOf([FIRING]))
    const long = Array.from({ length: 60 }, (_, i) => ({ ts: `${AT}.9${i}`, text: 'x'.repeat(3000) }))
    answers.set('conversations.history', { body: { ok: true, messages: [...long, ...messages.values()] } })
    expect(await bot()(messageOf([FIRING], { unanswered: [{ id: 'a drawn id', at: AT }] }))).toBe(posted)
  })

  test.each([
    [429, 'ratelimited'],
    [200, 'internal_error'],
  ])('posts nothing while Slack cannot say whether it has posted: %d %s', async (status, error) => {
    const { bot, messages, answers } = await slackApi()
    await bot()(messageOf([FIRING]))
    answers.set('conversations.history', { status, body: { ok: false, error } })
    expect(await failure(bot()(messageOf([FIRING], { unanswered: [{ id: 'a drawn id', at: AT }] })))).toMatchObject({
      retryable: true,
    })
    expect(messages.size).toBe(1)
  })

  test('posts what is no incident, and edits nothing of it', async () => {
    const { bot, methods } = await slackApi()
    expect(await bot()(DAILY)).toBeUndefined()
    expect(methods()).toEqual(['chat.postMessage'])
  })

  test.each([
    ['not_in_channel', 'invite the bot to the channel'],
    ['is_archived', 'unarchive the channel'],
    ['token_revoked', 'install the bot again'],
    ['invalid_auth', 'check notify.slack.token'],
    ['channel_not_found', 'check notify.slack.channel'],
  ])('says what to do about %s', async (error, remedy) => {
    const { bot, answers } = await slackApi()
    answers.set('chat.postMessage', { body: { ok: false, error } })
    const { message, retryable } = await failure(bot()(messageOf([FIRING])))
    expect(message).toContain(`(${error}: ${remedy}`)
    expect(message).not.toContain(TOKEN)
    expect(retryable).toBe(false)
  })

  test('names the scope that it lacks', async () => {
    const { bot, answers } = await slackApi()
    answers.set('chat.postMessage', { body: { ok: false, error: 'missing_scope', needed: 'chat:write' } })
    const { message } = await failure(bot()(messageOf([FIRING])))
    expect(message).toContain('(missing_scope chat:write: give the bot the scope chat:write')
  })

  test('waits as long as Slack asks it to', async () => {
    const { bot, answers } = await slackApi()
    const body = { ok: false, error: 'ratelimited' }
    answers.set('chat.update', { status: 429, headers: { 'retry-after': '30' }, body })
    const send = bot()
    const posted = await send(messageOf([FIRING]))
    const edit = send(messageOf([{ ...FIRING, value: 0.9 }], { thread: posted!, about: 'edit' }))
    expect(await failure(edit)).toMatchObject({ retryable: true, retryAfter: 30 })
  })
})
