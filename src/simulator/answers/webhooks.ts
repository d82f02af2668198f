import { request } from 'undici'
import type { LedgerEvent } from '../calls/ledger.ts'
import { SIMULATED_APP, withPrefix } from '../calls/session-id.ts'
import { between, hex } from '../random.ts'
import { insert } from '../sorted.ts'
import { drawFault, webhookFaultNames, type WebhookFault } from './faults.ts'
import type { CallsService } from './service.ts'

/** A webhook to send at a time (milliseconds since 1970). */
export type SimulatedWebhook = { ms: number; body: string; isForged: boolean; attempts: number }

/** How many were sent, and those that were lost: which call, and what of it. */
export type SentWebhooks = { sent: number; lost: { sessionId: string; trigger: string }[] }

export type Webhooks = ReturnType<typeof newWebhooks>

const RETRY_MS = [10_000, 30_000]
const SEND_INTERVAL_MS = 50
/** The faults in place of the webhook. With others it comes, and another one after it. */
const REPLACED: readonly (WebhookFault | undefined)[] = ['lost', 'late', 'reordered']

/** The ledger's events that have a webhook, for calls that ring. */
const RINGING: Readonly<Record<string, string>> = {
  initiated: 'call_initiated',
  ongoing: 'call_started',
  ended: 'call_ended',
  unanswered: 'call_unanswered',
  rejected: 'call_rejected',
  canceled: 'call_cancelled',
}
const MEETING: Readonly<Record<string, string>> = { ongoing: 'meeting_started', ended: 'meeting_ended' }

/** The trigger of the webhook about an event of the ledger, if it has one. */
export function triggerOf({ mode, event }: LedgerEvent): string | undefined {
  return (mode === 'call' ? RINGING : MEETING)[event]
}

/** The webhooks of everything that happens from now on, as the vendor's reference describes them, and their faults. */
export function newWebhooks(service: CallsService) {
  const { world } = service
  const random = service.streams.webhooks
  const planned: SimulatedWebhook[] = []
  const sent: SentWebhooks = { sent: 0, lost: [] }
  let position = world.ledger.length

  function plan(ms: number, body: string, isForged = false, attempts = 0): void {
    insert(planned, { ms, body, isForged, attempts }, (a, b) => a.ms <= b.ms)
  }

  const effects: Record<WebhookFault, (ms: number, event: LedgerEvent) => void> = {
    lost: (_ms, event) => void sent.lost.push({ sessionId: event.sessionId, trigger: triggerOf(event)! }),
    late: (ms, event) => plan(ms + between(random, 5000, 60_000), bodyOf(event)),
    reordered: (ms, event) => plan(ms + between(random, 500, 3000), bodyOf(event)),
    twice: (ms, event) => plan(ms + 10_000, bodyOf(event)),
    other_app: (ms, event) => plan(ms, bodyOf(event, 'another')),
    forged: (ms, event) => plan(ms, bodyOf({ ...event, sessionId: hex(random, 24) }), true),
  }

  return {
    sent,
    /** What is due at the current time of the world. */
    due: (): SimulatedWebhook[] => {
      for (; position < world.ledger.length; position++) {
        const event = world.ledger[position]!
        if (triggerOf(event) === undefined) continue
        const fault = drawFault(random, webhookFaultNames, service.switches.webhookFault)
        if (!REPLACED.includes(fault)) plan(event.at * 1000, bodyOf(event))
        if (fault !== undefined) effects[fault](event.at * 1000, event)
      }
      const later = planned.findIndex(({ ms }) => ms > world.nowMs)
      const due = planned.splice(0, later === -1 ? planned.length : later)
      sent.sent += due.length
      return due
    },
    /** Repeats a webhook that was not delivered, after 10 and 30 s. */
    failed: ({ body, isForged, attempts }: SimulatedWebhook): void => {
      const delay = RETRY_MS[attempts]
      if (delay !== undefined && !isForged) plan(world.nowMs + delay, body, false, attempts + 1)
    },
  }
}

/** Sends what is due, until the returned function is called. */
export function sendWebhooks({ due, failed }: Webhooks, to: URL, now: () => number): () => void {
  const send = async (webhook: SimulatedWebhook) => {
    const { username, password } = to
    const user = `${decodeURIComponent(username)}:${webhook.isForged ? 'guessed' : decodeURIComponent(password)}`
    const headers = {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(user).toString('base64')}`,
    }
    const answer = request(to.origin + to.pathname, { method: 'POST', headers, body: webhook.body })
    const status = await answer.then(
      ({ statusCode, body }) => body.dump().then(() => statusCode),
      () => 0,
    )
    if (status < 200 || status >= 300) failed(webhook)
  }
  const timer = setInterval(() => {
    now()
    for (const webhook of due()) void send(webhook)
  }, SEND_INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

const TEAM = { uid: 'user-1', name: 'Name of user-1', avatar: 'https://avatars.invalid/user-1.png' }

/** The bodies as they were seen: session events have the id at the top, ringing events far below. All have users' names. */
function bodyOf(event: LedgerEvent, appId = SIMULATED_APP): string {
  const trigger = triggerOf(event)!
  const { mode } = event
  const isSession = ['started', 'ended'].some((what) => trigger.endsWith(`_${what}`))
  const data = isSession ? sessionData(event) : { call: ringingData(event) }
  const kind = isSession ? { type: mode === 'call' ? 'call' : 'meet' } : {}
  return JSON.stringify({ trigger, data, appId, region: 'us', webhook: 'simulated-webhook', ...kind })
}

function sessionData({ sessionId, event, at, startedAt }: LedgerEvent): object {
  const created = startedAt ?? Math.floor(at)
  const times = event === 'ended' ? { created_at: created, destroyed_at: Math.floor(at) } : { created_at: created }
  return { sessionId: withPrefix(sessionId), ...times, occupant: TEAM, all_occupants: [TEAM] }
}

function ringingData({ sessionId, event, at, type, mode, status, receiverType }: LedgerEvent): object {
  const on = { entity: { sessionid: withPrefix(sessionId), type, status, mode }, entityType: 'call' }
  return {
    id: String(Math.floor(at * 1000)),
    conversationId: 'user-1_user_user-2',
    sender: TEAM.uid,
    receiver: 'user-2',
    receiverType,
    category: 'call',
    type,
    data: { action: event, entities: { by: { entity: TEAM, entityType: 'user' }, on } },
    sentAt: Math.floor(at),
    updatedAt: Math.floor(at),
  }
}
