import { expect, test } from 'vitest'
import { configOf } from '../../../src/config/config.ts'
import { activeReceivers } from '../../../src/daemon/active-receivers.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

const TARGETS = [{ name: 'a', base_url: 'http://127.0.0.1:1/v3', api_key: 'key' }]

test('a receiver stays as it is while others change, with what it knows of the other side', async () => {
  const config = (webhook: string) =>
    configOf({ targets: TARGETS, notify: { alertmanager: { url: 'http://am.test' }, webhook: { url: webhook } } })
  const active = await activeReceivers(config('https://a.test/'), virtualClock())
  const [alertmanager, webhook] = active.all()
  const { activate } = await active.prepare(config('https://b.test/'))
  expect(active.all()).toEqual([alertmanager, webhook])
  activate()
  expect(active.all()[0]).toBe(alertmanager)
  expect(active.all()[1]).not.toBe(webhook)
})
