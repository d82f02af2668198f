import type { Clock } from '../../../clock/clock.ts'
import { DeliveryError } from '../../../network/delivery-error.ts'
import { httpSender } from '../../../network/http-sender.ts'
import { isMap, parseMap, valueAt } from '../../../schema/path.ts'
import type { AlertMessage, Message } from '../../message.ts'
import { hashOf } from '../../hash.ts'
import { wholeGroup } from '../../text/group-text.ts'
import type { SendContext } from '../../receiver.ts'
import type { SlackMessage } from './slack-blocks.ts'
import { slackContinued, slackMessage } from './slack-message.ts'
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

/** Somebody deleted the message, or the workspace does not let it be edited. */
const GONE = 'message_not_found'
const FIXED = ['cant_update_message', 'edit_window_closed']

/** Slack asks to wait, in an answer of status 200: for so long (seconds), since it does not say for how long. */
const LIMITED = ['rate_limited', 'ratelimited']
const LIMITED_SECONDS = 10

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
/** A message is looked for among so many of the channel since it may have been sent. */
const LOOKED_AT = 100

/** A message: its channel and its time stamp there. */
type Place = { channel: string; ts: string }

/**
 * Posts one message for each incident, edits it while the incident lasts, and replies to it with what changes. Other messages are
 * posted. What identifies a message is its channel and its time stamp. If the configured channel is another one, or somebody deleted the
 * message, it is posted again; of one that may not be edited only the replies go on.
 */
export function slackBot(config: BotConfig, { clock }: Pick<SendContext, 'clock'>) {
  const { channel } = config
  const postMessage = methodOf('chat.postMessage', config, clock)
  const { show, forget } = edits(methodOf('chat.update', config, clock, [GONE, ...FIXED]))
  const history = methodOf('conversations.history', config, clock, UNREADABLE)

  /** @returns the message, and in which thread it is, if Slack says so */
  async function post(message: SlackMessage, more: Record<string, unknown> = {}) {
    const { ts, message: posted } = await postMessage({ channel, ...message, ...more })
    return { id: idOf({ channel, ts: String(ts) }), posted }
  }

  async function postIncident(message: AlertMessage, now = clock.wall()): Promise<string> {
    const metadata = { event_type: EVENT, event_payload: { id: message.id } }
    return (await post(wholeMessage(message, now), { metadata })).id
  }

  /** The message of a single target lists each alert. */
  const wholeMessage = (message: AlertMessage, now: number) =>
    slackMessage({ ...message, alerts: wholeGroup(message) }, { now })

  /** @returns the message; the reply, if Slack could only post it to the channel because somebody deleted the message */
  async function reply(thread: Place, message: AlertMessage): Promise<string> {
    const said = slackMessage(message, { now: clock.wall() })
    const isWorse = message.about === 'worse'
    const { id, posted } = await post(said, { thread_ts: thread.ts, ...(isWorse && { reply_broadcast: true }) })
    return isMap(posted) && posted['thread_ts'] === undefined ? id : idOf(thread)
  }

  /** The newest message of these attempts, one of which may have posted it, if the bot may read the channel. */
  async function find(attempts: AlertMessage['unanswered']): Promise<Place | undefined> {
    if (attempts.length === 0) return undefined
    const oldest = String(Math.min(...attempts.map(({ at }) => at)) - SKEW_SECONDS)
    const { messages } = await history({ channel, oldest, limit: LOOKED_AT, include_all_metadata: true })
    const ts = newestOf(attempts, messages)
    return ts === undefined ? undefined : { channel, ts }
  }

  async function sendIncident(message: AlertMessage): Promise<string> {
    const { about, thread, unanswered } = message
    const place = placeOf(thread)
    const known = place?.channel === channel ? place : await find(unanswered)
    if (known === undefined) return postIncident(message)
    // What was found is this message.
    return thread === undefined && about === 'begins' ? idOf(known) : reply(known, message)
  }

  async function edit(message: AlertMessage): Promise<string | undefined> {
    const { about, thread, continuesIn } = message
    const [place, next] = [placeOf(thread), placeOf(continuesIn)]
    const now = Math.floor(clock.wall() / AGE_SECONDS) * AGE_SECONDS
    if (about === 'edit' && next === undefined) {
      const state = place?.channel === channel ? await show(place, wholeMessage(message, now)) : 'gone'
      if (state === 'gone') return postIncident(message, now)
      return state === 'shown' ? thread : undefined
    }
    // It is edited for the last time.
    if (place === undefined) return undefined
    await show(place, next === undefined ? wholeMessage(message, now) : slackContinued(message, next))
    forget(place)
    return thread
  }

  return {
    send: async (message: Message): Promise<string | undefined> => {
      if (message.kind === 'alerts') return sendIncident(message)
      await post(slackMessage(message, { now: clock.wall() }))
      return undefined
    },
    edit,
    account: hashOf(config.token, config.apiUrl),
  }
}

/** The time stamp of the newest of the messages of a channel that belong to these attempts. */
function newestOf(attempts: AlertMessage['unanswered'], messages: unknown): string | undefined {
  const ids = new Set<unknown>(attempts.map(({ id }) => id))
  const all: unknown[] = Array.isArray(messages) ? messages : []
  const own = all.filter(isMap).filter((one) => ids.has(valueAt(one, ['metadata', 'event_payload', 'id'])))
  return own.map(({ ts }) => String(ts)).toSorted((a, b) => Number(b) - Number(a))[0]
}

/** The messages that are edited, by the method that does so. */
function edits(update: (body: object) => Promise<Record<string, unknown>>) {
  /** The last text of each message; an equal one is not sent again. And the messages that may not be edited. */
  const shown = new Map<string, string>()
  const fixed = new Set<string>()

  async function show(place: Place, message: SlackMessage): Promise<'shown' | 'gone' | 'fixed'> {
    const [id, text] = [idOf(place), JSON.stringify(message)]
    if (fixed.has(id)) return 'fixed'
    if (shown.get(id) === text) return 'shown'
    const { ok, error } = await update({ ...place, ...message })
    if (error === GONE) return 'gone'
    if (ok === true) shown.set(id, text)
    else fixed.add(id)
    return ok === true ? 'shown' : 'fixed'
  }

  const forget = (place: Place) => [shown, fixed].forEach((known) => known.delete(idOf(place)))
  return { show, forget }
}

const idOf = ({ channel, ts }: Place) => `${channel} ${ts}`

/** Before, the receiver of this name may have been one that identifies its messages in another way. */
function placeOf(id = ''): Place | undefined {
  const [channel = '', ts] = id.split(' ')
  return ts === undefined ? undefined : { channel, ts }
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
      if (LIMITED.some((code) => code === error))
        throw new DeliveryError(`Slack answered ${String(error)}`, { retryable: true, retryAfter: LIMITED_SECONDS })
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
