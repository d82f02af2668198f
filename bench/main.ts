import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startChild, type Child } from './child.ts'
import type { Row } from './scenario.ts'
import { KNOWN_SHORTFALLS } from './known-shortfalls.ts'
import { chooseRows, rowsOf, SCENARIOS } from './scenarios.ts'
import { FULL, SHORT } from './sizes.ts'
import { headerOf, lineOf, verdictOf } from './table.ts'

/**
 * `npm run bench -- [--row NAME]… [--short] [--json] [--profile FOLDER]`: the table of docs/development/performance.md. Everything
 * that is measured runs in a process of its own, beside the service's. A row that falls short is reported; with `--short`
 * one that is far over its target, or over what is known of it, is an error. With `--profile` each process leaves a CPU
 * profile, which costs time as well.
 */
const FAR_OVER = 1.5

let args
try {
  args = parseArgs({
    options: {
      row: { type: 'string', multiple: true, default: [] },
      short: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
  }).values
} catch (error) {
  refuse(error instanceof Error ? error.message : String(error))
}
const { row: names, short, json, profile } = args
const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
const unknown = names.find((name) => rowsOf(name).length === 0)
if (unknown !== undefined) {
  const known = SCENARIOS.flatMap(({ name, rows }) => [name, ...rows])
  refuse(`There is no row "${unknown}"; expected one of ${[...new Set(known)].join(', ')}.`)
}
const { scenarios, rows: wanted } = chooseRows(names)
const sizes = short ? SHORT : FULL
const folder = mkdtempSync(join(tmpdir(), 'callwatch-bench-'))
const header = headerOf(sizes)
const rows: Row[] = []
const begun = performance.now()
process.once('SIGINT', () => process.exit(130))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

if (!json) console.log(header)
for (const scenario of scenarios) {
  // Of each scenario: the Date of its answers is the host's, and must not be far from it.
  const now = Math.floor(Date.now() / 1000)
  const children: Child[] = []
  const start = async (program: string, options: object, execArgv: string[] = []) => {
    const child = await startChild(program, options, [...execArgv, ...profiling])
    children.push(child)
    return child
  }
  try {
    for (const row of await scenario.run({ sizes, folder, now, start })) {
      if (!wanted.has(row.row)) continue
      if (!Number.isFinite(row.measured)) throw new Error(`nothing was measured for ${row.row}`)
      rows.push(row)
      if (!json) console.log(lineOf(row))
    }
  } finally {
    await Promise.all(children.map((child) => child.end()))
  }
}
const seconds = Math.round((performance.now() - begun) / 1000)
if (json) {
  const evaluated = rows.map((row) => ({ ...row, verdict: verdictOf(row) }))
  console.log(JSON.stringify({ machine: header, sizes, seconds, rows: evaluated }, null, 2))
} else {
  console.log(`${rows.filter((row) => verdictOf(row) === 'pass').length} of ${rows.length} rows pass; ${seconds} s`)
}
if (short && rows.some(isFarOver)) process.exitCode = 1

function isFarOver({ row, measured, target }: Row): boolean {
  return measured > FAR_OVER * Math.max(target, KNOWN_SHORTFALLS[row] ?? 0)
}

function refuse(problem: string): never {
  console.error(problem)
  process.exit(2)
}
