import { spawnSync } from 'node:child_process'
import { globSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeLines } from './code-lines.ts'

const ROOT = join(import.meta.dirname, '../..')

/**
 * How many lines of code (neither blank nor comment) each folder may have, without those below it that have a line of their own. A
 * change that makes a folder smaller lowers its line; a change that raises a line says why in its commit.
 */
const ROOMS: Record<string, number> = {
  src: 222,
  'src/alerts': 2192,
  'src/clock': 84,
  'src/cluster': 329,
  'src/commands': 3556,
  'src/config': 787,
  'src/daemon': 1500,
  'src/events': 831,
  'src/history': 1028,
  'src/ledger': 1923,
  'src/log': 90,
  'src/metrics': 623,
  'src/network': 195,
  'src/notifications': 3311,
  'src/pipeline': 1281,
  'src/polling': 2070,
  'src/rx': 126,
  'src/schema': 459,
  'src/service': 1083,
  'src/simulator': 1571,
  'src/store': 4002,
  'src/text': 170,
  'src/views': 2155,
  'src/web': 1990,
  'src/web/page': 5357,
  test: 68004,
}

/** How far a folder of src may be below its line. */
const SLACK = 25

const lines = new Map<string, number>()
for (const file of globSync('{src,test}/**/*.{ts,tsx,js,jsx,css}', { cwd: ROOT })) {
  const room = Object.keys(ROOMS)
    .filter((folder) => file.startsWith(`${folder}/`))
    .toSorted()
    .at(-1)!
  lines.set(room, (lines.get(room) ?? 0) + codeLines(readFileSync(join(ROOT, file), 'utf8')))
}

test.each(Object.entries(ROOMS))('%s has at most %i lines of code, and src not far fewer', (room, most) => {
  expect(lines.get(room), `${room} grew: make it smaller`).toBeLessThanOrEqual(most)
  if (room === 'test') return
  expect(lines.get(room), `${room} is smaller now: lower its line in ROOMS`).toBeGreaterThan(most - SLACK)
})

test('each folder of src has its line', () => {
  expect(globSync('src/*/', { cwd: ROOT }).filter((folder) => !(folder in ROOMS))).toEqual([])
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
