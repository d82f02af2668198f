import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escape } from '../../../../src/notifications/receivers/slack/slack-blocks.ts'
import { nameIn, oneLine, paragraphs } from '../../../../src/notifications/text/bounded.ts'

const html = (text: string) => escape(text).replaceAll('"', '&quot;')
const json = (text: string) => JSON.stringify(escape(text)).slice(1, -1)

describe.each(Object.entries({ oneLine, paragraphs, nameIn }))('%s', (name, form) => {
  const letters = fc.array(
    fc.constantFrom('😀', '&', '<', '"', '\\', '`', '@here', '\n', '\u202E', '\u200D', '\u{E0041}', 'ש', '\uD83D', 'x'),
    { minLength: 1, maxLength: 9 },
  )

  test('is within its limit however it is escaped, and cut within no character', () => {
    fc.assert(
      fc.property(letters, fc.constantFrom(1, 500), fc.integer({ min: 20, max: 300 }), (some, times, limit) => {
        const text = form(some.join('').repeat(times), limit)
        for (const escaped of [html(text), json(text)]) expect(escaped.length).toBeLessThanOrEqual(limit)
        expect(text.isWellFormed()).toBe(true)
        expect(text.replaceAll(/[\u2068\u2069\u200D]/g, '')).not.toMatch(/\p{Cf}/u)
        if (name !== 'paragraphs') expect(text).not.toContain('\n')
      }),
    )
  })
})

test.each([
  ['one\n\n\n\ntwo\r\n', 'one\n\ntwo'],
  ['*bold* :fire: `code`', '*bold* :fire: `code`'],
  [' \u0000\n', ''],
])('the prose %j becomes %j', (text, expected) => {
  expect(paragraphs(text, 100)).toBe(expected)
})

test('a cut leaves no half of a character, nor of an escaped one', () => {
  expect([oneLine('abcd', 4), oneLine('abcde', 4), oneLine('ab😀cd', 4), oneLine('&&&', 12)]).toEqual([
    'abcd',
    'abc…',
    'ab…',
    '&&…',
  ])
})

test('a cut leaves no part of a word, unless the word is long', () => {
  expect(oneLine('HighFailureRate resolved on 30 targets, expired on 12', 45)).toBe(
    'HighFailureRate resolved on 30 targets…',
  )
  expect(oneLine('one two three', 8)).toBe('one two…')
  expect(oneLine(`see https://example.com/${'x'.repeat(99)}`, 30)).toBe('see https://example.com/xxxxx…')
})
