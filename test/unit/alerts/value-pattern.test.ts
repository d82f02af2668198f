import { expect, test } from 'vitest'
import { matchesValue, patternProblem } from '../../../src/alerts/match.ts'

test.each([
  ['High', 'High', true],
  ['High.*', 'High', false],
  ['=~High.*', 'HighFailureRate', true],
  ['=~High', 'HighFailureRate', false],
  ['=~Rate', 'HighFailureRate', false],
  ['=~ High.* ', 'High', true],
  ['=~high.*', 'HighFailureRate', false],
  ['=~NoCalls|NoGoodPoll', 'NoGoodPoll', true],
  ['=~No(Calls|GoodPoll)s?', 'NoCallss', true],
  ['=~(?:eu|us)-[0-9]+', 'eu-12', true],
  ['=~(?:eu|us)-[0-9]+', 'eu-', false],
  [String.raw`=~eu\.prod`, 'eu.prod', true],
  [String.raw`=~eu\.prod`, 'eu-prod', false],
  [String.raw`=~[^\]]\d`, 'a7', true],
  ['=~a|', '', true],
  ['=~^High.*$', 'HighFailureRate', true],
  ['=~(?i)high.*', 'HighFailureRate', true],
  ['=~a{2}', 'aa', true],
  ['=~.', '😀', true],
])('the value %s matches %s: %s', (wanted, value, expected) => {
  expect(matchesValue(wanted, value)).toBe(expected)
})

test.each([
  ['=~', 'there is no regular expression after =~'],
  ['=~*', 'missing argument to repetition operator'],
  ['=~(a', 'the regular expression is none that RE2 understands: missing closing )'],
  ['=~a)', 'unexpected )'],
  ['=~[a', 'missing closing ]'],
  ['=~[b-a]', 'invalid character class range'],
  [String.raw`=~(a)\1`, 'invalid escape sequence'],
  ['=~a\\', 'trailing backslash'],
  ['=~(?=a)', 'invalid or unsupported Perl syntax'],
  ['=~a**', 'invalid nested repetition operator'],
  ['=~((a?){100}){10}', 'repeats too much'],
  [`=~${'a'.repeat(2001)}`, 'at most 2000 characters'],
  [`=~${'a{1000}'.repeat(285)}`, 'with { has at most 200 characters'],
])('the value %s is refused: %s', (wanted, problem) => {
  expect(patternProblem(wanted)).toContain(problem)
  expect(matchesValue(wanted, 'a')).toBe(false)
})

test('an expression over which others backtrack for ages takes no time', () => {
  const started = performance.now()
  expect(matchesValue(`=~${'.*'.repeat(99)}x`, 'a'.repeat(500))).toBe(false)
  expect(matchesValue(`=~${'a?'.repeat(60)}${'a'.repeat(60)}`, 'a'.repeat(60))).toBe(true)
  expect(performance.now() - started).toBeLessThan(2000)
})
