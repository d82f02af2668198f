import { expect, test } from 'vitest'
import { ConfigError } from '../../../src/config/config-error.ts'
import { parseYaml } from '../../../src/config/reading/read-config-file.ts'

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
  ['a', '1:1'],
  ['a.b', '2:3'],
  ['a.b[1]', '2:13'],
  ['a.b[1].c', '2:14'],
  ['a["odd key"]', '3:3'],
  ['a["${NAME}"].d', '4:14'],
  // Where it is missing, what lacks it.
  ['a.b[1].x', '2:13'],
  ['a.b[7].x["y z"]', '2:3'],
  ['a.alias.c', '5:3'],
])('the place of %s is its line and column', (path, place) => {
  const source = 'a:\n  b: [1, &x {c: 2}]\n  odd key: 3\n  ${NAME}: { d: 4 }\n  alias: *x\n'
  expect(parseYaml(source, 'f').placeOf(path)).toBe(`f:${place}`)
})

test.each(['b', 'b.c', 'CALLWATCH_API_KEY', ''])('"%s", which is not in the file, has no place', (path) => {
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

test('an alias within its own anchor is refused', () => {
  expect(problemsIn('a: &x\n  b: [*x]')).toEqual([
    { path: 'f:2:7', message: 'not valid YAML: found `*` within the anchor that it names' },
  ])
})

test('any number of targets may share a template', () => {
  const targets = Array.from({ length: 200 }, (_, i) => `  - { name: t${i}, query: *q }`)
  const { content } = parseYaml(['base: &b [x]', 'query: &q { a: *b, b: *b }', 'targets:', ...targets].join('\n'), 'f')
  expect(content).toHaveProperty('targets.199', { name: 't199', query: { a: ['x'], b: ['x'] } })
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
