import { expect, test } from 'vitest'
import { difference, type Settings } from '../../../src/store/settings.ts'

test.each<[string, Settings, Settings, string | undefined]>([
  [
    'nothing',
    { a: '1', names: ['x'], rule: { digest: 'd' } },
    { a: '1', names: ['x'], rule: { digest: 'd' } },
    undefined,
  ],
  ['a value', { 'poll.interval': '3s' }, { 'poll.interval': '4s' }, 'poll.interval is 4s here and 3s there'],
  [
    'a digest',
    { 'alerts.Failures': { digest: 'd' } },
    { 'alerts.Failures': { digest: 'e' } },
    'alerts.Failures is not the same',
  ],
  ['a value and a digest', { digest: 'not set' }, { digest: { digest: 'e' } }, 'digest is not the same'],
  ['names', { targets: ['a', 'b'] }, { targets: ['b', 'c'] }, 'targets has c only here and a only there'],
  [
    'more names',
    { targets: ['a'] },
    { targets: ['a', 'b', 'c', 'd', 'e', 'f'] },
    'targets has b, c, d, 2 more only here',
  ],
  ['what only one side knows', { old: '1' }, { new: '2' }, undefined],
  [
    'many',
    { a: '1', b: '1', c: '1', d: '1', e: '1' },
    { a: '2', b: '2', c: '2', d: '2', e: '2' },
    'a is 2 here and 1 there, b is 2 here and 1 there, c is 2 here and 1 there, 2 more',
  ],
])('settings that differ in %s', (_what, theirs, ours, words) => {
  expect(difference(theirs, ours)).toBe(words)
})
