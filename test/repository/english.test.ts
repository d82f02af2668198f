import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Phrases that a reader has to read twice, each with what to write. */
const INSTEAD: Record<string, string> = {
  'all the same': 'anyway',
  'as far as': 'if, or say the limit',
  beside: 'next to, or together with',
  'but for': 'except',
  'by itself': 'on its own, or automatically',
  'by now': 'now',
  'by themselves': 'on their own',
  'for good': 'permanently',
  'go on': 'continue',
  'goes on': 'continues',
  'held back': 'paused',
  'in place of': 'instead of',
  'is mended': 'is corrected',
  'is to be': 'must be, or is going to be',
  'look after': 'check',
  'need be': 'needs to be',
  'passed over': 'excluded',
  'put out': 'enqueued',
  'wanted or not': 'whether it wants them or not',
  whoever: 'everybody who, or name it',
}
const AWKWARD = new RegExp(`\\b(?:${Object.keys(INSTEAD).join('|')})\\b`, 'gi')

/** Shapes of sentences in pages, each with what to do. */
const SHAPES: [RegExp, string][] = [
  [
    /(?<=^|[.:] |\| |[-*] |\*\* )(?:Of (?:a|an|the|each|those|these|what|one)\b|Who (?!can\b)\w+s\b)/g,
    'begin with the subject',
  ],
  [/(?<=^|[.] |\| |[-*] )(?:What|Where) (?:lasts|waits|expired|fires|is|are)\b[^?]*$/g, 'begin with the subject'],
  [/^\|.*;.*;.*;.*$/g, 'one idea a sentence: no list with semicolons in a table'],
]

const lines = (files: readonly string[]) =>
  files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .map((line, i) => ({ line, at: `${file}:${i + 1}` })),
  )
const pages = globSync(['*.md', 'docs/*.md', 'docs/development/specification.md'], { cwd: ROOT })
const sources = globSync('src/**/*.{ts,tsx,css}', { cwd: ROOT })

test.each([
  ['pages', pages],
  ['sources', sources],
])('the %s have no phrase that a reader has to read twice', (_which, files) => {
  expect(files.length).toBeGreaterThan(20)
  const found = lines(files).flatMap(({ line, at }) =>
    (line.match(AWKWARD) ?? []).map((phrase) => `${at}: "${phrase}": ${INSTEAD[phrase.toLowerCase()]}`),
  )
  expect(found).toEqual([])
})

test('the pages have no sentence with its subject at the end, and no table cell with a list of conditions', () => {
  const found = lines(pages).flatMap(({ line, at }) =>
    SHAPES.flatMap(([shape, advice]) =>
      (line.match(shape) ?? []).map((text) => `${at}: "${text.slice(0, 60)}": ${advice}`),
    ),
  )
  expect(found).toEqual([])
})
