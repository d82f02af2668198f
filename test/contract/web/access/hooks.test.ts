import { once } from 'node:events'
import { request } from 'node:http'
import { deflateSync, gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import type { Hint } from '../../../../src/ledger/hint.ts'
import type { HookEvent } from '../../../../src/web/hooks.ts'
import { AUTH, basic, serve, shownTarget, type ServeOptions } from '../../../kit/web/serve.ts'

const VENDOR = { username: 'vendor', password: 'p:ä' }
const HEADERS = { ...basic(VENDOR), 'content-type': 'application/json' }
const SECRET_NAME = 'Robin Example'

async function serveHooks(options: ServeOptions = {}) {
  const events: HookEvent[] = []
  const hints: Hint[] = []
  const daemons = { areAway: false }
  const clock = { now: 0 }
  const served = await serve([shownTarget()], {
    hookOf: (target) => (target === 'production' ? { credentials: VENDOR, appId: 'app' } : undefined),
    onHook: (event) => void events.push(event),
    onHint: async (_target, hint) => {
      if (daemons.areAway) throw new Error('away')
      hints.push(hint)
    },
    hookClock: { monotonic: () => clock.now },
    ...options,
  })
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, target = 'production') =>
    fetch(`${served.hooksUrl}/hooks/${target}`, { method: 'POST', body, headers: { ...HEADERS, ...headers } })
  const outcomes = () => events.map(({ trigger, outcome }) => `${trigger} ${outcome}`)
  return { ...served, events, hints, daemons, clock, post, outcomes }
}

const ended = (sessionId: unknown, more: object = {}) =>
  JSON.stringify({ trigger: 'call_ended', appId: 'app', data: { sessionId, user: { name: SECRET_NAME } }, ...more })

test('a webhook with the right password is a hint, which names the call and nothing else', async () => {
  const { post, events, hints } = await serveHooks()
  const on = { entity: { sessionid: 'v1.a' } }
  const ringing = { trigger: 'call_initiated', appId: 'app', data: { call: { data: { entities: { on } } } } }
  expect((await post(JSON.stringify(ringing))).status).toBe(200)
  expect(await (await post(ended('v1.b'))).text()).toBe('')
  const base = { target: 'production', outcome: 'hint' }
  expect(events).toEqual([
    { ...base, trigger: 'call_initiated' },
    { ...base, trigger: 'call_ended' },
  ])
  expect(hints).toEqual([
    { id: 'v1.a', trigger: 'call_initiated' },
    { id: 'v1.b', trigger: 'call_ended' },
  ])
})

test.each(['eu/production', 'eu%2Fproduction'])('the path /hooks/%s names the target eu/production', async (path) => {
  const hookOf = (target: string) =>
    target === 'eu/production' ? { credentials: VENDOR, appId: undefined } : undefined
  const { post, events } = await serveHooks({ hookOf })
  expect((await post(ended('a'), {}, path)).status).toBe(200)
  expect(events).toEqual([{ target: 'eu/production', trigger: 'call_ended', outcome: 'hint' }])
})

test('a wrong or missing password and an unknown target get the same answer', async () => {
  const { post, outcomes } = await serveHooks()
  const answers = [
    await post(ended('a'), basic({ ...VENDOR, password: 'wrong' })),
    await post(ended('a'), { authorization: '' }),
    await post(ended('a'), { authorization: 'Bearer x' }),
    await post(ended('a'), {}, 'unknown'),
    await post(ended('a'), basic({ username: '', password: '' }), 'unknown'),
  ]
  const seen = await Promise.all(
    answers.map(async (answer) => [answer.status, answer.headers.get('www-authenticate'), await answer.text()]),
  )
  expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1)
  expect(seen[0]!.slice(0, 2)).toEqual([401, 'Basic realm="hooks"'])
  expect(outcomes()).toEqual(['other unauthorized', 'other unauthorized', 'other unauthorized'])
})

test('a thousand wrong passwords do not slow down a webhook with the right one', async () => {
  const { post } = await serveHooks({ auth: AUTH })
  for (let round = 0; round < 20; round++)
    await Promise.all(Array.from({ length: 50 }, (_, i) => post('{}', basic({ ...VENDOR, password: `${round}-${i}` }))))
  const begun = performance.now()
  expect((await post(ended('a'))).status).toBe(200)
  expect(performance.now() - begun).toBeLessThan(300)
})

test('what is not a JSON object is refused, and anything else is accepted, also if it means nothing', async () => {
  const { post, outcomes, noted } = await serveHooks()
  for (const body of ['', '[]', '"a"', 'null', '7', `{"${SECRET_NAME}`, '['.repeat(60_000)]) {
    const answer = await post(body)
    expect([body.slice(0, 9), answer.status]).toEqual([body.slice(0, 9), 400])
    expect(await answer.text()).not.toContain(SECRET_NAME)
  }
  const started = (sessionId: unknown) => ended(sessionId, { trigger: 'call_started' })
  for (const [i, body] of ['{}', started(7), started(''), started('x'.repeat(1001)), '{"data":[{}]}'].entries())
    expect([i, (await post(body)).status]).toEqual([i, 200])
  expect((await post(JSON.stringify({ trigger: 'constructor', data: { sessionId: 'a' } }))).status).toBe(200)
  expect(new Set(outcomes().slice(0, -1))).toEqual(new Set(['other invalid', 'call_started invalid']))
  expect(outcomes().at(-1)).toBe('other hint')
  expect(noted).toEqual([])
})

