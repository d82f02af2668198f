import { expect, test } from 'vitest'
import { formsOf, idsFor, sessionIds, withoutPrefix } from '../../../src/ledger/session-id.ts'

const APP = { baseUrl: 'https://27a9c0ffee.call-eu.cometchat.io/v3' }

test.each([
  ['the id that the app chose', 'room', APP, 'v1.eu.27a9c0ffee.room'],
  ['an id with dots', 'team.daily', APP, 'v1.eu.27a9c0ffee.team.daily'],
  ['an id with the prefix of the app', 'v1.eu.27a9c0ffee.room', APP, 'room'],
  ['an app id in other case, as a host name has it', 'v1.eu.27A9C0FFEE.room', APP, 'room'],
  ['an id with any prefix, if the app is not known', 'v1.eu.27a9c0ffee.room', {}, 'room'],
  ['an id with the prefix of the app, if the region is not known', 'v1.us.app.room', { appId: 'app' }, 'room'],
])('%s has another form', (_what, id, app, other) => expect(formsOf(id, app)).toEqual([id, other]))

test.each([
  ['of another app', 'v1.eu.other.room', { appId: 'app' }],
  ['of an app that is not known', 'room', {}],
  ['of an app whose region is not known', 'room', { appId: 'app', baseUrl: 'https://proxy.example/v3' }],
  ['that is nothing but a prefix', 'v1.eu.27a9c0ffee.', {}],
])('an id %s has one form', (_what, id, app) => expect(formsOf(id, app)).toEqual([id]))

test('an id of another app keeps its prefix', () => {
  expect(withoutPrefix('v1.eu.other.room', APP)).toBe('v1.eu.other.room')
  expect(withoutPrefix('v1.us.27a9c0ffee.room', APP)).toBe('v1.us.27a9c0ffee.room')
})

test('each target has the other form of its own app', () => {
  const other = { name: 'b', baseUrl: 'https://b.call-us.cometchat.io/v3' }
  const forms = (given: string) => {
    const ids = sessionIds(given, [{ name: 'a', ...APP }, other, { name: 'c', baseUrl: 'https://proxy.example/v3' }])
    return ['a', 'b', 'c'].map((target) => idsFor(target, ids))
  }
  expect(forms('room')).toEqual([['room', 'v1.eu.27a9c0ffee.room'], ['room', 'v1.us.b.room'], ['room']])
  const given = 'v1.eu.27a9c0ffee.room'
  expect(forms(given)).toEqual([
    [given, 'room'],
    [given, `v1.us.b.${given}`],
    [given, 'room'],
  ])
})

test('the prefix has the app id in lower case, as the service shows it', () => {
  expect(formsOf('room', { baseUrl: 'https://27A9C0FFEE.call-eu.cometchat.io/v3' })).toEqual([
    'room',
    'v1.eu.27a9c0ffee.room',
  ])
})
