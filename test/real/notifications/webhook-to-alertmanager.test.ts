import { describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { alertmanagerPost } from '../../../src/notifications/receivers/alertmanager/alertmanager-refresh.ts'
import { alertmanagerAlert, alertmanagerView } from '../../../src/views/messages/alertmanager.ts'
import { webhookSend } from '../../../src/notifications/receivers/webhook/webhook-send.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { AT, DAILY, FIRING, messageOf, RESOLVED, STORE_FAILING } from '../../kit/notifications/sample.ts'
import {
  missingPrograms,
  startAlertmanager,
} from '../../kit/notifications/receivers/alertmanager/alertmanager-process.ts'
import { firingSince } from '../../kit/notifications/receivers/alertmanager/alertmanager-sample.ts'
import { isMissing, startIrcRelay } from '../../kit/notifications/receivers/webhook/irc-relay.ts'

const isCi = process.env['CI'] === 'true'

describe('the format of Alertmanager', () => {
  test('has the fields of a real one, of the same types, and its fingerprints', async (context) => {
    if (missingPrograms.length > 0 && !isCi) context.skip('apt-get install prometheus-alertmanager')
    vi.stubEnv('no_proxy', '127.0.0.1')
    const { url, notifications } = await startAlertmanager()
    const now = systemClock.wall()
    const label = { type: 'vidéo "1"' }
    const live = firingSince(now, { labels: label })
    const pageUrl = 'http://callwatch.test/'
    await alertmanagerPost({ url, clock: systemClock })([alertmanagerAlert(live, { now, endsAt: now + 300 }, pageUrl)])
    const real = await vi.waitFor(() => notifications[0] ?? expect.unreachable('not yet'), 90_000)
    const own = alertmanagerView(messageOf([{ ...FIRING, labels: label, firingSince: now }]), {
      receiver: 'webhook',
      pageUrl,
    })
    expect(own?.alerts[0]?.labels).toEqual(real.alerts[0]?.labels)
    expect(typesIn(own)).toEqual(typesIn(real))
    expect(own?.alerts[0]).toMatchObject({
      fingerprint: 'fingerprint' in real.alerts[0]! && real.alerts[0].fingerprint,
    })
  })

  test('is understood by a receiver that was written for Alertmanager', async (context) => {
    if (isMissing && !isCi)
      context.skip('alertmanager-irc-relay is not on the PATH: apt-get install alertmanager-irc-relay')
    const { url, said } = await startIrcRelay()
    const sender = { clock: virtualClock(AT), name: 'irc' }
    const send = webhookSend({ url, format: 'alertmanager', headers: {} }, sender)
    await send(messageOf([FIRING, { ...RESOLVED, alert: 'Other', severity: 'info' }]))
    await send(DAILY)
    await send(STORE_FAILING)
    await vi.waitFor(() => expect(said).toHaveLength(3), 90_000)
    expect(said).toEqual([
      expect.stringMatching(/^firing HighFailureRate critical on production 17 of 40 calls .* [\da-f]{16}$/),
      expect.stringMatching(/^resolved Other info on production 4 of 40 calls /),
      expect.stringMatching(/^firing CallwatchStoreNotWritable critical on .*callwatch cannot write to its store/),
    ])
  })
})

/** Each field with the type of its value; of a list those of its items, of texts by name that they are. */
function typesIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typesIn)
  if (typeof value !== 'object' || value === null) return typeof value
  const entries = Object.entries(value)
  const isTexts = entries.every(([name]) => name !== 'alerts' && name !== 'status')
  return isTexts ? 'texts by name' : Object.fromEntries(entries.map(([name, child]) => [name, typesIn(child)]))
}
