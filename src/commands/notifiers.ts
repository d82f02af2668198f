import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { logNotifier } from '../notify/log-notifier.ts'
import { summaryOf } from '../notify/notification-text.ts'
import type { Notifier } from '../notify/notifier.ts'
import { slackNotifier } from '../notify/slack.ts'

/** The notifiers that are configured; the log where none is. */
export function notifiersOf({ notify: { slack } }: Pick<Config, 'notify'>, clock: Clock, log: Logger): Notifier[] {
  if (slack !== undefined) return [slackNotifier({ ...slack, dashboardUrl: slack.dashboardUrl, clock })]
  return [
    logNotifier((notification) => {
      const { kind, alert, severity, target } = notification
      log.warn({ target, alert, severity, state: kind }, `alert ${kind}: ${summaryOf(notification)}`)
    }),
  ]
}
