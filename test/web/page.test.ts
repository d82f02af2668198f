import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serve, shownTarget } from './serve.ts'

const folder = join(import.meta.dirname, '../../src/web/page')
const names = globSync('**/*.{html,css,js,svg}', { cwd: folder })
const assets = names.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
const html = readFileSync(join(folder, 'index.html'), 'utf8')
test.each(['', 'index.html', 'page.js', 'index.css', 'icon.svg'])(
  '/%s of the page is served with its content type, and revalidated',
  async (name) => {
    const { url } = await serve([shownTarget()])
    const asset = await fetch(`${url}/${name}`)
    const types = { html: 'text/html', css: 'text/css', js: 'javascript', svg: 'image/svg+xml' }
    const type = Object.entries(types).find(([extension]) => name.endsWith(`.${extension}`))?.[1] ?? 'text/html'
    expect([asset.status, asset.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)])
    // After an upgrade browsers do not mix files of two versions.
    expect(asset.headers.get('cache-control')).toBe('no-cache')
  },
)

test('all modules and styles of the page are joined in the two files that it links', async () => {
  const { url } = await serve([shownTarget()])
  const linked = [...html.matchAll(/(?:href|src)="(.+?)"/g)].map(([, name]) => name)
  expect(linked).toEqual(['icon.svg', 'index.css', 'page.js'])
  const [style = '', script = ''] = await Promise.all(
    linked.slice(1).map(async (name) => (await fetch(`${url}/${name}`)).text()),
  )
  expect([/^import\b/m.test(script), script.includes('sourceMappingURL'), style.includes('@import')]).toEqual([
    false,
    false,
    false,
  ])
  for (const [name, text] of assets) {
    if (name.endsWith('.js'))
      expect(script.includes(`const ${name.replaceAll(/\W/g, '_')} = (() => {`), name).toBe(true)
    if (name.endsWith('.css') && name !== 'index.css') expect(style.includes(text), name).toBe(true)
  }
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
  test.each(['/', '/page.js', '/metrics', '/api/v1/status', '/api/v1/calls', '/api/v1/alerts', '/nowhere'])(
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
    '/components/page.js',
    '/vendor/preact.d.ts',
  ]) {
    expect((await fetch(url + path)).status).toBeGreaterThanOrEqual(400)
  }
})
