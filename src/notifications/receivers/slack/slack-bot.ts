import { createHash } from 'node:crypto'
import type { Clock } from '../../../clock/clock.ts'
import { DeliveryError } from '../../../network/delivery-error.ts'
import { httpSender } from '../../../network/http-sender.ts'
import { isMap, parseMap } from '../../../schema/path.ts'
import type { AlertMessage } from '../../message.ts'
import type { Send, SendContext } from '../../receiver.ts'
import type { SlackMessage } from './slack-blocks.ts'
import { slackMessage } from './slack-send.ts'
import type { SlackConfig } from './slack.ts'

type BotConfig = SlackConfig & { token: string; channel: string }

/** What to do about an error of Slack's API (https://docs.slack.dev/reference/methods/chat.postMessage). */
const REMEDIES: Readonly<Record<string, string>> = {
  not_in_channel: 'invite the bot to the channel, or give it the scope chat:write.public',
  channel_not_found: 'check notify.slack.channel, and invite the bot to it if it is private',
  is_archived: 'unarchive the channel, or name another one in notify.slack.channel',
  missing_scope: 'give the bot the scope chat:write, and install it again',
  invalid_auth: 'check notify.slack.token',
  not_authed: 'check notify.slack.token',
  token_revoked: 'install the bot again, and use its new token',
  token_expired: 'install the bot again, and use its new token',
  account_inactive: 'install the bot again, and use its new token',
  restricted_action: 'let the bot post to the channel',
}

/** The message cannot be edited any more. */
const GONE = ['message_not_found', 'cant_update_message', 'edit_window_closed']

/** The metadata by which a message is found again whose answer was lost. */
const EVENT = 'callwatch_incident'
/** A message is looked for among so many of the channel since its incident began. */
const LOOKED_AT = 100

/**
 * Posts one message for each incident, edits it while the incident lasts, and says reminders and the end in its thread. Other messages
 * are posted. Resolves to the message's time stamp, by which it is edited.
 */
export function slackBot(
  config: BotConfig,
  { clock, name }: Pick<SendContext, 'clock' | 'name'>,
): Send<string | undefined> {
  const { channel, dashboardUrl } = config
  /** The last text of each message that is edited. An equal one is not sent again. */
  const shown = new Map<string, string>()

  const call = caller(config, clock)

  async function post(message: SlackMessage, more: Record<string, unknown> = {}): Promise<string> {
    const { ts } = await call('chat.postMessage', { channel, ...message, ...more })
    return String(ts)
  }

  /** Whether the message still exists. */
  async function edit(ts: string, message: SlackMessage): Promise<boolean> {
    const text = JSON.stringify(message)
    if (shown.get(ts) === text) return true
    try {
      await call('chat.update', { channel, ts, ...message })
    } catch (error) {
      if (error instanceof Refused && GONE.includes(error.code)) return false
      throw error
    }
    shown.set(ts, text)
    return true
  }

  /** The message of an incident, if an attempt that got no answer has posted it, and the bot may read the channel. */
  async function find(id: string, since: number): Promise<string | undefined> {
    const asked = { channel, oldest: String(since), limit: LOOKED_AT, include_all_metadata: true }
    const { messages } = await call('conversations.history', asked).catch((error: unknown) => {
      if (error instanceof Refused) return { messages: [] }
      throw error
    })
    const all: unknown[] = Array.isArray(messages) ? messages : []
    const found = all.filter(isMap).find(({ metadata }) => isMap(metadata) && idIn(metadata) === id)
    return found && String(found['ts'])
  }

  async function showIncident(message: AlertMessage): Promise<string> {
    const own = slackMessage(message, { now: clock.wall(), dashboardUrl })
    const id = createHash('sha256').update(JSON.stringify([name, message.group, message.begun])).digest('hex').slice(0, 32) // oxfmt-ignore
    const metadata = { event_type: EVENT, event_payload: { id } }
    const known = message.posted ?? (message.mayBePosted ? await find(id, message.begun) : undefined)
    if (known === undefined || !(await edit(known, own))) return post(own, { metadata })
    if (message.incident === undefined) shown.delete(known)
    if (!message.isEdit && isSaid(message)) await post(own, { thread_ts: known })
    return known
  }

  return async (message) => {
    if (message.kind === 'alerts') return showIncident(message)
    await post(slackMessage(message, { now: clock.wall(), dashboardUrl }))
    return undefined
  }
}

/** Calls a method of the API, and resolves to its answer. */
function caller({ token, apiUrl = 'https://slack.com/api' }: BotConfig, clock: Clock) {
  return async (method: string, body: Record<string, unknown>): Promise<Record<string, unknown>> => {
    let answer: Record<string, unknown> = {}
    const read = (text: string) => (answer = parseMap(text) ?? {})
    const deliver = httpSender({
      receiver: 'Slack',
      url: `${apiUrl.replace(/\/$/, '')}/${method}`,
      clock,
      accepts: (text) => [true, false].find((each) => read(text)['ok'] === each),
      reasonIn: (text) => reasonOf(read(text)),
    })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' }
    await deliver((request) => request({ method: 'POST', headers, body: JSON.stringify(body) })).catch(
      (error: unknown) => {
        throw refusedWith(error, answer)
      },
    )
    return answer
  }
}

/** Whether a message is said in the thread: the end, and reminders. */
function isSaid({ incident, alerts }: AlertMessage): boolean {
  return incident === undefined || alerts.some(({ notification }) => notification.kind === 'reminder')
}

function idIn({ event_type: type, event_payload: payload }: Record<string, unknown>): unknown {
  return type === EVENT && isMap(payload) ? payload['id'] : undefined
}

/** A refusal by the API, with its code. */
class Refused extends DeliveryError {
  readonly code: string

  constructor(code: string, error: DeliveryError) {
    super(error.message, error)
    this.code = code
  }
}

function refusedWith(error: unknown, { error: code }: Record<string, unknown>): unknown {
  return error instanceof DeliveryError && typeof code === 'string' ? new Refused(code, error) : error
}

/** Only a code of Slack is shown, with what to do about it. */
function reasonOf({ error, needed }: Record<string, unknown>): string | undefined {
  if (typeof error !== 'string' || !/^[a-z_]{1,60}$/.test(error)) return undefined
  const scope = typeof needed === 'string' && /^[a-z:.,]{1,60}$/.test(needed) ? ` ${needed}` : ''
  const remedy = REMEDIES[error]
  return `${error}${scope}${remedy === undefined ? '' : `: ${remedy}`}`
}
