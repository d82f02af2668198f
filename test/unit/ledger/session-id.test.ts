import { expect, test } from 'vitest'
import { formsIn, formsOf, withoutPrefix } from '../../../src/ledger/session-id.ts'

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

test('of several apps, an id has the forms of each, and is itself in any case', () => {
  expect(formsIn('room', [APP, { baseUrl: 'https://b.call-us.cometchat.io/v3' }, {}])).toEqual([
    'room',
    'v1.eu.27a9c0ffee.room',
    'v1.us.b.room',
  ])
  expect(formsIn('room', [])).toEqual(['room'])
})
