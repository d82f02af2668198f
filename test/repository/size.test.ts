import { spawnSync } from 'node:child_process'
import { globSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeLines } from './code-lines.ts'

const ROOT = join(import.meta.dirname, '../..')

test('the lines of code of src and of the tests are printed, neither blank nor comment; the README says how many, in thousands', () => {
  const linesOf = (folder: string) =>
    globSync(`${folder}/**/*.{ts,tsx,js,jsx,css}`, { cwd: ROOT }).reduce(
      (sum, file) => sum + codeLines(readFileSync(join(ROOT, file), 'utf8')),
      0,
    )
  const [src, tests, page, simulator] = ['src', 'test', 'src/web/page', 'src/simulator'].map(linesOf)
  console.log(`lines of code: src ${src}, test ${tests}`)
  const thousands = [src! - page! - simulator!, page!, simulator!].map((lines) => Math.round(lines / 1000))
  const said = readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/ (\d+),000(?= lines| the page| the simulator)/g)
  expect([...said].map(([, number]) => Number(number))).toEqual(thousands)
  expect(tests).toBeGreaterThan(10_000)
})

test('a folder of more than twenty files has sub-folders', () => {
  const folders = ['src/', ...globSync('src/**/*/', { cwd: ROOT })].filter((folder) => {
    const entries = readdirSync(join(ROOT, folder), { withFileTypes: true })
    return entries.length > 20 && entries.every((entry) => entry.isFile())
  })
  expect(folders).toEqual([])
})

/** Of files and functions. */
const LIMITS = {
  complexity: ['error', 12],
  'max-lines': ['error', 350],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
}

test('no function or file of src is above a limit', () => {
  expect(aboveLimits()).toEqual([])
})

test('no comment switches a limit off', () => {
  const files = globSync('src/**/*.{ts,tsx,js,jsx}', { cwd: ROOT })
  const isSwitch =
    /(?:oxlint|eslint)-disable[^\n]*(?:complexity|max-lines)|(?:oxlint|eslint)-disable(?:-\w+)*\s*(?:\*\/)?$/m
  expect(files.filter((file) => isSwitch.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
})

function aboveLimits(): string[] {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'callwatch-'))
  const config = join(folder.path, 'limits.json')
  writeFileSync(config, JSON.stringify({ categories: { correctness: 'off' }, rules: LIMITS }))
  const { stdout } = spawnSync('npx', ['oxlint', '--config', config, '--format', 'json', 'src'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const { diagnostics }: { diagnostics: { filename: string; message: string; code: string }[] } = JSON.parse(stdout)
  return diagnostics
    .map(({ filename, message, code }) => {
      const name = /`(.+)`/.exec(message)?.[1] ?? (code === 'eslint(max-lines)' ? 'file' : 'function')
      const measure = message.includes('complexity') ? 'complexity' : 'lines'
      return `${filename} ${name}: ${/(?:complexity of |\()(\d+)/.exec(message)?.[1]} ${measure}`
    })
    .toSorted()
}
