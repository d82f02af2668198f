import { expect, test } from 'vitest'
import { recipientsBy, type Route } from '../../../src/notifications/grouping.ts'
import { AT, changeOf } from '../../kit/notifications/delivery/sending.ts'

const RECEIVERS = ['slack', 'webhook', 'log']
const warning = changeOf({ name: 'A' }, 'firing', AT)
const critical = changeOf({ name: 'A', severity: 'critical' }, 'firing', AT)

const ROUTES: Route[] = [
  { match: { severity: 'critical', target: 'staging' }, notify: [] },
  { match: { severity: 'critical' }, notify: ['webhook', 'slack'] },
  { match: { alert: 'A' }, notify: ['log'] },
  { match: { alert: 'A' }, notify: ['slack'] },
]

test('the recipients of an alert are those of the first route that matches it', () => {
  const receiversFor = recipientsBy(ROUTES, RECEIVERS)
  expect(receiversFor(critical)).toEqual(['slack', 'webhook'])
  expect(receiversFor(warning)).toEqual(['log'])
})

test('an alert whose route names no recipient has none', () => {
  expect(recipientsBy(ROUTES, RECEIVERS)({ ...critical, target: 'staging' })).toEqual([])
})

test.each([
  ['no route matches', ROUTES, { ...warning, alert: 'B' }],
  ['fires where there are no routes', [], warning],
])('an alert that %s is sent to all', (_case, routes, change) => {
  expect(recipientsBy(routes, RECEIVERS)(change)).toEqual(RECEIVERS)
})

test('a recipient that there is not is left out of a route', () => {
  expect(recipientsBy([{ match: {}, notify: ['slack', 'pager'] }], RECEIVERS)(warning)).toEqual(['slack'])
})
