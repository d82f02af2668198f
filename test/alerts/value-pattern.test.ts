import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesValue, patternProblem } from '../../src/alerts/value-pattern.ts'

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
  ['=~.', '😀', true],
])('the value %s matches %s: %s', (wanted, value, expected) => {
  expect(matchesValue(wanted, value)).toBe(expected)
})

test.each([
  ['=~', 'there is no regular expression after =~'],
  ['=~^High', 'has ^; it must match the whole value without it'],
  ['=~High$', 'has $; it must match'],
  ['=~*', 'has * where it means nothing'],
  ['=~a{2}', 'has { where it means nothing'],
  ['=~(a', 'has a ( without its )'],
  ['=~a)', 'has a ) without its ('],
  ['=~[a', 'has a [ without its ]'],
  ['=~[b-a]', 'has a set [ ] that is none'],
  [String.raw`=~(a)\1`, 'has an unknown escape after'],
  [String.raw`=~\b`, 'has an unknown escape after'],
  ['=~a\\', 'has an unknown escape after'],
  ['=~(?=a)', 'has (? with another meaning than (?:'],
  ['=~(a+)+', 'has a repetition inside a repetition'],
  ['=~(a|b*)*', 'has a repetition inside a repetition'],
  [`=~${'a'.repeat(201)}`, 'at most 200 characters'],
])('the value %s is refused: %s', (wanted, problem) => {
  expect(patternProblem(wanted)).toContain(problem)
  expect(matchesValue(wanted, 'a')).toBe(false)
})

test('an expression matches what JavaScript matches with it', () => {
  const one = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', String.raw`\w`, '(a|b)', '(?:ab|)', '(a|bc?)')
  const many = fc.tuple(one, fc.constantFrom('', '', '?', '*', '+')).map(([atom, sign]) => atom + sign)
  const expressions = fc.array(
    fc.array(many, { maxLength: 5 }).map((parts) => parts.join('')),
    { minLength: 1, maxLength: 3 },
  )
  const texts = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(expressions, texts, (alternatives, text) => {
      const source = alternatives.join('|')
      if (source === '') return
      expect(matchesValue(`=~${source}`, text)).toBe(new RegExp(`^(?:${source})$`, 'u').test(text))
    }),
    { numRuns: 1000 },
  )
})

test('an expression over which others backtrack for ages takes no time', () => {
  const started = performance.now()
  expect(matchesValue(`=~${'.*'.repeat(99)}x`, 'a'.repeat(500))).toBe(false)
  expect(matchesValue(`=~${'a?'.repeat(60)}${'a'.repeat(60)}`, 'a'.repeat(60))).toBe(true)
  expect(performance.now() - started).toBeLessThan(2000)
})
