import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../docs/development/adr')
const FILES = globSync('[0-9]*.md', { cwd: FOLDER }).toSorted()
const LONGEST_WORDS = 190
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

const numberOf = (file: string) => Number(file.slice(0, 4))
/** The number, title and date of a decision, as the first lines of its file say. */
const HEAD = /^# (\d+)\. (.+)\n\n\*\*Date\.\*\* (\d{4}-\d\d-\d\d)\.\n\n\*\*Context\.\*\* /
/** The line of a decision that another one has replaced: its number, and the number and file of that one. */
const REPLACED = /^(\d+)\. .+: replaced by \[(\d+)\]\((.+)\)$/

test.each(FILES)('%s is short, and begins with its number, title and date', (file) => {
  const text = read(file)
  const [, number, , date = ''] = HEAD.exec(text) ?? []
  expect([Number(number), new Date(date).toISOString()]).toEqual([numberOf(file), expect.stringContaining(date)])
  expect(text.split(/\s+/).length).toBeLessThan(LONGEST_WORDS)
})

test('the list has each decision, or the later one that has replaced it', () => {
  const lines = read('README.md').match(/^\d.*$/gm) ?? []
  const expected = lines.map((line, i) => {
    const file = FILES.find((name) => numberOf(name) === i + 1)
    if (file !== undefined) return `${i + 1}. [${HEAD.exec(read(file))?.[2]}](${file})`
    const [, number, later, name = ''] = REPLACED.exec(line) ?? []
    expect([Number(number), existsSync(join(FOLDER, name)), numberOf(name)]).toEqual([i + 1, true, Number(later)])
    expect(Number(later)).toBeGreaterThan(Number(number))
    return line
  })
  expect(lines).toEqual(expected)
  expect(lines.length).toBe(numberOf(FILES.at(-1)!))
})
