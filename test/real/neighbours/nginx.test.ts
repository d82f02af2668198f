import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { daemonInProcess, KEY } from '../../kit/daemon/daemon-in-process.ts'
import { freePort } from '../../kit/postgres/start-postgres.ts'
import { finishedCall } from '../../kit/metrics/hand-made-target.ts'
import { eventClient } from '../../kit/web/event-client.ts'
import { basic, serve, shownTarget } from '../../kit/web/serve.ts'

const PATH = `${process.env['PATH']}:/usr/sbin`
const isMissing = spawnSync('nginx', ['-v'], { env: { PATH } }).error !== undefined
const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/send-elsewhere.md'), 'utf8')
const USER = { username: 'proxy', password: 'long-and-random' }
const SIGNED_IN = { cookie: '_oauth2_proxy=yes' }

test('nginx with sign-on, as docs/send-elsewhere.md configures it, passes page, stream and silences on', async (context) => {
  if (isMissing && process.env['CI'] !== 'true') context.skip('apt-get install nginx')
  const simulator = await startSimulator({ apiKey: KEY, callsPerMinute: 300, speed: 60 })
  onTestFinished(() => simulator.close())
  const { daemon } = await daemonInProcess(simulator.url, {}, { http: { host: '127.0.0.1', port: 0, auth: USER } })
  const url = await startNginx(new URL(daemon.url).port, await signOn())
  const page = async (headers: Record<string, string>) => (await fetch(url, { headers })).text()
  expect(await page({})).toBe('sign in')
  expect(await page(SIGNED_IN)).toContain('<title>callwatch</title>')
  const events = await eventClient(url, SIGNED_IN)
  expect(await events.next()).toMatchObject({ event: 'call' })
  const silence = async (origin: string) => {
    const headers = { ...SIGNED_IN, origin, 'content-type': 'application/json' }
    const body = JSON.stringify({ match: { target: 'production' }, for: '1h', reason: 'test' })
    const response = await fetch(`${url}/api/v1/silences`, { method: 'POST', headers, body })
    return { status: response.status, body: await response.json() }
  }
  expect(await silence(url)).toMatchObject({ status: 201, body: { author: USER.username } })
  expect(await silence('https://evil.example')).toMatchObject({ status: 403 })
  expect((await fetch(daemon.url)).status).toBe(401)
})

test('behind an nginx that drops the port, at a sub-path, silences are changed and a call is found by an id with slashes', async (context) => {
  if (isMissing && process.env['CI'] !== 'true') context.skip('apt-get install nginx')
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}/watch`
  const ids = ['a/b', 'a//b', '../a', 'a%2Fb', 'a?b#c+d e']
  const history = ids.map((id) => ({ target: 'eu/production', call: finishedCall(id) }))
  const callwatch = await serve([shownTarget({ target: 'eu/production' })], { publicUrl, auth: USER, history })
  // With a path in `proxy_pass`, nginx decodes the path of a request.
  const proxying = `proxy_pass ${callwatch.url}/; proxy_set_header Host $host;`
  await runNginx(`server { listen 127.0.0.1:${port}; location /watch/ { ${proxying} } }`, `${publicUrl}/`)
  const headers = { ...basic(USER), origin: new URL(publicUrl).origin, 'content-type': 'application/json' }
  const body = JSON.stringify({ match: { target: 'eu/production' }, for: '1h' })
  expect((await fetch(`${publicUrl}/api/v1/silences`, { method: 'POST', headers, body })).status).toBe(201)
  for (const id of ids) {
    const query = new URLSearchParams({ target: 'eu/production', call_id: id })
    const found = await fetch(`${publicUrl}/api/v1/call?${query.toString()}`, { headers })
    expect(await found.json()).toMatchObject({ call: { target: 'eu/production', call_id: id } })
  }
})

/** In the place of oauth2-proxy: who has its cookie is signed in. @returns its port */
async function signOn(): Promise<number> {
  const server = createServer(({ url, headers }, response) => {
    response.statusCode = url === '/oauth2/auth' && headers.cookie !== '_oauth2_proxy=yes' ? 401 : 200
    response.end('sign in')
  })
  onTestFinished(() => void server.close())
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return port
}

/** @returns its URL, without a slash at the end */
async function startNginx(callwatch: string, signOnPort: number): Promise<string> {
  const port = await freePort()
  const [, server = ''] = /^```nginx\n(.*?)^```/ms.exec(PAGE) ?? []
  const block = server
    .replace('server_name', `listen 127.0.0.1:${port};\n  server_name`)
    .replaceAll('127.0.0.1:4180', `127.0.0.1:${signOnPort}`)
    .replace('127.0.0.1:9464', `127.0.0.1:${callwatch}`)
    .replace('BASE64_OF_USER:PASSWORD', Buffer.from(`${USER.username}:${USER.password}`).toString('base64'))
  const url = `http://127.0.0.1:${port}`
  await runNginx(block, url)
  return url
}

/** Resolves once nginx answers at this URL. */
async function runNginx(server: string, url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-nginx-'))
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off;\n${server} }`)
  const child = spawn('nginx', ['-c', file], { env: { PATH }, stdio: 'ignore' })
  onTestFinished(() => {
    child.kill('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  await vi.waitFor(() => fetch(url), { timeout: 90_000 })
}
