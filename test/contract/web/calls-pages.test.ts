import fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { FinalStatus } from '../../../src/ledger/call.ts'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { callsRoute } from '../../../src/web/api/calls.ts'
import { mount } from '../../../src/web/api/route.ts'
import { finish, finishedCall, NOW, openCall } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const HISTORY = Array.from({ length: 1203 }, (_, i) => ({
  target: 'production',
  call: finishedCall(`call-${i}`, { finish: finish('ended', i + 1) }),
}))

describe('the pages of /api/v1/calls', () => {
  async function paged(url: string, query: string): Promise<{ ids: string[]; pages: number }> {
    const ids: string[] = []
    for (let pages = 1, cursor = ''; ; pages++) {
      const { calls, truncated, next } = JSON.parse(await (await fetch(`${url}/api/v1/calls${query}${cursor}`)).text())
      ids.push(...calls.map(({ session_id }: { session_id: string }) => session_id))
      expect(truncated).toBe(next === undefined ? undefined : true)
      if (next === undefined) return { ids, pages }
      cursor = `&cursor=${next}`
    }
  }

  test.each([
    ['?since=0', 1],
    ['?since=0&limit=401', 3],
    ['?since=0&limit=601', 3],
    ['?since=0&limit=1202', 2],
    ['?since=0&limit=1203', 1],
  ])('with %s hold the history in %i pages', async (query, pages) => {
    const { url } = await serve([shownTarget()], { history: HISTORY })
    expect(await paged(url, query)).toEqual({ ids: HISTORY.map(({ call }) => call.id), pages })
  })

  test.each([
    ['?', 1],
    ['?limit=600', 2],
    ['?limit=100&status=ongoing', 11],
  ])('with %s hold the calls in progress in %i pages', async (query, pages) => {
    const ids = Array.from({ length: 1100 }, (_, i) => `open-${i}`).toSorted()
    const [a, b] = [ids.slice(0, 501), ids.slice(501)]
    const { url } = await serve([
      shownTarget({ calls: a.map((id) => openCall(id)) }),
      shownTarget({ target: 'staging', calls: b.map((id) => openCall(id)) }),
    ])
    expect(await paged(url, query)).toEqual({ ids, pages })
  })

  test('hold the calls in progress in one order, whichever daemon serves them', async () => {
    const app = fastify()
    onTestFinished(() => app.close())
    const names = ['c', 'a', 'b']
    const target = (name: string) => shownTarget({ target: name, calls: ['3', '1', '2'].map((id) => openCall(id)) })
    // A store that gives them in another order each time.
    const openCalls = async (wanted: readonly string[]) =>
      wanted
        .toReversed()
        .flatMap((name) => (offset % 2 === 0 ? ['2', '1', '3'] : ['3', '2', '1']).map((id) => [name, id] as const))
        .map(([name, id]) => ({ target: name, call: openCall(id) }))
    let offset = 0
    const targets = {
      all: () => names,
      own: () => [target(names[offset % 3]!)],
      others: () => names.toSpliced(offset % 3, 1).map((name) => ({ name })),
    }
    mount(app, callsRoute, { targets, store: { rows: async () => [], openCalls } })
    const listed: string[] = []
    for (; offset < 9; offset++) {
      const cursor = Buffer.from(JSON.stringify({ offset })).toString('base64url')
      const { calls } = (await app.inject(`/api/v1/calls?limit=1&cursor=${cursor}`)).json()
      listed.push(`${calls[0].target}${calls[0].session_id}`)
    }
    expect(listed).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3'])
  })

  test('hold the calls in progress of all targets by their beginning, the oldest first', async () => {
    const began = (...ago: number[]) => ago.map((each) => openCall(`since-${each}`, { initiatedAt: NOW - each }))
    const { url } = await serve([
      shownTarget({ calls: began(30, 10) }),
      shownTarget({ target: 'b', calls: began(20, 40) }),
    ])
    expect((await paged(url, '?')).ids).toEqual(['since-40', 'since-30', 'since-20', 'since-10'])
    expect((await paged(url, '?longer_than=25s')).ids).toEqual(['since-40', 'since-30'])
    const { status } = await fetch(`${url}/api/v1/calls?since=0&longer_than=15s`)
    expect(status).toBe(400)
  })

  test('with began hold the calls that began in the period, however long they lasted', async () => {
    // Each lasts 50 minutes, but for one that fails at once.
    const lasted = (id: string, ago: number, seconds = 3000) => ({
      target: 'production',
      call: finishedCall(id, { finish: finish('ended', ago - seconds), initiatedAt: NOW - ago }),
    })
    const history = [lasted('failed', 3500, 10), lasted('late', 3400), lasted('in', 3550), lasted('early', 3700)]
    const { url } = await serve([shownTarget()], { history })
    const period = `since=${NOW - 3600}&until=${NOW - 3400}`
    expect(await paged(url, `?${period}`)).toEqual({ ids: ['failed'], pages: 1 })
    expect(await paged(url, `?${period}&began=true&limit=1`)).toEqual({ ids: ['in', 'failed'], pages: 2 })
  })

  test('hold at most ten thousand calls in progress', async () => {
    const { url } = await serve([
      shownTarget({ calls: Array.from({ length: 10_001 }, (_, i) => openCall(`open-${i}`)) }),
    ])
    const { calls, truncated } = JSON.parse(await (await fetch(`${url}/api/v1/calls`)).text())
    expect([calls.length, truncated]).toEqual([10_000, true])
  })

  test('as CSV name the next page in a header', async () => {
    const { url } = await serve([shownTarget()], { history: HISTORY })
    const first = await fetch(`${url}/api/v1/calls?since=0&format=csv&limit=1200`)
    const next = first.headers.get('x-callwatch-next')
    expect(first.headers.get('x-callwatch-truncated')).toBe('true')
    const last = await fetch(`${url}/api/v1/calls?since=0&format=csv&cursor=${next}`)
    const lines = (await last.text()).trimEnd().split('\r\n')
    expect(lines.map((line) => line.split(',')[1])).toEqual(['call_id', 'call-1200', 'call-1201', 'call-1202'])
    expect(last.headers.get('x-callwatch-next')).toBeNull()
  })

  test.each(['x', 'bnVsbA', Buffer.from('{"offset":-1}').toString('base64url')])('refuse cursor=%s', async (cursor) => {
    const { url } = await serve([shownTarget()])
    for (const query of ['?', '?since=0&']) {
      const refused = await fetch(`${url}/api/v1/calls${query}cursor=${cursor}`)
      expect([refused.status, await refused.json()]).toEqual([
        400,
        expect.objectContaining({ detail: 'cursor must be the `next` of a response to the same parameters' }),
      ])
    }
  })
})

