import { isDeepStrictEqual } from 'node:util'
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

/** Who is told, as the configuration comes to want it. The lists are changed in place: they hold for the moment. */
export type Told = {
  readonly notifiers: readonly Notifier[]
  readonly names: readonly string[]
  /** Those and Alertmanager, which takes no messages. */
  shown: () => string[]
  follow: (config: Pick<Config, 'notify'>) => void
}

export function toldBy(first: Pick<Config, 'notify'>, clock: Clock, log: Logger): Told {
  let current = first.notify
  const notifiers = notifiersOf(first, clock, log)
  const names = notifiers.map(({ name }) => name)
  return {
    notifiers,
    names,
    shown: () => [...names, ...(current.alertmanager === undefined ? [] : ['alertmanager'])],
    follow: (config) => {
      const { slack, webhook } = current
      current = config.notify
      // What has not changed keeps its connections.
      if (isDeepStrictEqual([slack, webhook], [current.slack, current.webhook])) return
      notifiers.splice(0, Infinity, ...notifiersOf(config, clock, log))
      names.splice(0, Infinity, ...notifiers.map(({ name }) => name))
    },
  }
}
