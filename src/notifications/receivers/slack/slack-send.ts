import { parseMap } from '../../../schema/path.ts'
import { httpSender } from '../../../network/http-sender.ts'
import { reasonIn, refusalIn } from '../../refusal.ts'
import type { Send, SendContext } from '../../receiver.ts'
import { slackMessage } from './slack-message.ts'

/** Delivers to a Slack channel. */
export function slackSend({ webhookUrl }: { webhookUrl: string }, { clock }: Pick<SendContext, 'clock'>): Send<void> {
  const deliver = httpSender({ receiver: 'Slack', url: webhookUrl, clock, accepts, refuses, reasonIn })
  return (message) =>
    deliver((request) =>
      request({ method: 'POST', body: JSON.stringify(slackMessage(message, { now: clock.wall() })) }),
    )
}

/** Slack refuses with a code, such as `no_service`. */
function refuses(body: string): string | undefined {
  return refusalIn(body) ?? /^[a-z]+(?:_[a-z]+)+$/.exec(body.trim())?.[0]
}

/** Slack answers `ok`, as Mattermost and Discord do; other compatible receivers answer with JSON, such as Rocket.Chat. */
function accepts(body: string): true | undefined {
  const answer = parseMap(body)
  return [body.trim() === 'ok', answer?.['ok'], answer?.['success']].includes(true) || undefined
}
