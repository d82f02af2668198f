import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, formatProblems } from '../../../src/config/config-error.ts'
import { loadRules } from '../../../src/config/load-rules.ts'
import { folderWith } from './folder-with.ts'

const DAY = 86_400

function load(source: string, env = {}) {
  return loadRules({ file: 'rule.yaml', env, cwd: folderWith({ 'rule.yaml': source }), history: DAY })
}

function problems(source: string, env = {}): string[] {
  try {
    load(source, env)
  } catch (error) {
    if (error instanceof ConfigError) return [error.message, ...formatProblems(error).split('\n')]
    throw error
  }
  throw new Error('the rules were accepted')
}

test('a file of rules has one, or a list of them, in the form of `alerts`', () => {
  expect(load('name: A\nsignal: calls_finished\nbelow: ${LOW}\n', { LOW: '1' })).toMatchObject([
    { name: 'A', signal: { name: 'calls_finished', window: 900 }, breach: 'below', threshold: 1, repeat: 14_400 },
  ])
  const two = '- { name: A, signal: calls_finished, below: 1 }\n- { name: B, signal: poll_age, above: 5m }\n'
  expect(load(two).map(({ name }) => name)).toEqual(['A', 'B'])
  expect(load('[]')).toEqual([])
})

test.each([
  [
    'a mistake in a list',
    '- { name: A, signal: calls_finished, below: 1 }\n- name: B\n  signal: failure_ratio\n  above: 3\n  windw: 5m\n',
    '4:3: [1].above: found `3`; expected a ratio from 0 to 1',
    '5:3: [1].windw: unknown key `windw`; did you mean `window`?',
  ],
  [
    'a window beyond the history',
    'name: A\nsignal: calls_finished\nbelow: 1\nwindow: 2d\n',
    '4:1: window: the window of the rule `A` is 2d; expected at most `store.history`, which is 1d',
  ],
  [
    'a window beyond the history in a list, and a name twice',
    '- { name: A, signal: calls_finished, below: 1, window: 2d }\n- { name: A, signal: calls_finished, below: 1 }\n',
    '1:48: [0].window: the window of the rule `A` is 2d; expected at most `store.history`, which is 1d',
    '2:5: [1].name: the same name as `[0]`; expected a name of its own',
  ],
  ['no rule', 'calls\n', ' found a text; expected a map'],
])('%s is refused with its place, in the words of the configuration', (_what, source, ...expected) => {
  const headline = `${expected.length} problem${expected.length === 1 ? '' : 's'} in the configuration (rule.yaml)`
  expect(problems(source)).toEqual([headline, ...expected.map((line) => `rule.yaml:${line}`)])
})

test('what is no YAML is refused with its place', () => {
  expect(problems('name: [\n').join('\n')).toMatch(
    /^\d problems? in the configuration\nrule\.yaml:\d:\d: not valid YAML: /,
  )
})

test('a file that is not there is the problem of the option', () => {
  const load = () => loadRules({ file: 'no.yaml', env: {}, cwd: join(import.meta.dirname), history: DAY })
  expect(load).toThrow(
    expect.objectContaining({
      problems: [{ path: '--rule', message: 'the file `no.yaml` does not exist; expected a file of rules in YAML' }],
    }),
  )
})

test('a file without content is named', () => {
  expect(() => load('# none yet')).toThrow('rule.yaml')
})
