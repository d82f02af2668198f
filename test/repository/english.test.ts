import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Phrases that a reader has to read twice, each with what to write. */
const INSTEAD: Record<string, string> = {
  'as far as': 'if, or say the limit',
  'but for': 'except',
  'for good': 'permanently',
  'go on': 'continue',
  'goes on': 'continues',
  'in place of': 'instead of',
  'is mended': 'is corrected',
}
const AWKWARD = new RegExp(`\\b(?:${Object.keys(INSTEAD).join('|')})\\b`, 'gi')

const pages = globSync(['*.md', 'docs/*.md'], { cwd: ROOT })
const sources = globSync('src/**/*.{ts,tsx,css}', { cwd: ROOT })

test.each([
  ['pages', pages],
  ['sources', sources],
])('the %s have no phrase that a reader has to read twice', (_which, files) => {
  expect(files.length).toBeGreaterThan(20)
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, i) =>
        (line.match(AWKWARD) ?? []).map((phrase) => `${file}:${i + 1}: "${phrase}": ${INSTEAD[phrase.toLowerCase()]}`),
      ),
  )
  expect(found).toEqual([])
})
