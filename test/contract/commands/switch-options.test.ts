import { Command } from 'commander'
import { expect, test } from 'vitest'
import { switchOptions } from '../../../src/commands/options/switch-options.ts'
import { defaultSwitches, type Switches } from '../../../src/simulator/switches.ts'
import { callwatch, startHere } from '../../kit/commands/callwatch.ts'

/** The options of each switch, and its value then. None is the default. */
const GIVEN: Record<keyof Switches, { args: string[]; value: unknown }> = {
  arrivals: { args: ['--no-arrivals'], value: false },
  order: { args: ['--order', 'oldest'], value: 'oldest' },
  answerSeconds: { args: ['--answer-seconds', '2'], value: 2 },
  perPage: { args: ['--per-page', '50'], value: 50 },
  perPageField: { args: ['--per-page-field', 'given'], value: 'given' },
  getCall: { args: ['--get-call', 'list'], value: 'list' },
  sessions: { args: ['--sessions', 'reused'], value: 'reused' },
  times: { args: ['--times', 'startedAt'], value: 'startedAt' },
  failedEnds: { args: ['--failed-ends', 'given'], value: 'given' },
  empty: { args: ['--empty', 'null'], value: 'null' },
  receiverTypes: { args: ['--receiver-types', 'users'], value: 'users' },
  peopleFilters: { args: ['--people-filters', 'ignored'], value: 'ignored' },
  pathIds: { args: ['--path-ids', 'raw'], value: 'raw' },
  total: { args: ['--total=absent'], value: 'absent' },
  listedSeconds: { args: ['--listed-seconds', '3600'], value: 3600 },
  mostListed: { args: ['--most-listed', '1000'], value: 1000 },
  rateLimitHeaders: { args: ['--rate-limit-headers', 'X-Rate-Limit'], value: 'X-Rate-Limit' },
  fault: {
    args: ['--fault', 'http_500=0.1, reset=0.05', '--fault', 'hang=0.02'],
    value: { http_500: 0.1, reset: 0.05, hang: 0.02 },
  },
  webhookFault: { args: ['--webhook-fault', 'lost=0.1,twice=0.2'], value: { lost: 0.1, twice: 0.2 } },
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
  const running = startHere(['simulate', '--port', '0', ...args])
  const [, switches] = await running.printed(/^switches: +(http:\S+)$/m)
  const expected = Object.fromEntries(Object.entries(GIVEN).map(([name, { value }]) => [name, value]))
  expect(await (await fetch(switches!)).json()).toEqual(expected)
  expect(Object.keys(expected).toSorted()).toEqual(Object.keys(defaultSwitches).toSorted())
  for (const [name, initial] of Object.entries(defaultSwitches)) expect(expected[name]).not.toEqual(initial)
})

test.each([
  ['--order', 'random', 'It must be "newest" or "oldest" or "shuffled".'],
  ['--order', '', 'It must be "newest" or'],
  ['--per-page', '1.5', 'It must be "honoured", "ignored" or a whole number above 0.'],
  ['--per-page', '', 'It must be "honoured", "ignored" or a whole number above 0.'],
  ['--answer-seconds', '61', 'It must be a number from 0 to 60.'],
  ['--fault', 'eaten=0.1', 'It must be probabilities that add up to at most 1, of http_500,'],
  ['--fault', 'reset', 'It must be probabilities that add up to at most 1, of http_500,'],
  ['--fault', 'reset=', 'It must be probabilities'],
  ['--fault', 'reset=0.1=0.2', 'It must be probabilities'],
  ['--fault', '', 'It must be probabilities'],
  ['--fault', '__proto__=0.1', 'It must be probabilities'],
  ['--fault', 'reset=0.6,hang=0.5', 'It must be probabilities that add up to at most 1, of http_500,'],
])('simulate refuses %s %j with a sentence of what is expected', (flag, text, sentence) => {
  const refused = new RegExp(`^error: option '${flag} <.*>' argument '${text}' is invalid\\. ${sentence}`)
  expect(() => given([flag, text])).toThrow(refused)
})

test('simulate refuses probabilities that add up to more than 1 over several options', () => {
  expect(() => given(['--fault', 'reset=0.6', '--fault', 'hang=0.5'])).toThrow(/add up to at most 1/)
})

test('the help of simulate fits on a screen', async () => {
  const { stdout } = await callwatch(['simulate', '--help'])
  const lines = stdout.trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(50)
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100)
})
