import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const USERS = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]

describe('the README', () => {
  const readme = read('README.md')

  test('has at most 600 words, and the changelog of the first release 70 lines', () => {
    expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(600)
    expect(read('CHANGELOG.md').split('\n').length).toBeLessThanOrEqual(70)
  })

  test('shows the page, tries callwatch with one command and a past day with three, watches calls with three or in a container, and ends with links for six readers', () => {
    expect(readme).toContain('](docs/images/page-light.png)')
    const blocks = [...readme.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block.trim().split('\n'))
    // A release puts that of the image first.
    const run = blocks[0]?.[0]?.startsWith('docker run ') ? 1 : 0
    expect(blocks.map((lines) => lines.length)).toEqual([...Array<number>(run).fill(1), 1, 1, 2, 3, 2])
    const [, answers = ''] = readme.split('## Find an answer\n')
    expect(answers.match(/^- \*\*.*?:\*\* .*?\]\(docs\//gm)).toHaveLength(6)
  })
})

test('README and guides name one version of Node.js, the oldest that the package runs on', () => {
  const oldest = JSON.parse(read('package.json')).engines.node.replace('>=', '')
  const named = USERS.flatMap((page) =>
    [...read(page).matchAll(/Node(?:\.js)?\s+(\d+)/g)].map(([says, version]) => ({ page, says, version })),
  )
  expect(named.length).toBeGreaterThan(1)
  expect(named.filter(({ version }) => version !== oldest)).toEqual([])
})
