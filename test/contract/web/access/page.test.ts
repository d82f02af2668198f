import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { defaultRules } from '../../../../src/alerts/default-rules.ts'
import { runbookOf } from '../../../../src/alerts/runbook.ts'
import { runbookPages } from '../../../../src/web/runbook-pages.ts'
import { serve, shownTarget } from '../../../kit/web/serve.ts'

const folder = join(import.meta.dirname, '../../../../src/web/page')
const names = globSync('**/*.{html,css,ts,tsx,svg}', { cwd: folder })
const assets = names.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
const html = readFileSync(join(folder, 'index.html'), 'utf8')

test('/, /index.html and /icon.svg of the page are served with their content types, and revalidated', async () => {
  const { url } = await serve([shownTarget()])
  for (const name of ['', 'index.html', 'icon.svg']) {
    const asset = await fetch(`${url}/${name}`)
    const type = name.endsWith('.svg') ? 'image/svg+xml' : 'text/html'
    expect([asset.status, asset.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)])
    // After an upgrade browsers do not mix files of two versions.
    expect(asset.headers.get('cache-control')).toBe('no-cache')
  }
})

const RUNBOOKS = [
  'HighFailureRate',
  'VeryHighFailureRate',
  'NoCalls',
  'StuckCalls',
  'NoGoodPoll',
  'ServiceErrors',
  'CallwatchWebhookBehind',
]

test('each runbook is a page of its own', async () => {
  const { url } = await serve([shownTarget()])
  for (const alert of RUNBOOKS) await expectRunbook(url, alert)
  expect((await fetch(`${url}/runbooks/style.css`)).headers.get('content-type')).toContain('text/css')
})

