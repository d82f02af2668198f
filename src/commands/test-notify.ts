import { systemClock } from '../clock/clock.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { DeliveryError } from '../notify/notifier.ts'
import { createLogger } from './logger.ts'
import { maskSecrets } from './mask-secrets.ts'
import { notifiersOf } from './notifiers.ts'

/**
 * Sends one sample firing and one sample resolved notification through every notifier.
 *
 * @returns whether all were accepted
 */
export async function testNotify(config: Config, print: (line: string) => void): Promise<boolean> {
  const mask = maskSecrets(secretsOf(config))
  const log = createLogger({ level: 'info', mask, stream: process.stdout })
  const notifiers = notifiersOf(config, systemClock, log)
  let accepted = true
  for (const notifier of notifiers) {
    for (const notification of samples(config.targets[0]!.name, systemClock.wall())) {
      try {
        await notifier.deliver(notification)
        print(`${notifier.name}: the sample "${notification.kind}" was accepted`)
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error
        accepted = false
        print(mask(`${notifier.name}: the sample "${notification.kind}" failed: ${error.message}`))
      }
    }
  }
  return accepted
}

function samples(target: string, now: number): Notification[] {
  const sample: Notification = {
    kind: 'firing',
    target,
    alert: 'SampleAlert',
    severity: 'info',
    signal: 'failure_ratio',
    reason: 'any',
    window: 900,
    value: 0.425,
    threshold: 0.3,
    counts: { ended: 23, unanswered: 5, rejected: 12, canceled: 0, other: 0, total: 40 },
    since: now - 120,
    firingSince: now,
    peak: 0.425,
    at: now,
    description: 'A sample sent by `callwatch test-notify`. Nothing is wrong.',
  }
  const counts = { ended: 36, unanswered: 3, rejected: 1, canceled: 0, other: 0, total: 40 }
  return [sample, { ...sample, kind: 'resolved', value: 0.1, threshold: 0.2, counts, firingSince: now - 600 }]
}
