import { expect, test } from 'vitest'
import type { Notification } from '../../src/alerts/notification.ts'
import { logNotifier } from '../../src/notify/log-notifier.ts'
import { FIRING } from './sample.ts'

test('a notification goes to the log as it is', async () => {
  const logged: Notification[] = []
  const notifier = logNotifier((notification) => void logged.push(notification))
  await notifier.deliver(FIRING)
  expect([notifier.name, logged]).toEqual(['log', [FIRING]])
})