async function expectRunbook(url: string, alert: string): Promise<void> {
  const answer = await fetch(`${url}/runbooks/${alert}`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const page = await answer.text()
  expect(page).toMatch(new RegExp(`<h1>.*\\b${alert}\\b.*</h1>`))
  // The docs around it are not served.
  const links = [...page.matchAll(/href="(.+?)"/g)].map(([, link]) => link!)
  expect(links).toEqual([
    '../icon.svg',
    '../runbooks/style.css',
    '../',
    '../#alerts',
    '../#charts',
    '../#calls',
    '../#usage',
    '../#silences',
    './',
  ])
}

test('/runbooks lists the runbooks, each of which leads back', async () => {
  const { url } = await serve([shownTarget()])
  const answer = await fetch(`${url}/runbooks`)
  expect(answer.url).toBe(`${url}/runbooks/`)
  const links = [...(await answer.text()).matchAll(/<li><a href="(.+?)"/g)].map(([, link]) => link)
  expect(links).toEqual(expect.arrayContaining(defaultRules.map(({ name }) => name)))
  const statuses = await Promise.all(links.map(async (link) => (await fetch(`${url}/runbooks/${link}`)).status))
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('a browser that asks for an address without a page gets one that leads back, a program gets a problem', async () => {
  const { url } = await serve([shownTarget()])
  const links = async (path: string) => {
    const answer = await fetch(url + path, { headers: { accept: 'text/html,*/*' } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    const page = await answer.text()
    expect(page).toContain('<h1>There is no such page</h1>')
    return [...page.matchAll(/href="(.+?)"/g)].map(([, link]) => new URL(link!, url + path).href.replace(url, ''))
  }
  const expected = [
    '/icon.svg',
    '/runbooks/style.css',
    '/',
    '/#alerts',
    '/#charts',
    '/#calls',
    '/#usage',
    '/#silences',
    '/',
  ]
  expect(await links('/nosuch')).toEqual(expected)
  expect(await links('/runbooks/<b>?a=/b')).toEqual(expected)
  expect(await (await fetch(`${url}/nosuch`)).json()).toMatchObject({ status: 404, detail: 'there is no GET /nosuch' })
})

test('a runbook links to the page of another one', async () => {
  const { url } = await serve([shownTarget()])
  const page = await (await fetch(`${url}/runbooks/FewerCalls`)).text()
  const [, link] = /<li>.*?href="([^"]+)"/s.exec(page)!
  const linked = await fetch(new URL(link!, `${url}/runbooks/FewerCalls`))
  expect(await linked.text()).toMatch(/<h1>HighFailureRate\b/)
})

test('every shipped rule has a runbook', async () => {
  const pages = await runbookPages()
  const addresses = defaultRules.map((rule) => runbookOf(rule, 'runbooks') ?? '')
  expect(addresses.filter((address) => !pages.has(`${address}.html`))).toEqual([])
})

test('all modules, libraries and styles of the page are in one script, which browsers keep by the hash in its name', async () => {
  const { url } = await serve([shownTarget()])
  const page = await (await fetch(url)).text()
  const linked = [...page.matchAll(/(?:href|src)="(.+?)"/g)].map(([, name]) => name)
  expect(linked).toEqual(['icon.svg', expect.stringMatching(/^page-[\w-]{8}\.js$/)])
  const answer = await fetch(`${url}/${linked[1]}`)
  expect(answer.headers.get('content-type')).toContain('text/javascript')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const script = await answer.text()
  // Nor has it comments, such as those of the styles, and what no chart needs of its library.
  expect(script).not.toMatch(
    /^import\b|@import|sourceMappingURL|\/\* (?!@__PURE__)|\.spline|\.addGap|u-legend|;}\.page/m,
  )
  for (const style of ['uplot', '--accent', '.tiles']) expect(script).toContain(style)
  // The whole first load may have 120 KB. What a call was and what a chart adds up to is said in words, and a fleet, rules and incidents are shown at rest, which take six more.
  expect(brotliCompressSync(script).length).toBeLessThan(69_000)
})

test.each([
  ['br, gzip;q=0.5', 'gzip'],
  ['gzip', 'gzip'],
  ['gzip;q=0, identity', null],
])('JSON above a kilobyte is compressed for a client that accepts %s', async (accepted, encoding) => {
  const { url } = await serve([shownTarget()])
  const encodingOf = async (path: string) => {
    const answer = await fetch(url + path, { headers: { 'accept-encoding': accepted } })
    if (path.startsWith('/api')) expect(await answer.json()).toBeTypeOf('object')
    return answer.headers.get('content-encoding')
  }
  const paths = ['/api/v1/state', '/api/v1/openapi.json', '/api/v1/alerts', '/metrics']
  expect(await Promise.all(paths.map(encodingOf))).toEqual([encoding, encoding, null, null])
})

test('the page has no inline script or style, which its policy would refuse', () => {
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/)
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/)
})

test.each(assets)('%s of the page refers to no other host', (_name, text) => {
  // Browsers request nothing from the namespace of SVG.
  expect(text.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/(?:https?:|wss?:)?\/\/[a-z0-9-]+\.[a-z]/i)
})

test('the page never inserts text as markup', () => {
  for (const [, text] of assets) expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/)
})

describe('every response', () => {
  test.each(['/', '/icon.svg', '/metrics', '/api/v1/state', '/api/v1/calls', '/api/v1/alerts', '/nowhere'])(
    'of %s has headers against foreign scripts, frames, referrers and guessed content types',
    async (path) => {
      const { url } = await serve([shownTarget()])
      const { headers } = await fetch(url + path)
      const policy = headers.get('content-security-policy')!.split(';')
      expect(policy).toContain("default-src 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy.join()).not.toMatch(/unsafe|script-src|https?:|\*/)
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    },
  )
})

test('the server serves nothing outside the folder of the page, and no file of the type checker', async () => {
  const { url } = await serve([shownTarget()])
  for (const path of [
    '/../server.ts',
    '/..%2fserver.ts',
    '/%2e%2e/server.ts',
    '/server.ts',
    '/tsconfig.json',
    '/page.tsx',
    '/components/page.tsx',
    '/styles.d.ts',
    '/page-00000000.js',
  ]) {
    expect((await fetch(url + path)).status).toBeGreaterThanOrEqual(400)
  }
})