/** Stores calls that finished one second after the other, the first one `begin` seconds ago. */
async function addFinished(
  store: Store,
  target: string,
  begin: number,
  statuses: readonly FinalStatus[],
): Promise<void> {
  const { ledger } = await store.openTarget({ name: target, fingerprint: '' }, NOW, 60)
  const { delta } = newDraft(ledger.sync)
  statuses.forEach((status, i) => {
    const id = `${status} ${i}`
    delta.calls.set(id, finishedCall(id, { finish: finish(status, begin - i) }))
  })
  await store.commit(target, {
    ledger: delta,
    alerts: { changed: [], ended: [], notifications: [] },
  })
}

test('/api/v1/calls finds calls of the history by status and target, however many others lie between', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  const others = Array.from({ length: 10_050 }, () => 'ended' as const)
  await addFinished(store, 'production', 20_000, ['rejected', 'rejected', ...others])
  await addFinished(store, 'staging', 20_001, ['ended', 'rejected', 'canceled'])
  const app = fastify()
  onTestFinished(() => app.close())
  mount(app, callsRoute, { targets: { all: () => [], own: () => [], others: () => [] }, store })
  const list = async (query: string) => {
    const { calls, truncated } = (await app.inject(`/api/v1/calls?since=0&${query}`)).json()
    const found = calls.map((call: { target: string; session_id: string }) => `${call.target} ${call.session_id}`)
    return { found, truncated }
  }
  const rejected = ['production rejected 1', 'production rejected 0', 'staging rejected 1']
  // Of two that finished in the same second, either may come first.
  const { found } = await list('status=rejected')
  expect(found.toSorted()).toEqual(rejected.toSorted())
  expect(await list('target=staging')).toEqual({
    found: ['staging canceled 2', 'staging rejected 1', 'staging ended 0'],
    truncated: undefined,
  })
  expect(await list('target=production&status=rejected&limit=1')).toEqual({
    found: rejected.slice(0, 1),
    truncated: true,
  })
  expect(await list('target=production&status=rejected&limit=2')).toEqual({
    found: rejected.slice(0, 2),
    truncated: undefined,
  })
  expect(await list('target=staging&status=other')).toEqual({ found: [], truncated: undefined })
  expect(await list('target=nowhere')).toEqual({ found: [], truncated: undefined })
  const ended = await list('status=ended')
  expect([ended.found.length, ended.truncated]).toEqual([10_000, true])
})
