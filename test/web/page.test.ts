import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serve, watchedTarget } from './serve.ts'

const folder = join(import.meta.dirname, '../../src/web/page')
const assets = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
const html = readFileSync(join(folder, 'index.html'), 'utf8')

test('the page and all that it names are served, each as what it is', async () => {
  const { url } = await serve([watchedTarget()])
  const page = await fetch(`${url}/`)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const named = [...(await page.text()).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name]) => name!)
  expect(named.toSorted()).toEqual(['page.css', 'page.js'])
  const types = { css: 'text/css', js: 'javascript' }
  for (const [extension, type] of Object.entries(types)) {
    const asset = await fetch(`${url}/page.${extension}`)
    expect([asset.status, asset.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)])
  }
})

test('the page holds no script and no style of its own, which its policy would refuse', () => {
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/)
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/)
})

test.each(assets)('%s names no other host', (_name, text) => {
  expect(text).not.toMatch(/(?:https?:|wss?:)?\/\/[a-z0-9-]+\.[a-z]/i)
})

test('the page puts nothing into itself as markup', () => {
  for (const [, text] of assets) expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/)
})

describe('every answer', () => {
  test.each(['/', '/page.js', '/metrics', '/api/v1/status', '/api/v1/calls', '/api/v1/alerts', '/nowhere'])(
    'of %s is guarded: own scripts only, no frame, no referrer, no guessing of types',
    async (path) => {
      const { url } = await serve([watchedTarget()])
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

test('nothing outside the page is served from its folder', async () => {
  const { url } = await serve([watchedTarget()])
  for (const path of ['/../server.ts', '/..%2fserver.ts', '/%2e%2e/server.ts', '/server.ts']) {
    expect((await fetch(url + path)).status).toBeGreaterThanOrEqual(400)
  }
})
