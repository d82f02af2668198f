import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { problemsWhenLoading } from './problems-when-loading.ts'

// Each file of invalid/ holds one mistake. Its first lines are comments: `# env: NAME=value` sets a variable, every other
// one is a line that the user must see. Together they are all that the user sees.
const cwd = import.meta.dirname
const files = readdirSync(join(cwd, 'invalid'))

test('there is a file for each mistake', () => {
  expect(files.length).toBeGreaterThan(70)
})

test.each(files)('%s is refused in the words at its top', (name) => {
  const { env, expected, source } = readCase(join(cwd, 'invalid', name))
  expect(expected).not.toEqual([])
  const seen = problemsWhenLoading({ file: `invalid/${name}`, env, cwd })
  expect(seen.split('\n')).toEqual(expected)
  if (/hunter2/.test(source)) expect(seen).not.toContain('hunter2')
})

function readCase(path: string) {
  const source = readFileSync(path, 'utf8')
  const env: Record<string, string> = {}
  const expected: string[] = []
  for (const line of source.split('\n')) {
    if (!line.startsWith('# ')) break
    const [, name, value] = /^# env: (\w+)=(.*)$/.exec(line) ?? []
    if (name === undefined) expected.push(line.slice(2))
    else env[name] = value ?? ''
  }
  return { env, expected, source }
}
