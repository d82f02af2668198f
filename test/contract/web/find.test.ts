import { expect, test } from 'vitest'
import type { Search } from '../../../src/web/server.ts'
import { seen } from '../../kit/ledger/seen.ts'
import { readOverview, writeOverview } from '../../../src/views/state/overview.ts'
import { finishedCall, NOW } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, basic, serve, shownTarget, type ServeOptions } from '../../kit/web/serve.ts'

const CALL = seen('a', 'unanswered', { initiatedAt: NOW - 100, parties: { initiator: 'alice', receiver: 'bob' } })

type Searched = Parameters<Search>[0]
type Searching = ServeOptions & { isOpen?: boolean }

/** A server that may search; what it searched for. */
async function searching({ isOpen = false, ...options }: Searching = {}, answer?: Awaited<ReturnType<Search>>) {
  const searched: Omit<Searched, 'aborted'>[] = []
  const search: Search = async ({ aborted: _aborted, ...what }) => {
    searched.push(what)
    return answer
  }
  const served = await serve([shownTarget()], { find: () => search, ...(isOpen ? {} : { auth: AUTH }), ...options })
  const ask = async (query: string) => {
    const response = await fetch(`${served.url}/api/v1/find?${query}`, { headers: basic() })
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
  }
  return { ...served, searched, ask }
}

const found = { calls: [CALL], filter: 'honoured', unclear: 0, isWhole: true } as const

test('/api/v1/find answers with what became of the calls, and says who asked, but not for whom', async () => {
  const { ask, searched, noted } = await searching({}, found)
  const { status, headers, body } = await ask('target=production&uid=alice&since=2d')
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body).toMatchObject({
    target: 'production',
    calls: [{ session_id: 'a', text: 'audio, to bob: nobody answered' }],
    filter: 'honoured',
    unclear: 0,
    complete: true,
  })
  expect(searched).toEqual([{ target: 'production', wanted: { uid: 'alice' }, since: NOW - 2 * 86_400 }])
  expect(noted).toEqual([{ kind: 'calls searched', peer: '127.0.0.1', user: 'ops', target: 'production' }])
})

test.each([
  ['guid=lobby', { wanted: { guid: 'lobby' }, since: NOW - 86_400 }],
  ['session_id=v1.eu.x&since=2026-09-01', { wanted: { session: 'v1.eu.x' }, since: Date.UTC(2026, 8, 1) / 1000 }],
])('%s is searched for', async (query, expected) => {
  const { ask, searched } = await searching({}, found)
  expect((await ask(`target=production&${query}`)).status).toBe(200)
  expect(searched).toEqual([{ target: 'production', ...expected }])
})

test("a time ago is counted from now by the service's clock", async () => {
  const history = [{ target: 'production', call: finishedCall('a') }]
  const { ask, searched } = await searching({ history, clockSkews: { production: -10_800 } }, found)
  await ask('target=production&uid=alice&since=1h')
  expect(searched).toMatchObject([{ since: NOW - 14_400 }])
})

test.each([
  ['target=production', 400, 'expected one of uid, guid and session_id'],
  ['target=production&uid=a&guid=b', 400, 'expected one of uid, guid and session_id'],
  ['uid=a', 400, 'target is required: the name of a target'],
  ['target=production&uid=a&since=yesterday', 400, 'since yesterday: expected a date'],
  ['target=staging&uid=a', 404, 'there is no target staging'],
  ['target=elsewhere&uid=a', 409, 'this daemon does not poll elsewhere; ask west-1'],
])('%s gets %d', async (query, status, detail) => {
  const overview = readOverview(writeOverview(shownTarget(), NOW))!
  const others = [{ ...overview, name: 'elsewhere', owner: 'west-1', problem: undefined }]
  const { ask } = await searching({ others })
  expect(await ask(query)).toMatchObject({ status, body: { detail: expect.stringContaining(detail) } })
})

test('why a service does not answer is said with 503', async () => {
  const { ask } = await searching({}, { problem: 'the service answered 500' })
  expect(await ask('target=production&uid=a')).toMatchObject({
    status: 503,
    body: { detail: 'the service answered 500' },
  })
})

test.each([
  ['without http.auth', { isOpen: true }],
  ['without http.find', { find: () => undefined }],
])('%s nothing is searched for, and the state says so', async (_what, options) => {
  const { ask, searched, noted, url } = await searching(options, found)
  const detail = 'calls are searched for only with `http.auth` and `http.find: true`'
  expect(await ask('target=production&uid=alice')).toMatchObject({ status: 403, body: { detail } })
  expect([searched, noted]).toEqual([[], []])
  const state = await fetch(`${url}/api/v1/state`, { headers: basic() })
  expect(JSON.parse(await state.text()).can_find).toBe(false)
})

test('with both, the state says that calls can be searched for', async () => {
  const { url } = await searching()
  const state = await fetch(`${url}/api/v1/state`, { headers: basic() })
  expect(JSON.parse(await state.text()).can_find).toBe(true)
})
