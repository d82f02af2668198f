import { expect, test } from 'vitest'
import { routed, type Route } from '../../src/notify/routes.ts'
import { AT, changeOf } from './outbox-sending.ts'

const NOTIFIERS = ['slack', 'webhook', 'log']
const warning = changeOf({ name: 'A' }, 'firing', AT)
const critical = changeOf({ name: 'A', severity: 'critical' }, 'firing', AT)

const ROUTES: Route[] = [
  { match: { severity: 'critical', target: 'staging' }, notify: [] },
  { match: { severity: 'critical' }, notify: ['webhook', 'slack'] },
  { match: { alert: 'A' }, notify: ['log'] },
  { match: { alert: 'A' }, notify: ['slack'] },
]

test('an alert goes to the notifiers of the first route that picks it', () => {
  const notifiersFor = routed(ROUTES, NOTIFIERS)
  expect(notifiersFor(critical)).toEqual(['slack', 'webhook'])
  expect(notifiersFor(warning)).toEqual(['log'])
})

test('an alert that a route gives to nobody goes to nobody', () => {
  expect(routed(ROUTES, NOTIFIERS)({ ...critical, target: 'staging' })).toEqual([])
})

test.each([
  ['no route picks', ROUTES, { ...warning, alert: 'B' }],
  ['is told where there are no routes', [], warning],
])('an alert that %s goes to all', (_case, routes, told) => {
  expect(routed(routes, NOTIFIERS)(told)).toEqual(NOTIFIERS)
})

test('a route names no notifier that there is not', () => {
  expect(routed([{ match: {}, notify: ['slack', 'pager'] }], NOTIFIERS)(warning)).toEqual(['slack'])
})
