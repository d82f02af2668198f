import { expect, test } from 'vitest'
import { escapedJson, plainJson, plainText } from '../../../src/text/plain-text.ts'

/** Characters that change the direction, a zero width space, a tag, an escape sequence, C1 and the byte order mark. */
const HIDDEN = ['\u202E', '\u2066', '\u200B', '\u{E0041}', '\u001B[2J', '\u009B', '\u007F', '\r', '\b', '\uFEFF']

test.each(HIDDEN)('the characters %j are removed from a text that is shown', (hidden) => {
  const text = `call-${hidden}7`
  const shown = hidden === '\u001B[2J' ? 'call-[2J7' : 'call-7'
  expect(plainText(text)).toBe(shown)
  expect(JSON.parse(plainJson(JSON.stringify({ text })))).toEqual({ text: shown })
  const escaped = escapedJson(JSON.stringify({ text }))
  expect(JSON.parse(escaped)).toEqual({ text })
  expect(escaped).toBe(plainText(escaped))
})

const JOINED = ['می\u200Cخواهم', 'क्\u200Dष', '👩🏽\u200D💻', '❤️\u200D🔥']

test.each(JOINED)('the joiners of %s stay in a text that is shown: they make another letter or picture', (text) => {
  expect(plainText(text)).toBe(text)
  expect(JSON.parse(plainJson(JSON.stringify(text)))).toBe(text)
  expect(escapedJson(JSON.stringify(text))).toBe(JSON.stringify(text))
})

test.each(['prod\u200C', 'pro\u200Dd', '\u200Dprod', 'ع\u200D\u200D', 'ع\u200B\u200C'])(
  'joiners that join nothing are removed: %j',
  (text) => expect(plainText(text).match(/\p{Cf}/gu) ?? []).toHaveLength(text === 'ع\u200D\u200D' ? 1 : 0),
)

test('line breaks, tabs and letters of any script stay in a text that is shown', () => {
  const text = 'ä\tשלום\n通話 \\u001b C:\\b'
  expect(plainText(text)).toBe(text)
  expect(JSON.parse(plainJson(JSON.stringify(text)))).toBe(text)
  expect(escapedJson(JSON.stringify(text))).toBe(JSON.stringify(text))
})
