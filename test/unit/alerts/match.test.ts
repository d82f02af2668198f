import { expect, test } from 'vitest'
import { expectKnown, matches } from '../../../src/alerts/match.ts'
import type { AlertMatch } from '../../../src/alerts/match-keys.ts'

const NOTIFICATION = {
  alert: 'HighFailureRate',
  severity: 'critical',
  target: 'production',
  labels: { type: 'video' },
  match: { mode: 'call' },
} as const

test.each<[AlertMatch, boolean, string]>([
  [{}, true, 'nothing is asked for'],
  [{ alert: 'HighFailureRate' }, true, 'its name'],
  [{ alert: 'highfailurerate' }, false, 'its name, written differently'],
  [{ severity: 'critical' }, true, 'its severity'],
  [{ severity: 'warning' }, false, 'another severity'],
  [{ target: 'production' }, true, 'its target'],
  [{ target: 'staging' }, false, 'another target'],
  [{ type: 'video' }, true, 'a label that it is grouped by'],
  [{ type: 'audio' }, false, 'another value of that label'],
  [{ mode: 'call' }, true, 'a label that its rule matches'],
  [{ mode: 'meet' }, false, 'another value of what its rule matches'],
  [{ receiver_type: 'user' }, false, 'a label that it does not have'],
  [{ alert: 'HighFailureRate', severity: 'critical', target: 'production', type: 'video', mode: 'call' }, true, 'all'],
  [{ alert: 'HighFailureRate', severity: 'warning' }, false, 'one that is right and one that is not'],
])('a match of %j matches the alert: %s (%s)', (match, picked) => {
  expect(matches(match, NOTIFICATION)).toBe(picked)
})

test('a label of an alert has the value of its group, even if its rule matched another one before', () => {
  expect(matches({ type: 'video' }, { ...NOTIFICATION, match: { type: 'audio' } })).toBe(true)
})

test.each<[AlertMatch, boolean]>([
  [{ alert: '=~High.*', target: '=~prod.*|staging' }, true],
  [{ alert: '=~High' }, false],
  [{ type: '=~audio|video' }, true],
  [{ receiver_type: '=~.*' }, false],
])('an expression matches the whole of a value: %j: %s', (match, picked) => {
  expect(matches(match, NOTIFICATION)).toBe(picked)
})

test('an expression that matches nothing that there is is refused with what there is', () => {
  const names = { alert: ['HighFailureRate', 'NoCalls'], target: ['production'] }
  expect(() => expectKnown({ alert: '=~No.*', severity: '=~w.*' }, names)).not.toThrow()
  expect(() => expectKnown({ alert: '=~Low.*' }, names)).toThrow(
    'no rule matches =~Low.*; there is: HighFailureRate, NoCalls',
  )
  expect(() => expectKnown({ alert: '=~(' }, names)).toThrow(
    'the regular expression is none that RE2 understands: missing closing )',
  )
})
