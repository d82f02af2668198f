import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { callwatch, configFile, start } from './callwatch.ts'

const ROOT = join(import.meta.dirname, '../..')
const WAIT = 60_000
const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
const PAGES = ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)]
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8')
/** What stands in a page as code: in a line of a block, or between backticks. */
const codeOf = (text: string) => [
  ...[...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n')),
  ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
]
const CALLWATCH = /(?:^|&& |\s)(?:npx )?(?:callwatch|node src\/main\.ts) ([a-z][a-z-]*)([^&|#]*)/
const SCRIPT = /npm (?:run )?([a-z]+)/g

/** What the pages tell to type, by command; options without their values. */
function shown(): Map<string, Set<string>> {
  const commands = new Map<string, Set<string>>()
  for (const code of PAGES.flatMap((page) => codeOf(read(page)))) {
    const [, command, rest = ''] = CALLWATCH.exec(code) ?? []
    if (command === undefined) continue
    const options = commands.get(command) ?? new Set()
    for (const [option] of rest.matchAll(/--[a-z][a-z-]*/g)) options.add(option)
    commands.set(command, options)
  }
  return commands
}

describe('the pages', () => {
  test('name only commands and options that there are', { timeout: WAIT }, async () => {
    const commands = shown()
    expect(commands.size).toBeGreaterThan(6)
    const known = (await callwatch(['--help'])).stdout
    for (const [command, options] of commands) {
      expect(known).toMatch(new RegExp(`^  ${command} `, 'm'))
      const { stdout } = await callwatch([command, '--help'])
      // `silence add` and its like have a help of their own.
      const of = { silence: 'add', store: 'copy' }[command]
      const inner = of === undefined ? '' : (await callwatch([command, of, '--help'])).stdout
      for (const option of options) expect(`${stdout}${inner}`, `${command} ${option}`).toContain(option)
    }
  })

  test('name only npm scripts that there are', () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = PAGES.flatMap((page) => codeOf(read(page)))
      .flatMap((code) => [...code.matchAll(SCRIPT)].map(([, script = '']) => script))
      .filter((script) => script !== 'ci')
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([])
    expect(named).toContain('demo')
  })

  test('name only files of the project that there are', () => {
    const named = PAGES.flatMap((page) => codeOf(read(page))).flatMap((code) => [
      ...(code.match(/\b(?:src|test|bench|config|docs)\/[\w/.-]+\.(?:ts|js|json|ya?ml|md|png)\b/g) ?? []),
    ])
    expect(named).toContain('src/main.ts')
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  })

  test('lead to files that there are', () => {
    const missing = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !existsSync(join(ROOT, dirname(page), link)))
        .map((link) => `${page}: ${link}`),
    )
    expect(missing).toEqual([])
  })

  test('lead to headings that there are', () => {
    // As GitHub makes them.
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-')
    const headings = (page: string) => [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slug(heading))
    const links = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\(([\w/.-]*)#([\w-]+)\)/g)].map(([, link = '', to = '']) => {
        return { page, to, at: link === '' ? page : join(dirname(page), link) }
      }),
    )
    expect(links.length).toBeGreaterThan(5)
    expect(links.filter(({ at, to }) => !headings(at).includes(to))).toEqual([])
  })

  test('explain lines of the log that are written', () => {
    const [, table = ''] = /^## What the log says\n(.*?)^## /ms.exec(read('docs/operations.md')) ?? []
    const lines = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) => cell.match(/[^`]{3,}/g) ?? [])
    expect(lines.length).toBeGreaterThan(15)
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )
    const code = sources.map((name) => read(join('src', name))).join('\n')
    // What differs from line to line stands as …, as one letter, or as what came of it.
    const parts = lines.map((line) =>
      line.split(/…|\b(?:[NMS]|failed|partial|retried|dropped)\b/).map((part) => part.trim()),
    )
    const written = parts.map((each) => each.reduce((a, b) => (b.length > a.length ? b : a)))
    expect(written.filter((part) => !code.includes(part))).toEqual([])
  })
})

describe('the README', () => {
  test(
    'shows a demo that prints the address of its page, and ends with its comparison',
    { timeout: WAIT },
    async () => {
      const demo = start(['demo', '--speed', '20', '--seed', '7'])
      await demo.printed(/http:\/\/\S+/)
      await demo.printed(/→/)
      demo.child.kill('SIGINT')
      const { code, stdout } = await demo.ended
      expect(code).toBe(0)
      expect(stdout).toMatch(/equal/)
    },
  )

  test(
    'and the guides to alerting and to several machines show configurations that are right',
    { timeout: WAIT },
    async () => {
      const blocks = ['README.md', 'docs/alerting.md', 'docs/several-machines.md']
        .flatMap((page) => [...read(page).matchAll(/^( *)```yaml\n(.*?)```/gms)])
        .map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
        .filter((block) => /^(targets|alerts|store):/.test(block))
      expect(blocks.length).toBeGreaterThan(6)
      const target = 'targets: [{ app_id: a, region: us, api_key: k }]\n'
      for (const block of blocks) {
        const yaml = block.startsWith('targets:')
          ? block.replace('api_key_file: /run/secrets/callwatch-key', 'api_key: k')
          : target + block
        const env = {
          SLACK_WEBHOOK_URL: 'https://hooks.example/x',
          FINANCE_HOOK: 'https://finance.example/x',
          CALLWATCH_DB_PASSWORD: 'x',
        }
        const { code, stderr } = await callwatch(['check', '--config', configFile(yaml)], { env })
        expect({ code, stderr, yaml }).toEqual({ code: 0, stderr: '', yaml })
      }
    },
  )
})
