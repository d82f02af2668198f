import { expect, test } from 'vitest'
import { code, escape, fallback, link } from '../../../../../src/notifications/receivers/slack/slack-blocks.ts'

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

test.each([
  // A name of a language from right to left is isolated in a link, too.
  ['https://example.com/', 'שלום', '<https://example.com/|\u2068שלום\u2069>'],
  ['https://example.com/?a|b\\c&d', 'a|b', '<https://example.com/?a%7Cb%5Cc&amp;d|a¦b>'],
  ['https://example.com/'.padEnd(300, 'x'), 'too-long', '`too-long`'],
  ['javascript:alert(1)', 'a', '`a`'],
  [undefined, 'a', '`a`'],
])('the address %j and the name %j become %j', (address, name, expected) => {
  expect(link(address, name)).toBe(expected)
})
