import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listCalls, MANY_IDS, oneCall, otherCalls } from '../../../src/history/list-calls.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import type { Store } from '../../../src/store/store.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { A, openIn } from '../../kit/store/place.ts'
import { owningStore } from '../../kit/store/postgres/daemon.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

/** Of these calls, each a second after the one before, every third one is of a session that has many. */
const CALLS = Array.from({ length: 3 * MANY_IDS + 3000 }, (_, i) => {
  const [id, session] = i % 3 === 0 ? [`cw:${i}`, `room ${i % 60}`] : [`call ${i}`, `call ${i}`]
  return seen(id, 'ended', { session, initiatedAt: CREATED + i, endedAt: CREATED + i + 1 })
})
const BOTH = [/\b(?:calls_pkey|sqlite_autoindex_calls_1)\b/, /\bcalls_by_session\b/]

async function fill<S extends Store>(store: S): Promise<S> {
  onTestFinished(() => store.close())
  await (await openIn(store, A)).see(completePoll(CALLS.length + 2, ...CALLS))
  return store
}

const filledFile = () => fill(openSqliteStore({ path: join(temporaryFolder(), 'callwatch.db') }))

/** A store, and the plans of its statements that select by session. */
function explaining(store: Pick<Store, 'rows'>, explain: string) {
  const plans: string[] = []
  const rows: Store['rows'] = async (statement, args) => {
    if (/\bsession >?=/.test(statement)) {
      const steps = await store.rows(`${explain} ${statement}`, args)
      plans.push(steps.map((step) => String(step['detail'] ?? step['QUERY PLAN'])).join('\n'))
    }
    return store.rows(statement, args)
  }
  return { plans, rows }
}

/** The plans of the statements that find the other calls of a call's session. */
async function plansOfOthers(store: Pick<Store, 'rows'>, explain: string): Promise<string[]> {
  const { plans, rows } = explaining(store, explain)
  const call = await oneCall(store, 'a', 'cw:0')
  const { calls, more } = await otherCalls({ rows }, 'a', call!)
  const others = CALLS.filter(({ id, session }) => session === 'room 0' && id !== 'cw:0')
  expect([calls.length + more, calls[0]!.id]).toEqual([others.length, others.at(-1)!.id])
  return plans
}

/** The plans of the statements that select by the beginning of a session id. They must find exactly those calls. */
async function plansOf(store: Pick<Store, 'rows'>, explain: string, sessionId: string): Promise<string[]> {
  const { plans, rows } = explaining(store, explain)
  const { calls } = await listCalls(
    { rows },
    {
      since: 0,
      until: CREATED + 1e6,
      sessionIds: { given: sessionId, others: new Map([['a', `v1.us.app.${sessionId}`]]) },
    },
    { limit: 10_000 },
  )
  const expected = CALLS.filter(({ session }) => session.startsWith(sessionId)).toReversed()
  expect(calls.map(({ call }) => call.id)).toEqual(expected.map(({ id }) => id))
  return plans
}

test.each(['room 30', 'call 77'])('SQLite finds the calls of %s with the indexes of both ids', async (session) => {
  const plans = await plansOf(await filledFile(), 'EXPLAIN QUERY PLAN', session)
  expect(plans).toHaveLength(2)
  for (const plan of plans) for (const index of BOTH) expect(plan).toMatch(index)
})

test('SQLite finds the other calls of a session with the indexes of both ids', async () => {
  const plans = await plansOfOthers(await filledFile(), 'EXPLAIN QUERY PLAN')
  expect(plans).toHaveLength(1)
  for (const index of BOTH) expect(plans[0]).toMatch(index)
})

test('SQLite lists the calls of many sessions by time', async () => {
  const [, ...plans] = await plansOf(await filledFile(), 'EXPLAIN QUERY PLAN', 'c')
  expect(plans.length).toBeGreaterThan(0)
  for (const plan of plans) expect(plan).toMatch(/USING INDEX calls_by_finish/)
})

inPostgres('PostgreSQL', ({ newDatabase }) => {
  test('finds the calls of a session, and the other ones of a call, with the indexes of both ids', async () => {
    const url = await newDatabase()
    const store = await fill(await owningStore(url))
    const connection = await connect(url)
    onTestFinished(() => connection.close())
    await connection.run('VACUUM ANALYZE callwatch.calls')
    const plans = [...(await plansOf(store, 'EXPLAIN', 'room 30')), ...(await plansOfOthers(store, 'EXPLAIN'))]
    expect(plans).toHaveLength(3)
    for (const plan of plans) for (const index of BOTH) expect(plan).toMatch(index)
  })
})
