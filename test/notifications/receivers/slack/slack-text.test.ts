import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  clip,
  code,
  fallback,
  link,
  plain,
  prose,
  sentence,
} from '../../../../src/notifications/receivers/slack/slack-blocks.ts'

const FORMS = { prose, sentence, code, plain, fallback }

describe.each(Object.entries(FORMS))('%s', (name, form) => {
  const letters = fc.array(
    fc.constantFrom('😀', '&', '<', '`', '@here', '\n', '\u202E', '\u200D', '\u{E0041}', 'ש', '\uD83D', 'x'),
    {
      minLength: 1,
      maxLength: 9,
    },
  )

  test('is within its limit, and cut neither within a character nor within an escaped one', () => {
    fc.assert(
      fc.property(letters, fc.constantFrom(1, 500), fc.integer({ min: 20, max: 300 }), (some, times, limit) => {
        const text = form(some.join('').repeat(times), limit)
        expect(text.length).toBeLessThanOrEqual(limit)
        expect(text.isWellFormed()).toBe(true)
        expect(text.replaceAll(/[\u2068\u2069\u200D]|@\u200B/g, '')).not.toMatch(/\p{Cf}/u)
        if (name !== 'plain') expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
        if (name !== 'prose') expect(text).not.toContain('\n')
      }),
    )
  })
})

test.each([
  ['<!channel> & "x"', '&lt;!channel&gt; &amp; "x"'],
  ['one\n\n\n\ntwo\r\n', 'one\n\ntwo'],
  ['*bold* :fire: `code`', '*bold* :fire: `code`'],
  [' \u0000\n', ''],
])('prose %j becomes %j', (text, expected) => {
  expect(prose(text, 100)).toBe(expected)
})

test.each([
  ['HighFailureRate', '`HighFailureRate`'],
  ['a`b``c', "`a'b''c`"],
  ['*a* _b_ :c:', '`*a* _b_ :c:`'],
  ['a\n\tb', '`a b`'],
  ['', '`-`'],
  ['שלום', '`\u2068שלום\u2069`'],
  ['a\u202Eb', '`ab`'],
])('the name %j becomes the code %j', (name, expected) => {
  expect(code(name, 100)).toBe(expected)
})

test('the text of a Slack notification mentions no user', () => {
  expect(fallback('@here @Channel @everyone @heretic me@hereby.test @bob', 200)).toBe(
    '@\u200Bhere @\u200BChannel @\u200Beveryone @\u200Bheretic me@\u200Bhereby.test @bob',
  )
})

test('a cut leaves no half of a character', () => {
  expect([clip('abcd', 4), clip('abcde', 4), clip('ab😀cd', 4)]).toEqual(['abcd', 'abc…', 'ab…'])
})

test('a name of a language from right to left is isolated in a link, too', () => {
  expect(link('https://example.com/', 'שלום', 100)).toBe('<https://example.com/|\u2068שלום\u2069>')
})
