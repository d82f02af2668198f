import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../docs/development/adr')
const FILES = globSync('[0-9]*.md', { cwd: FOLDER }).toSorted()
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

const numberOf = (file: string) => Number(basename(file).slice(0, 4))
/** The number, title, date and status of a decision, as the first lines of its file say. */
const HEAD = /^# (\d+)\. (.+)\n\n\*\*Date\.\*\* (\d{4}-\d\d-\d\d)\. \*\*Status\.\*\* ([^]+?)\n\n\*\*Context\.\*\* /
const OTHERS = /\[(\d+)\]\((\d{4}-[\w-]+\.md)\)/
const STATUS = new RegExp(
  `^(?:Accepted|(?:Superseded|Partly superseded) by (${OTHERS.source}(?: and |: |$))+.*)\\.$`,
  's',
)

test.each(FILES)(
  '%s begins with its number, date and status, which names the later decisions that replace it',
  (file) => {
    const [, number, , date = '', status = ''] = HEAD.exec(read(file)) ?? []
    expect([Number(number), status]).toEqual([numberOf(file), expect.stringMatching(STATUS)])
    expect(new Date(date).toISOString()).toContain(date)
    for (const [, later, name = ''] of status.matchAll(new RegExp(OTHERS, 'g'))) {
      expect([name, existsSync(join(FOLDER, name)), numberOf(name)]).toEqual([name, true, Number(later)])
      expect(Number(later)).toBeGreaterThan(Number(number))
    }
  },
)

test('the list of decisions has the title, date and status of each', () => {
  const rows = FILES.map((file) => {
    const [, number, title, date, status = ''] = HEAD.exec(read(file)) ?? []
    const short = status.replaceAll(new RegExp(OTHERS, 'g'), '$1').replace(/[:.].*$/s, '')
    return `| ${number} | [${title}](${file}) | ${date} | ${short} |`
  })
  expect(read('README.md').match(/^\| \d.*$/gm)).toEqual(rows)
})
