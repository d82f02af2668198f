import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { listing } from '../../../../src/notifications/receivers/slack/slack-listing.ts'

const items = (count: number, length: number) =>
  Array.from({ length: count }, (_, i) => ({ line: `line ${i} `.padEnd(length, '.'), name: `name-${i}` }))

test('lines that fit are all there, in texts of the length', () => {
  const texts = listing(items(10, 90), 5000, 300)
  expect(texts.map((text) => text.split('\n').length)).toEqual([3, 3, 3, 1])
  expect(texts.join('\n')).toBe(
    items(10, 90)
      .map(({ line }) => line)
      .join('\n'),
  )
})

test('of what does not fit, the number and as many names as possible are there', () => {
  const [text] = listing(items(100, 90), 1000, 3000)
  const lines = text!.split('\n')
  expect(lines.slice(0, -1).map((line) => line.slice(0, 6))).toEqual(['line 0', 'line 1', 'line 2'])
  expect(lines.at(-1)).toMatch(/^and 97 more: name-3, name-4, .*, name-\d+, …$/)
})

test('no line is longer than a text may be', () => {
  expect(listing(items(2, 500), 5000, 300)).toEqual(['and 2 more: name-0, name-1'])
})

test('of nothing there is nothing', () => {
  expect(listing([], 1000, 300)).toEqual([])
})

test('texts never pass their limits', () => {
  const anyItems = fc.array(fc.record({ line: fc.string({ maxLength: 200 }), name: fc.string({ maxLength: 50 }) }))
  fc.assert(
    fc.property(anyItems, fc.integer({ min: 100, max: 2000 }), (some, size) => {
      const texts = listing(some, size, 250)
      for (const text of texts) expect(text.length).toBeLessThanOrEqual(250)
      expect(texts.join('\n').length).toBeLessThanOrEqual(size)
    }),
  )
})
