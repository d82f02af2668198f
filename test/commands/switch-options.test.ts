import { Command } from 'commander'
import { expect, test } from 'vitest'
import { switchOptions } from '../../src/commands/switch-options.ts'
import { defaultSwitches, type Switches } from '../../src/simulator/switches.ts'
import { start } from './callwatch.ts'

/** The options of each switch, and its value then. None is the default. */
const GIVEN: Record<keyof Switches, { args: string[]; value: unknown }> = {
  arrivals: { args: ['--no-arrivals'], value: false },
  order: { args: ['--order', 'oldest'], value: 'oldest' },
  imports: { args: ['--imports', '12.5'], value: 12.5 },
  totalCap: { args: ['--total-cap', '100'], value: 100 },
  totalLag: { args: ['--total-lag', '60'], value: 60 },
  totalJitter: { args: ['--total-jitter', '1'], value: 1 },
  extraPages: { args: ['--extra-pages', '1'], value: 1 },
  answerSeconds: { args: ['--answer-seconds', '2'], value: 2 },
  getCallLag: { args: ['--get-call-lag', '30'], value: 30 },
  reusedIds: { args: ['--reused-ids', '0.1'], value: 0.1 },
  hiddenRows: { args: ['--hidden-rows', '3'], value: 3 },
  deepPages: { args: ['--deep-pages', 'hang'], value: 'hang' },
  pastLast: { args: ['--past-last', '404'], value: 404 },
  indexed: { args: ['--indexed', '0.3'], value: 0.3 },
  cacheSeconds: { args: ['--cache-seconds', '5'], value: 5 },
  age: { args: ['--age', 'given'], value: 'given' },
  replicaLag: { args: ['--replica-lag', '8'], value: 8 },
  wrongDates: { args: ['--wrong-dates', '4'], value: 4 },
  wrongDateOffset: { args: ['--wrong-date-offset', '3600'], value: 3600 },
  shiftedAnswers: { args: ['--shifted-answers', '0.5'], value: 0.5 },
  timeShift: { args: ['--time-shift', '-3600'], value: -3600 },
  emptyList: { args: ['--empty-list', '204'], value: 204 },
  oddDates: { args: ['--odd-dates', '0.02'], value: 0.02 },
  getCall: { args: ['--get-call', 'bare'], value: 'bare' },
  perPage: { args: ['--per-page', '50'], value: 50 },
  perPageField: { args: ['--per-page-field', 'absent'], value: 'absent' },
  total: { args: ['--total=absent'], value: 'absent' },
  deepestPage: { args: ['--deepest-page', '20'], value: 20 },
  duplicates: { args: ['--duplicates', '0.2'], value: 0.2 },
  listedSeconds: { args: ['--listed-seconds', '3600'], value: 3600 },
  mostListed: { args: ['--most-listed', '1000'], value: 1000 },
  unlisted: { args: ['--unlisted', 'not_found'], value: 'not_found' },
  date: { args: ['--date', 'absent'], value: 'absent' },
  dateOffset: { args: ['--date-offset', '-90.5'], value: -90.5 },
  rateLimitHeaders: { args: ['--rate-limit-headers', 'X-Rate-Limit'], value: 'X-Rate-Limit' },
  facts: { args: ['--facts', 'swift=1'], value: { swift: 1 } },
  odd: { args: ['--odd', 'fields=0.1,spelling=0'], value: { fields: 0.1, spelling: 0 } },
  fault: {
    args: ['--fault', 'http_500=0.1, reset=0.05', '--fault', 'hang=0.02'],
    value: { http_500: 0.1, reset: 0.05, hang: 0.02 },
  },
  outage: { args: ['--outage'], value: true },
}

/** The switches of a command line. @throws for an invalid value */
function given(args: string[]): object {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
  for (const option of switchOptions()) command.addOption(option)
  return command.parse(args, { from: 'user' }).opts()
}

// Commander gives what can be negated a value of its own.
const DEFAULTS = { arrivals: true }

test('simulate without options of switches keeps the defaults', () => {
  expect(given([])).toEqual(DEFAULTS)
  expect(defaultSwitches).toMatchObject(DEFAULTS)
})

test.each(Object.entries(GIVEN))('the switch %s has an option: %j', (name, { args, value }) => {
  expect(given(args)).toEqual({ ...DEFAULTS, [name]: value })
})

test('simulate has an option for each switch, and passes all of them to the service', async () => {
  const args = Object.values(GIVEN).flatMap((asked) => asked.args)
  const running = start(['simulate', '--port', '0', ...args])
  const [, switches] = await running.printed(/^switches: +(http:\S+)$/m)
  const expected = Object.fromEntries(Object.entries(GIVEN).map(([name, { value }]) => [name, value]))
  expect(await (await fetch(switches!)).json()).toEqual(expected)
  expect(Object.keys(expected).toSorted()).toEqual(Object.keys(defaultSwitches).toSorted())
  for (const [name, initial] of Object.entries(defaultSwitches)) expect(expected[name]).not.toEqual(initial)
})

test.each([
  ['--order', 'random', 'It must be "newest" or "oldest" or "shuffled" or "changing".'],
  ['--order', '', 'It must be "newest" or'],
  ['--per-page', '1.5', 'It must be "honoured", "ignored", "varying" or a whole number of 1 or more.'],
  ['--per-page', '', 'It must be "honoured", "ignored", "varying" or a whole number of 1 or more.'],
  ['--duplicates', '1.1', 'It must be a probability from 0 to 1.'],
  ['--date-offset', 'Infinity', 'It must be a number of seconds.'],
  ['--facts', 'eaten=0.1', 'It must be probabilities, each at most 1, of swift, unknown_status,'],
  ['--odd', 'fields', 'It must be probabilities, each at most 1, of spelling, milliseconds, fields, unusable.'],
  ['--odd', 'fields=', 'It must be probabilities'],
  ['--odd', 'fields=0.1=0.2', 'It must be probabilities'],
  ['--odd', '', 'It must be probabilities'],
  ['--odd', '__proto__=0.1', 'It must be probabilities'],
  ['--fault', 'reset=0.6,hang=0.5', 'It must be probabilities that add up to at most 1, of http_500,'],
])('simulate refuses %s %j with a sentence of what is expected', (flag, text, sentence) => {
  const refused = new RegExp(`^error: option '${flag} <.*>' argument '${text}' is invalid\\. ${sentence}`)
  expect(() => given([flag, text])).toThrow(refused)
})

test('simulate refuses probabilities that add up to more than 1 over several options', () => {
  expect(() => given(['--fault', 'reset=0.6', '--fault', 'hang=0.5'])).toThrow(/add up to at most 1/)
})
