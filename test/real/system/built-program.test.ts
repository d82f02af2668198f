import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startProgram } from './program.ts'

const PROJECT = join(import.meta.dirname, '../../..')
const TARGET = { CALLWATCH_BASE_URL: 'http://127.0.0.1:1/v3', CALLWATCH_API_KEY: 'k', CALLWATCH_HTTP_PORT: '0' }

// In a folder of its own, where no node_modules are found.
describe('the built program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-dist-'))
  const main = join(folder, 'main.js')
  const run = (...args: string[]) => {
    const env = { PATH: process.env['PATH'], ...TARGET }
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { env, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  beforeAll(() => void execFileSync('npm', ['run', 'build', '--', '--dir', folder], { cwd: PROJECT }), 180_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  test('knows its version', () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
    expect(run('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('checks a configuration', () => {
    expect(run('check')).toEqual({
      status: 0,
      stdout: expect.stringContaining('base_url: http://127.0.0.1:1/v3'),
      stderr: '',
    })
  })

  test('runs with its store, and serves the page with its libraries', async () => {
    const env = { ...TARGET, CALLWATCH_STORE_PATH: join(folder, 'store.db') }
    const program = startProgram(['run'], env, main)
    const [, url = ''] = await program.printed(/"url":"(\S+?)"/)
    // Until its first poll has failed.
    expect((await fetch(`${url}readyz`)).status).toBe(503)
    const script = /src="(page-.+?\.js)"/.exec(await (await fetch(url)).text())?.[1] ?? ''
    const parts = { [script]: 'Calls in progress', 'icon.svg': '<svg', 'api/v1/openapi.json': '"3.1' }
    for (const [path, part] of Object.entries(parts)) {
      const response = await fetch(url + path)
      expect([path, response.status, (await response.text()).includes(part)]).toEqual([path, 200, true])
    }
    // As the build has compressed them.
    for (const encoding of ['br', 'gzip']) {
      const { headers } = await fetch(url + script, { headers: { 'accept-encoding': encoding } })
      expect(headers.get('content-encoding')).toBe(encoding)
      expect(Number(headers.get('content-length') ?? Infinity)).toBeLessThan(78_000)
      expect(headers.get('cache-control')).toContain('immutable')
      expect(headers.get('content-type')).toContain('javascript')
    }
    // By the thread of queries.
    expect(await (await fetch(`${url}runbooks/NoCalls`)).text()).toContain('<h1>NoCalls</h1>')
    expect(await (await fetch(`${url}api/v1/calls?since=0`)).json()).toEqual({ calls: [] })
    expect(await program.end('SIGTERM')).toBe(0)
  })
})
