import { describe, expect, test } from 'vitest'
import { addRow, hasJoined, hasJoinedWhole, jointAfter, newJoining } from '../../../src/polling/list/joint.ts'
import { KNOWN_LIST } from '../../kit/ledger/seen.ts'

/** Reads rows, of which those in upper case are open, where `abcdefghij` were known. */
function read(rows: string, { known = 'abcdefghij', isWhole = false } = {}) {
  const joining = newJoining({ ...KNOWN_LIST, joint: known.split(''), isWhole })
  for (const row of rows) addRow(joining, row.toLowerCase(), row === row.toLowerCase())
  return joining
}

test.each([
  ['at five known rows', 'abcde', 0, true],
  ['not at four', 'abcd', 0, false],
  ['below new rows', 'xyzabcde', 3, true],
  ['at rows further back, if those before them have left', 'fghij', 0, true],
  ['not at rows between which a new one is', 'abxcde', undefined, false],
  ['not at rows between which one is missing', 'abdefg', undefined, false],
  ['below a gap between known rows', 'abdefgh', 2, true],
  ['not at rows in another order', 'edcba', undefined, false],
  ['not at open rows', 'ABCDE', undefined, false],
  ['not at rows of which one is open', 'abCdefg', undefined, false],
  ['below open rows', 'ABCdefgh', 3, true],
  ['at the first five of all that were read', 'abcdefghij', 0, true],
  ['not where nothing is known', 'vwxyz', undefined, false],
])('a reading joins %s: %s', (_where, rows, at, has) => {
  const joining = read(rows)
  if (has) expect(joining.joinedAt).toBe(at)
  expect(hasJoined(joining, 0)).toBe(has)
})

test.each([
  [0, 'abcde', true],
  [7, 'abcdef', false],
  [7, 'abcdefg', true],
  [7, 'xyabcdef', false],
])('with an overlap of %i rows, whether a reading has joined after %s is %s', (overlap, rows, has) => {
  expect(hasJoined(read(rows), overlap)).toBe(has)
})

test.each([
  ['at all rows of a list of three', 'abc', 'abc', true],
  ['at open rows as well', 'ABC', 'abc', true],
  ['below new rows', 'xabc', 'abc', true],
  ['not before the last of them', 'ab', 'abc', false],
  ['not if one has left', 'ac', 'abc', false],
  ['not at an empty list, below which anything may be', 'x', '', false],
])('a reading joins a whole list %s', (_where, rows, known, has) => {
  expect(hasJoinedWhole(read(rows, { known, isWhole: true }))).toBe(has)
  expect(hasJoinedWhole(read(rows, { known }))).toBe(false)
})

describe('the next joint', () => {
  test.each([
    ['has new rows, and the known ones that follow', 'xyabcde', 'xyabcdefghij'],
    ['lacks rows that have left', 'xcdefg', 'xcdefghij'],
    ['has only the rows that were read, if the last one was not known', 'abcdex', 'abcdex'],
  ])('%s', (_what, rows, joint) => {
    expect(jointAfter(read(rows), 'abcdefghij'.split('')).join('')).toBe(joint)
  })

  const many = (count: number, isSettled: (n: number) => boolean) => {
    const joining = newJoining(undefined)
    for (let n = 0; n < count; n++) addRow(joining, `call ${n}`, isSettled(n))
    return jointAfter(joining, [])
  }

  test('has a hundred rows at most, the first ones', () => {
    expect(many(250, () => true)).toEqual(Array.from({ length: 100 }, (_, n) => `call ${n}`))
  })

  test('begins below hundreds of open calls, because these do not join', () => {
    expect(many(250, (n) => n > 220)).toEqual(Array.from({ length: 50 }, (_, n) => `call ${200 + n}`))
  })
})