test('the webhook of a call that failed names the call, and without its id is accepted and is no hint', async () => {
  const { post, hints, outcomes } = await serveHooks()
  const trigger = 'call_rejected'
  const rejected = (entity: object) =>
    JSON.stringify({ trigger, appId: 'app', data: { call: { id: '7', data: { entities: { on: { entity } } } } } })
  expect((await post(rejected({ sessionid: 'v1.a' }))).status).toBe(200)
  expect((await post(rejected({}))).status).toBe(200)
  expect([hints, outcomes()]).toEqual([[{ id: 'v1.a', trigger }], [`${trigger} hint`, `${trigger} invalid`]])
})

test('a webhook that no daemon can take is refused, and is no duplicate when it comes again', async () => {
  const { post, hints, outcomes, daemons } = await serveHooks()
  daemons.areAway = true
  expect((await post(ended('a'))).status).toBe(503)
  daemons.areAway = false
  expect([(await post(ended('a'))).status, (await post(ended('a'))).status]).toEqual([200, 200])
  expect(hints).toHaveLength(1)
  expect(outcomes()).toEqual(['call_ended unavailable', 'call_ended hint', 'call_ended duplicate'])
})

test('a webhook that comes again while no daemon has taken the first one yet waits for it', async () => {
  const passed = Promise.withResolvers<void>()
  let takes = 0
  const onHint = () => {
    takes += 1
    return passed.promise
  }
  const { post } = await serveHooks({ onHint })
  const answers = [post(ended('a')), post(ended('a'))]
  await vi.waitFor(() => expect(takes).toBe(1))
  passed.reject(new Error('away'))
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([503, 503])
})

test('a webhook of another app is no hint', async () => {
  const { post, outcomes } = await serveHooks()
  expect((await post(ended('a', { appId: 'another' }))).status).toBe(200)
  expect((await post(ended('a', { appId: undefined }))).status).toBe(200)
  expect((await post(ended('b', { appId: 'APP' }))).status).toBe(200)
  expect(outcomes()).toEqual(['call_ended other_app', 'call_ended hint', 'call_ended hint'])
})

test('a webhook that comes again within a minute is a duplicate', async () => {
  const { post, outcomes, clock } = await serveHooks()
  for (const seconds of [0, 30, 30.1]) {
    clock.now += seconds
    await post(ended('a'))
  }
  await post(ended('b'))
  expect(outcomes()).toEqual(['hint', 'duplicate', 'hint', 'hint'].map((outcome) => `call_ended ${outcome}`))
})

test('compressed bodies are accepted, up to 64 KiB after decompression', async () => {
  const { post, outcomes } = await serveHooks()
  const bytes = (buffer: Buffer) => new Uint8Array(buffer)
  expect((await post(bytes(gzipSync(ended('a'))), { 'content-encoding': 'gzip' })).status).toBe(200)
  expect((await post(bytes(deflateSync(ended('b'))), { 'content-encoding': 'deflate' })).status).toBe(200)
  expect((await post(ended('g'), { 'content-encoding': 'Identity' })).status).toBe(200)
  const bomb = bytes(gzipSync(ended('c', { more: 'x'.repeat(70_000) })))
  expect((await post(bomb, { 'content-encoding': 'gzip' })).status).toBe(400)
  expect((await post(ended('d'), { 'content-encoding': 'gzip' })).status).toBe(400)
  expect((await post(ended('e'), { 'content-encoding': 'br' })).status).toBe(400)
  expect((await post(ended('f', { more: 'x'.repeat(70_000) }))).status).toBe(413)
  expect(outcomes().filter((outcome) => outcome.endsWith('hint'))).toHaveLength(3)
})

test('chunked bodies, Expect: 100-continue, any content type and fifty at once are accepted', async () => {
  const { post, events, hooksUrl } = await serveHooks()
  const sent = request(`${hooksUrl}/hooks/production`, {
    method: 'POST',
    headers: { ...basic(VENDOR), expect: '100-continue', 'transfer-encoding': 'chunked' },
  })
  sent.flushHeaders()
  await once(sent, 'continue')
  for (const part of ended('chunked').match(/.{1,20}/g)!) sent.write(part)
  sent.end()
  const [response] = await once(sent, 'response')
  expect(response.statusCode).toBe(200)
  response.resume()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => post(ended(`call-${i}`), { 'content-type': 'text/x-odd' })),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(events).toHaveLength(51)
})

test('the web server takes them beside its own password, which they do not need, and by any name', async () => {
  const { url, hooksUrl, post, noted } = await serveHooks({ auth: AUTH })
  expect(hooksUrl).toBe(url)
  expect((await post(ended('a'))).status).toBe(200)
  expect((await post(ended('a'), basic(AUTH))).status).toBe(401)
  expect(noted).toEqual([])
  expect((await fetch(`${url}/metrics`, { headers: basic(VENDOR) })).status).toBe(401)
  expect((await fetch(`${url}/hooks/production`, { headers: HEADERS })).status).toBe(401)
  const open = await serveHooks()
  const from = request(`${open.url}/hooks/production`, { method: 'POST', headers: { ...HEADERS, host: 'a.example' } })
  from.end(ended('a'))
  const [response] = await once(from, 'response')
  expect(response.resume().statusCode).toBe(200)
})

test('a listener of its own serves nothing else, and the web server then takes none', async () => {
  const { url, hooksUrl, post } = await serveHooks({ hooks: { host: '127.0.0.1', port: 0 } })
  expect(hooksUrl).not.toBe(url)
  expect((await post(ended('a'))).status).toBe(200)
  for (const path of ['/', '/metrics', '/healthz', '/readyz', '/api/v1/state', '/page.js'])
    expect([path, (await fetch(hooksUrl + path)).status]).toEqual([path, 404])
  const wrong = await fetch(`${url}/hooks/production`, { method: 'POST', body: ended('a'), headers: HEADERS })
  expect(wrong.status).toBe(404)
})
