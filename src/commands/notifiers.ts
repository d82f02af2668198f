import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { logNotifier } from '../notify/log-notifier.ts'
import type { Notifier } from '../notify/notifier.ts'
import { slackNotifier } from '../notify/slack/slack.ts'
import { webhookNotifier } from '../notify/webhook/webhook.ts'

/** The notifiers that are configured; where none takes messages (Alertmanager does not), the log does. */
export function notifiersOf({ notify }: Pick<Config, 'notify'>, clock: Clock, log: Logger): Notifier[] {
  const { slack, webhook } = notify
  const configured = [
    ...(slack === undefined ? [] : [slackNotifier({ ...slack, dashboardUrl: slack.dashboardUrl, clock })]),
    ...(webhook === undefined ? [] : [webhookNotifier({ ...webhook, clock })]),
  ]
  if (configured.length > 0) return configured
  return [logNotifier(({ fields, text }) => log.warn(fields, text))]
}
