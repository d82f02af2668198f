import type { Clock } from '../../../clock/clock.ts'
import { DeliveryError } from '../../../network/delivery-error.ts'
import { httpSender } from '../../../network/http-sender.ts'
import { isMap, parseMap, valueAt } from '../../../schema/path.ts'
import type { AlertMessage } from '../../message.ts'
import { wholeGroup } from '../../text/group-text.ts'
import type { Send, SendContext } from '../../receiver.ts'
import { hashOf } from '../../hash.ts'
import type { SlackMessage } from './slack-blocks.ts'
import { slackMessage } from './slack-message.ts'
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

/** Slack has failed, and may have done what it was asked to do. */
const TRANSIENT = ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org']

/** The bot may not read the channel. */
const UNREADABLE = ['missing_scope', 'not_in_channel', 'channel_not_found', 'no_permission']

/** The most bytes of an answer that are read: some hundred messages. */
const MAX_ANSWER = 4 * 1024 * 1024
/** Ages in an edited message are as of so many seconds, so that it does not change each time that it is made. */
const AGE_SECONDS = 300
/** The clocks of callwatch and Slack may be so far apart (seconds). */
const SKEW_SECONDS = 300

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

  const postMessage = methodOf('chat.postMessage', config, clock)
  const update = methodOf('chat.update', config, clock, GONE)
  const history = methodOf('conversations.history', config, clock, UNREADABLE)

  async function post(message: SlackMessage, more: Record<string, unknown> = {}): Promise<string> {
    const { ts } = await postMessage({ channel, ...message, ...more })
    return String(ts)
  }

  /** Whether the message still exists. */
  async function edit(ts: string, message: SlackMessage): Promise<boolean> {
    const text = JSON.stringify(message)
    if (shown.get(ts) === text) return true
    const { ok } = await update({ channel, ts, ...message })
    if (ok === true) shown.set(ts, text)
    return ok === true
  }

  /** A reply whose answer is lost is not repeated: the message itself says the same. */
  async function reply(ts: string, message: AlertMessage): Promise<void> {
    const said = slackMessage(message, { now: clock.wall(), dashboardUrl })
    const place = { thread_ts: ts, ...(message.isWorse === true && { reply_broadcast: true }) }
    await post(said, place).catch((error: unknown) => {
      if (!(error instanceof DeliveryError && error.mayHaveArrived)) throw error
    })
  }

  /** The newest message of an incident, if an attempt that got no answer has posted it, and the bot may read the channel. */
  async function find(id: string, since: number): Promise<string | undefined> {
    const asked = { channel, oldest: String(since - SKEW_SECONDS), limit: LOOKED_AT, include_all_metadata: true }
    const { messages } = await history(asked)
    const all: unknown[] = Array.isArray(messages) ? messages : []
    const own = all.filter(isMap).filter((one) => valueAt(one, ['metadata', 'event_payload', 'id']) === id)
    return own.map(({ ts }) => String(ts)).toSorted((a, b) => Number(b) - Number(a))[0]
  }

  async function showIncident(message: AlertMessage): Promise<string> {
    const { posted, begun, isEdit, incident } = message
    const now = isEdit === true ? Math.floor(clock.wall() / AGE_SECONDS) * AGE_SECONDS : clock.wall()
    // The message of a single target lists each alert.
    const own = slackMessage({ ...message, alerts: wholeGroup(message) }, { now, dashboardUrl })
    // Names the incidents of a group in the metadata of their messages.
    const id = hashOf(name, message.group)
    const known = posted ?? (message.mayBePosted === true ? await find(id, begun) : undefined)
    if (known === undefined || !(await edit(known, own)))
      return post(own, { metadata: { event_type: EVENT, event_payload: { id } } })
    if (incident === undefined) shown.delete(known)
    if (isEdit !== true && posted !== undefined) await reply(known, message)
    return known
  }

  return async (message) => {
    if (message.kind === 'alerts') return showIncident(message)
    await post(slackMessage(message, { now: clock.wall(), dashboardUrl }))
    return undefined
  }
}

/**
 * A method of the API, which resolves to its answer.
 *
 * @param answers the errors that are answers, too
 */
function methodOf(
  method: string,
  { token, apiUrl = 'https://slack.com/api' }: BotConfig,
  clock: Clock,
  answers: readonly string[] = [],
) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' }
  let answer: Record<string, unknown> = {}
  const read = (text: string) => {
    answer = parseMap(text) ?? {}
    const { error } = answer
    if (!TRANSIENT.some((code) => code === error)) return answer
    throw new DeliveryError(`Slack answered ${String(error)}`, { retryable: true, mayHaveArrived: true })
  }
  const deliver = httpSender({
    receiver: 'Slack',
    url: `${apiUrl.replace(/\/$/, '')}/${method}`,
    clock,
    maxBytes: MAX_ANSWER,
    accepts: (text) => {
      const { ok, error } = read(text)
      return answers.some((code) => code === error) || [true, false].find((each) => each === ok)
    },
    reasonIn: (text) => reasonOf(read(text)),
  })
  return async (body: object): Promise<Record<string, unknown>> => {
    await deliver((request) => request({ method: 'POST', headers, body: JSON.stringify(body) }))
    return answer
  }
}

/** Only a code of Slack is shown, with what to do about it. */
function reasonOf({ error, needed }: Record<string, unknown>): string | undefined {
  if (typeof error !== 'string' || !/^[a-z_]{1,60}$/.test(error)) return undefined
  const scope = typeof needed === 'string' && /^[a-z:.,]{1,60}$/.test(needed) ? ` ${needed}` : ''
  const remedy = REMEDIES[error]
  return `${error}${scope}${remedy === undefined ? '' : `: ${remedy}`}`
}
