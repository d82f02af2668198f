import { expect, test } from 'vitest'
import { configOf } from '../../../src/config/config.ts'

const auth = { username: 'ops', password: 'hunter2' }
const load = (http: object, participants = true) =>
  configOf({ targets: [{ app_id: 'a1', region: 'us', api_key: 'k' }], http, events: { participants } }).events

test.each([
  ['with a password', { auth }],
  ['on loopback, which is the default', {}],
  ['on loopback', { host: '127.0.0.1' }],
  ['on loopback by IPv6', { host: '::1' }],
])('events may name participants %s', (_what, http) => {
  expect(load(http)).toMatchObject({ participants: true })
})

test.each([{ host: '0.0.0.0' }, { host: '::' }, { host: 'callwatch.example' }])(
  'events name no participants where other hosts need no password: %j',
  (http) => {
    expect(() => load(http)).toThrow('without a password; set `http.auth`, or set `http.host` to 127.0.0.1')
    expect(load(http, false)).toMatchObject({ participants: false })
  },
)
