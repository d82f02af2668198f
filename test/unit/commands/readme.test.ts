import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SECRET } from '../../kit/events/webhooks/any-webhook.ts'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'

const ROOT = join(import.meta.dirname, '../../..')
const DOCS = globSync('docs/**/*.md', { cwd: ROOT })
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  '.github/pull_request_template.md',
  ...DOCS,
]
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8')
/** The code in a page: lines of a block, and text between backticks. */
const codeOf = (text: string) => [
  ...[...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n')),
  ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
]
/** The files to which a page links. */
const linksOf = (page: string) =>
  [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => join(dirname(page), link))
const CALLWATCH = /(?:^|&& |\s)(?:npx )?(?:callwatch|node src\/main\.ts) ([a-z][a-z-]*)([^&|#]*)/
const SCRIPT = /npm (?:run )?([a-z]+)/g

/** The commands in the pages, with the names of their options. */
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

describe('README, guides and policies', () => {
  test('name only existing commands and options', async () => {
    const commands = shown()
    expect(commands.size).toBeGreaterThan(6)
    const known = (await callwatch(['--help'])).stdout
    for (const [command, options] of commands) {
      expect(known).toMatch(new RegExp(`^  ${command} `, 'm'))
      const { stdout } = await callwatch([command, '--help'])
      // What these commands contain has its own help.
      const of = { alerts: ['calls'], silence: ['add'], store: ['copy'], events: ['webhooks', 'replay'] }[command]
      const inner = of === undefined ? '' : (await callwatch([command, ...of, '--help'])).stdout
      for (const option of options) expect(`${stdout}${inner}`, `${command} ${option}`).toContain(option)
    }
  })

  test('have each command in the page of commands', async () => {
    const { stdout } = await callwatch(['--help'])
    const [, list = ''] = /^Commands:\n(.*?)(?:\n\n|$(?![\s\S]))/ms.exec(stdout) ?? []
    const commands = [...list.matchAll(/^  ([a-z-]+)/gm)].map(([, command = '']) => command)
    expect(commands).toEqual(expect.arrayContaining(['run', 'silence']))
    const page = read('docs/commands.md')
    expect(commands.filter((command) => command !== 'help' && !page.includes(`\`callwatch ${command}`))).toEqual([])
  })

  test('name only existing npm scripts', () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = PAGES.flatMap((page) => codeOf(read(page)))
      .flatMap((code) => [...code.matchAll(SCRIPT)].map(([, script = '']) => script))
      .filter((script) => !['audit', 'ci', 'install', 'pack'].includes(script))
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([])
    expect(named).toContain('demo')
  })

  test('name only existing files and folders of the project', () => {
    // NAME and $name are placeholders.
    const path =
      /(?<![\w/.-])(?:(?:src|test|bench|config|docs)\/(?!\S*(?:NAME|\$))|\.(?:ci|github|vscode)\b)[\w/-]*(?:\.\w+)*/g
    const named = PAGES.flatMap((page) =>
      codeOf(read(page))
        .flatMap((code) => code.match(path) ?? [])
        .map((name) => ({ page, name })),
    )
    expect(named.map(({ name }) => name)).toEqual(expect.arrayContaining(['src/main.ts', 'src/ledger', '.ci/run']))
    expect(named.filter(({ name }) => !existsSync(join(ROOT, name)))).toEqual([])
  })

  test('say of every folder of src what is in it', () => {
    const rows =
      read('CONTRIBUTING.md')
        .match(/^\|.*?\|/gm)
        ?.join('') ?? ''
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.length).toBeGreaterThan(15)
    expect(folders.map(({ name }) => name).filter((name) => !rows.includes(`\`${name}\``))).toEqual([])
  })

  test('name only existing tests in the table of mutations', () => {
    const [, section = ''] = /^## Mutations\n(.*)/ms.exec(read('docs/development/mutations.md')) ?? []
    const seenBy = [...section.matchAll(/^\|[^|]*\|([^|]*)\|$/gm)].map(([, cell = '']) => cell)
    const tests = seenBy.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => `test/${name}.test.ts`))
    expect(tests.length).toBeGreaterThan(15)
    expect(tests.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  })

  test('link only to existing files', () => {
    const missing = PAGES.flatMap((page) =>
      linksOf(page)
        .filter((file) => !existsSync(join(ROOT, file)))
        .map((file) => `${page}: ${file}`),
    )
    expect(missing).toEqual([])
  })

  test('are all linked from the README, or from a page that is', () => {
    const linked = new Set(['README.md'])
    for (const page of linked) {
      for (const file of linksOf(page)) if (DOCS.includes(file)) linked.add(file)
    }
    expect(DOCS).toContain('docs/semantics.md')
    expect(DOCS.filter((page) => !linked.has(page))).toEqual([])
  })

  test('link only to existing headings', () => {
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

  test('explain only log lines that the program writes', () => {
    const [, tables = ''] = /^## What the log says\n(.*?)^## /ms.exec(read('docs/troubleshooting.md')) ?? []
    const lines = [...tables.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) => cell.match(/[^`]{3,}/g) ?? [])
    expect(lines.length).toBeGreaterThan(10)
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )
    const code = sources.map((name) => read(join('src', name))).join('\n')
    // What differs from line to line is …, one letter, or the outcome.
    const parts = lines.map((line) =>
      line.split(/…|\b(?:[NMS]|failed|partial|retried|dropped)\b/).map((part) => part.trim()),
    )
    const written = parts.map((each) => each.reduce((a, b) => (b.length > a.length ? b : a)))
    expect(written.filter((part) => !code.includes(part))).toEqual([])
  })
})

describe('the README', () => {
  test('and the guides show valid configurations', async () => {
    const blocks = ['access', 'alerting', 'commands', 'events', 'several-machines', 'send-elsewhere', 'simulator']
      .map((name) => `docs/${name}.md`)
      .flatMap((page) => [...read(page).matchAll(/^( *)```yaml\n(.*?)```/gms)])
      .map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
      .filter((block) => /^(targets|alerts|store|events|http|notify):/.test(block))
    expect(blocks.length).toBeGreaterThan(5)
    const targets = ['production', 'shop'].map((name) => `{ name: ${name}, app_id: a, region: us, api_key: k }`)
    const target = `targets: [${targets.join(', ')}]\n`
    for (const block of blocks) {
      const yaml = block.startsWith('targets:')
        ? block.replaceAll(/api_key_file: \/run\/secrets\/[\w-]+/g, 'api_key: k')
        : target + block.replaceAll(/password_file: \/run\/secrets\/[\w-]+/g, 'password: p')
      const env = {
        // Would be a second address beside the token.
        ...(!block.includes('SLACK_TOKEN') && { SLACK_WEBHOOK_URL: 'https://hooks.example/x' }),
        STAGING_WEBHOOK_URL: 'https://hooks.example/y',
        FINANCE_HOOK: 'https://finance.example/x',
        ON_CALL_URL: 'https://on-call.example/x',
        ON_CALL_TOKEN: 'x',
        ON_CALL_WEBHOOK_URL: 'https://hooks.example/z',
        SLACK_TOKEN: 'xoxb-x',
        CALLWATCH_DB_PASSWORD: 'x',
        CRM_WEBHOOK_SECRET: SECRET,
      }
      const { code, stderr } = await callwatch(['check', '--config', configFile(yaml)], { env })
      expect({ code, stderr, yaml }).toEqual({ code: 0, stderr: '', yaml })
    }
  })
})
