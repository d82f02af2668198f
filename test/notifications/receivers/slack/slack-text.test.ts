import { expect, test } from 'vitest'
import { code, escape, fallback, link } from '../../../../src/notifications/receivers/slack/slack-blocks.ts'

test("Slack's control characters are escaped", () => {
  expect(escape('<!channel> & "x"')).toBe('&lt;!channel&gt; &amp; "x"')
})

test.each([
  ['HighFailureRate', '`HighFailureRate`'],
  ['a`b``c', "`a'b''c`"],
  ['*a* _b_ :c:', '`*a* _b_ :c:`'],
  ['', '`-`'],
  ['שלום', '`\u2068שלום\u2069`'],
])('the name %j becomes the code %j', (name, expected) => {
  expect(code(name)).toBe(expected)
})

test('the text of a Slack notification mentions no user', () => {
  expect(fallback('@here @Channel @everyone @heretic me@hereby.test @bob', 200)).toBe(
    '@\u200Bhere @\u200BChannel @\u200Beveryone @\u200Bheretic me@\u200Bhereby.test @bob',
  )
})

test('a name of a language from right to left is isolated in a link, too', () => {
  expect(link('https://example.com/', 'שלום')).toBe('<https://example.com/|\u2068שלום\u2069>')
})
