import { expect, test } from 'vitest'
import { ConfigError } from '../../../../src/config/config-error.ts'
import { parseYaml } from '../../../../src/config/reading/parse-yaml.ts'

test('an empty text and one of comments hold nothing', () => {
  expect(parseYaml('', 'f').content).toBeNull()
  expect(parseYaml('# nothing\n', 'f').content).toBeNull()
})

test('`${NAME}` stands without quotes where YAML would refuse its braces', () => {
  expect(parseYaml('{ a: ${A}, b: [${B}, x${C}y], ${D}: 1 }', 'f').content).toEqual({
    a: '${A}',
    b: ['${B}', 'x${C}y'],
    '${D}': 1,
  })
})

test('lines and columns are those of the file, `${NAME}` before the mistake included', () => {
  expect(problemsIn('a: { b: ${NAME}, b: 1 }')).toEqual([
    { path: 'f:1:18', message: 'not valid YAML: Map keys must be unique' },
  ])
})

test.each([
  [['a'], '1:1'],
  [['a', 'b'], '2:3'],
  [['a', 'b', 1], '2:13'],
  [['a', 'b', 1, 'c'], '2:14'],
  [['a', 'odd key'], '3:3'],
  [['a', '${NAME}', 'd'], '4:14'],
  // Where it is missing, what lacks it.
  [['a', 'b', 1, 'x'], '2:13'],
  [['a', 'b', 7, 'x', 'y z'], '2:3'],
  [['a', 'alias', 'c'], '5:3'],
])('the place of %j is its line and column', (path, place) => {
  const source = 'a:\n  b: [1, &x {c: 2}]\n  odd key: 3\n  ${NAME}: { d: 4 }\n  alias: *x\n'
  expect(parseYaml(source, 'f').placeOf(path)).toBe(`f:${place}`)
})

test.each([[['b']], [['b', 'c']], [[]]])('%j, which is not in the file, has no place', (path) => {
  expect(parseYaml('a: 1', 'f').placeOf(path)).toBeUndefined()
})

test('after something that cannot stand there nothing more is complained of', () => {
  expect(problemsIn('a: { b: c}d}e}\nf: { g }}\n')).toHaveLength(1)
})

test.each([
  ['an alias', 'key: *hunter2'],
  ['a tag', 'key: !hunter2 x'],
  ['an escape', 'key: "hunter2\\q"'],
  ['a stray text', 'key: "a" hunter2'],
  ['a directive', '%hunter2 x\n---\nkey: 1'],
  ['a reserved beginning', 'key: @hunter2'],
  ['a quote that never ends', 'key: "hunter2'],
  ['a text of several lines as a key', 'hunter2\nhunter2: 1'],
  ['a bad indentation', 'a:\n    b: 1\n  hunter2: 1'],
])('%s that YAML refuses is not quoted, for it may be a secret', (_, source) => {
  const problems = problemsIn(source)
  expect(problems).not.toEqual([])
  expect(JSON.stringify(problems)).not.toContain('hunter2')
})

test('any number of targets may share a template', () => {
  const targets = Array.from({ length: 200 }, (_, i) => `  - { name: t${i}, query: *q }`)
  const { content } = parseYaml(['base: &b [x]', 'query: &q { a: *b, b: *b }', 'targets:', ...targets].join('\n'), 'f')
  expect(content).toHaveProperty('targets.199', { name: 't199', query: { a: ['x'], b: ['x'] } })
})

test('an alias within its own anchor is refused', () => {
  expect(problemsIn('a: &x\n  b: [*x]')).toEqual([
    { path: 'f:2:7', message: expect.stringContaining('found `*` with a name that no anchor before it has') },
  ])
})

test('lists of aliases that stand for millions of values are refused', () => {
  const list = (of: string) => `[${Array<string>(9).fill(of).join(', ')}]`
  const levels = [1, 2, 3, 4, 5, 6].map((level) => `a${level}: &a${level} ${list(`*a${level - 1}`)}`)
  expect(problemsIn([`a0: &a0 ${list('x')}`, ...levels].join('\n'))).toEqual([
    { path: 'f', message: 'not valid YAML: found aliases (`*NAME`) that repeat each other too often; expected fewer' },
  ])
})

test.each([
  ['a map', 'c: { <<: *a, y: 3 }', { x: 1, y: 3 }],
  ['a map after the own keys', 'c: { y: 3, <<: *a }', { x: 1, y: 3 }],
  ['a list of maps, the first of which counts', 'c: { <<: [*b, *a] }', { x: 1, y: 4, z: 5 }],
  ['a map that merges another one', 'd: &d { <<: *b, w: 6 }\nc: { <<: *d }', { w: 6, y: 4, z: 5 }],
  ['nothing if it is quoted', 'c: { "<<": 1 }', { '<<': 1 }],
])('the key `<<` adds what the map lacks of %s', (_, source, c) => {
  const { content } = parseYaml(`a: &a { x: 1, y: 2 }\nb: &b { y: 4, z: 5 }\n${source}`, 'f')
  expect(content).toHaveProperty('c', c)
})

test.each(['1', '[*a, 1]'])('the key `<<` with "%s" is refused', (value) => {
  expect(problemsIn(`a: &a { x: 1 }\nb: { <<: ${value} }`)).toEqual([
    {
      path: 'f',
      message:
        'not valid YAML: found `<<` without a map; expected `<<: *NAME`, where `&NAME` marks a map, or a list of such names',
    },
  ])
})

test('the key `<<` with an anchor that is not there is one mistake', () => {
  expect(problemsIn('b: { <<: *a }')).toHaveLength(1)
})

function problemsIn(source: string) {
  try {
    parseYaml(source, 'f')
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
