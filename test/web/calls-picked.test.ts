import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import type { FinalStatus } from '../../src/ledger/call.ts'
import { newDraft } from '../../src/ledger/delta-draft.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { callsRoute } from '../../src/web/calls-route.ts'
import { finish, finishedCall, NOW } from '../metrics/hand-made-target.ts'

const IN_BETWEEN = 10_050

/** Keeps calls that finished one second after the other, the first one `begin` seconds ago. */
async function keep(store: Store, target: string, begin: number, statuses: readonly FinalStatus[]): Promise<void> {
  const { ledger } = await store.openTarget({ name: target, fingerprint: '' }, NOW, 60)
  const { delta } = newDraft(ledger.facts)
  statuses.forEach((status, i) => {
    const id = `${status} ${i}`
    delta.calls.set(id, finishedCall(id, { finish: finish(status, begin - i) }))
  })
  await store.commit(target, { ledger: delta, alerts: { changed: [], ended: [], notifications: [] }, outgoing: [] })
}

test('calls of the history are found by status and target past any number of others', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  const others = Array.from({ length: IN_BETWEEN }, () => 'ended' as const)
  await keep(store, 'production', 20_000, ['rejected', 'rejected', ...others])
  await keep(store, 'staging', 20_001, ['ended', 'rejected', 'canceled'])
  const app = fastify()
  onTestFinished(() => app.close())
  callsRoute(app, { targets: [], store })
  const ask = async (query: string) => {
    const { calls, truncated } = (await app.inject(`/api/v1/calls?finished_since=0&${query}`)).json()
    const found = calls.map((call: { target: string; session_id: string }) => `${call.target} ${call.session_id}`)
    return { found, truncated }
  }
  const rejected = ['production rejected 1', 'production rejected 0', 'staging rejected 1']
  // Of two that finished in the same second, either may come first.
  const { found } = await ask('status=rejected')
  expect(found.toSorted()).toEqual(rejected.toSorted())
  expect(await ask('target=staging')).toEqual({
    found: ['staging canceled 2', 'staging rejected 1', 'staging ended 0'],
    truncated: undefined,
  })
  expect(await ask('target=production&status=rejected&limit=1')).toEqual({
    found: rejected.slice(0, 1),
    truncated: true,
  })
  expect(await ask('target=production&status=rejected&limit=2')).toEqual({
    found: rejected.slice(0, 2),
    truncated: undefined,
  })
  expect(await ask('target=staging&status=other')).toEqual({ found: [], truncated: undefined })
  expect(await ask('target=nowhere')).toEqual({ found: [], truncated: undefined })
  const ended = await ask('status=ended')
  expect([ended.found.length, ended.truncated]).toEqual([10_000, true])
})
