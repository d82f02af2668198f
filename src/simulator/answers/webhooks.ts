import type { LedgerEvent } from '../calls/ledger.ts'
import { between, hex } from '../random.ts'
import { insert } from '../sorted.ts'
import { drawFault, webhookFaultNames, type WebhookFault } from './faults.ts'
import type { CallsService } from './service.ts'

/** A webhook to send at a time (milliseconds since 1970). */
export type SimulatedWebhook = { ms: number; body: string; isForged: boolean; attempts: number }

/** How many were sent, and those that were lost: which call, and what of it. */
export type SentWebhooks = { sent: number; lost: { sessionId: string; trigger: string }[] }

export type Webhooks = {
  sent: SentWebhooks
  /** What is due at the current time of the world. */
  due: () => SimulatedWebhook[]
  /** Repeats a webhook that was not delivered, after 10 and 30 s. */
  failed: (webhook: SimulatedWebhook) => void
}

/** The app of the simulated service. */
export const SIMULATED_APP = 'simulator'
const RETRY_MS = [10_000, 30_000]
const SEND_INTERVAL_MS = 50

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

/** The webhooks of everything that happens from now on, as the vendor's reference describes them, and their faults. */
export function newWebhooks(service: CallsService): Webhooks {
  const { world } = service
  const random = service.streams.webhooks
  const planned: SimulatedWebhook[] = []
  const sent: SentWebhooks = { sent: 0, lost: [] }
  let position = world.ledger.length

  function plan(ms: number, body: string, isForged = false, attempts = 0): void {
    insert(planned, { ms, body, isForged, attempts }, (a, b) => a.ms <= b.ms)
  }

  const effects: Record<WebhookFault, (ms: number, event: LedgerEvent, trigger: string) => void> = {
    lost: (_ms, { sessionId }, trigger) => void sent.lost.push({ sessionId, trigger }),
    late: (ms, event, trigger) => plan(ms + between(random, 5000, 60_000), bodyOf(event, trigger)),
    twice: (ms, event, trigger) => {
      for (const delay of [0, 10_000]) plan(ms + delay, bodyOf(event, trigger))
    },
    reordered: (ms, event, trigger) => plan(ms + between(random, 500, 3000), bodyOf(event, trigger)),
    other_app: (ms, event, trigger) => {
      for (const app of [SIMULATED_APP, 'another']) plan(ms, bodyOf(event, trigger, app))
    },
    forged: (ms, event, trigger) => {
      plan(ms, bodyOf(event, trigger))
      plan(ms, bodyOf({ ...event, sessionId: hex(random, 24) }, trigger), true)
    },
  }

  return {
    sent,
    due: () => {
      for (; position < world.ledger.length; position++) {
        const event = world.ledger[position]!
        const trigger = (event.mode === 'call' ? RINGING : MEETING)[event.event]
        if (trigger === undefined) continue
        const fault = drawFault(random, webhookFaultNames, service.switches.webhookFault)
        if (fault === undefined) plan(event.at * 1000, bodyOf(event, trigger))
        else effects[fault](event.at * 1000, event, trigger)
      }
      const later = planned.findIndex(({ ms }) => ms > world.nowMs)
      const due = planned.splice(0, later === -1 ? planned.length : later)
      sent.sent += due.length
      return due
    },
    failed: ({ body, isForged, attempts }) => {
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
    try {
      const { ok } = await fetch(to.origin + to.pathname, { method: 'POST', headers, body: webhook.body })
      if (!ok) failed(webhook)
    } catch {
      failed(webhook)
    }
  }
  const timer = setInterval(() => {
    now()
    for (const webhook of due()) void send(webhook)
  }, SEND_INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Session events have the id at the top, ringing events far below. Both have users' names. */
function bodyOf({ sessionId, at, type, mode, status }: LedgerEvent, trigger: string, appId = SIMULATED_APP): string {
  const sender = { uid: 'user-1', name: 'Robin Example' }
  const entity = { sessionid: sessionId, type, status, mode }
  const isSession = ['started', 'ended'].some((event) => trigger.endsWith(`_${event}`))
  const data = isSession
    ? { sessionId, user: sender, sentAt: Math.floor(at) }
    : { call: { sentAt: Math.floor(at), data: { entities: { by: { entity: sender }, on: { entity } } } } }
  const kind = isSession ? { type: mode === 'call' ? 'call' : 'meet' } : {}
  return JSON.stringify({ trigger, data, appId, region: 'us', webhook: 'simulated-webhook', ...kind })
}
