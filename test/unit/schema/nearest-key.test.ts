import { expect, test } from 'vitest'
import { knownNames, nearestKey } from '../../../src/schema/nearest-key.ts'

const known = ['interval', 'page_size', 'timeout', 'url', 'for', 'max_requests_per_minute']

test.each([
  ['intervall', 'interval'],
  ['intreval', 'interval'],
  ['pageSize', 'page_size'],
  ['page-size', 'page_size'],
  ['PAGE_SIZE', 'page_size'],
  ['max_requests_minute', 'max_requests_per_minute'],
  ['uri', 'url'],
])('%s was meant to be %s', (mistyped, meant) => expect(nearestKey(mistyped, known)).toBe(meant))

test.each(['auth', 'tls', 'x', '', 'alertmanager'])('%j is near to nothing', (mistyped) => {
  expect(nearestKey(mistyped, ['host', 'port', 'url'])).toBeUndefined()
})

test('a key of which nothing is left is not near', () => expect(nearestKey('x', ['at'])).toBeUndefined())

test('with no known key none is near', () => expect(nearestKey('interval', [])).toBeUndefined())

test('of many names only the one that was probably meant is said, or how many there are', () => {
  const many = Array.from({ length: 300 }, (_, i) => `region-${i}`)
  expect(knownNames('regoin-7', many)).toBe('did you mean region-7?')
  expect(knownNames('nosuch', many)).toBe('there are 300, which `callwatch status` lists')
  expect(knownNames('nosuch', ['a', 'b'])).toBe('there is: a, b')
  expect(knownNames('nosuch', [])).toBe('there is: none')
})
