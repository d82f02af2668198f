import type { ReceiverName } from '../../../src/notifications/receivers.ts'
import { alertmanagerPost } from '../../../src/notifications/receivers/alertmanager/alertmanager-refresh.ts'
import { alertmanagerAlert } from '../../../src/notifications/receivers/alertmanager/alertmanager-alert.ts'
import { heartbeats } from '../../../src/notifications/receivers/heartbeat/heartbeats.ts'
import { slackSend } from '../../../src/notifications/receivers/slack/slack-send.ts'
import { webhookSend } from '../../../src/notifications/receivers/webhook/webhook-send.ts'
import type { virtualClock } from '../../kit/virtual-clock.ts'
import { AT, FIRING, messageOf } from '../../kit/notifications/sample.ts'
import { firingSince } from '../../kit/notifications/receivers/alertmanager/alertmanager-sample.ts'

/** How each receiver delivers by HTTP. */
export type HttpReceiver = {
  /** As problems name it. */
  called: string
  /** Makes deliveries to an address. */
  open: (url: string, clock: Clock) => () => Promise<void>
  /** What it answers when it has accepted a message; undefined if any 2xx means that. */
  accepted?: string
  /** Whether it looks for a refusal in a 2xx. */
  readsSuccess: boolean
  /** Whether it reads a refusal; else the status is enough. */
  reads: boolean
  /** What it repeats of a refusal, by the refusal's body. */
  reasons: readonly (readonly [body: string, reason: string])[]
}

type Clock = ReturnType<typeof virtualClock>

export const HTTP_RECEIVERS: Record<Exclude<ReceiverName, 'email'>, HttpReceiver> = {
  slack: {
    called: 'Slack',
    accepted: 'ok',
    open: (url, clock) => {
      const send = slackSend({ webhookUrl: url }, { clock })
      return () => send(messageOf([FIRING]))
    },
    readsSuccess: true,
    reads: true,
    reasons: [
      ['invalid_blocks', 'invalid_blocks'],
      ['channel_is_archived', 'channel_is_archived'],
      ['', ''],
    ],
  },
  alertmanager: {
    called: 'Alertmanager',
    open: (url, clock) => {
      const post = alertmanagerPost({ url, clock })
      return async () => void (await post([alertmanagerAlert(firingSince(AT), { now: AT, endsAt: AT })]))
    },
    readsSuccess: false,
    reads: true,
    reasons: [
      ['"start time missing"\n', 'start time missing'],
      ['{"code":601,"message":"no uri"}', 'no uri'],
      [JSON.stringify('x'.repeat(9999)), 'x'.repeat(300)],
      ['', ''],
    ],
  },
  webhook: {
    called: 'the webhook',
    open: (url, clock) => {
      const send = webhookSend({ url, headers: {} }, { clock })
      return () => send(messageOf([FIRING]))
    },
    readsSuccess: true,
    reads: false,
    reasons: [['"no disk"', '']],
  },
  heartbeat: {
    called: 'the heartbeat URL',
    open: (url, clock) => {
      const refresh = heartbeats({ url, clock })
      return async () => refresh({ alerts: () => [], isWorking: () => true, interval: () => 15 })?.()
    },
    readsSuccess: true,
    reads: false,
    reasons: [['"no disk"', '']],
  },
}
