import { expect, test } from 'vitest'
import { callOf, valuesOf } from '../../../src/store/call-columns.ts'
import { applyDelta, newLedger } from '../../../src/ledger/state.ts'
import { computeDelta, type LedgerOptions } from '../../../src/ledger/delta/compute-delta.ts'
import type { ServiceAnswer } from '../../../src/ledger/observation.ts'
import { callsClient } from '../../../src/service/calls-client.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { answer } from '../../../src/simulator/answers/answer.ts'
import { random } from '../../../src/simulator/random.ts'
import { createService } from '../../../src/simulator/answers/service.ts'
import { mutate } from './mutate.ts'

const BODIES = 100_000
const START = 1_790_000_000
const OPTIONS: LedgerOptions = { lookback: 86_400, baseline: 'skip', details: 'missing' }

/** A page of three calls, and one call by itself, as the service shows them. */
function sampleBodies(): { page: string; call: string; id: string } {
  const service = createService({ seed: 7, history: 20 }, START)
  const headers = { apikey: service.keys.fullAccess }
  const get = (path: string, query: string) =>
    answer(service, { method: 'GET', path, query, headers }, START + 60).reply.body
  const page = get('/v3/calls', 'page=1&perPage=3')
  const [, id = ''] = /"sessionId":"([^"]+)"/.exec(page) ?? []
  return { page, call: get(`/v3/calls/${encodeURIComponent(id)}`, ''), id }
}

test(`${BODIES} mutated answers: nothing but a ServiceError is thrown, and no counter is ever not finite`, async () => {
  const draw = random(11, 'fuzz')
  const { page, call, id } = sampleBodies()
  let body = ''
  const client = callsClient(async () => ({ status: draw() < 0.9 ? 200 : 500, headers: {}, body }), {
    apiKey: 'key',
    query: {},
    pageSize: 3,
    statusMap: { busy: 'rejected' },
    wall: () => START + 60,
    onUnknown: () => undefined,
  })
  const { signal } = new AbortController()
  let state = newLedger(START)
  let refused = 0
  let json = 0
  for (let n = 0; n < BODIES; n++) {
    const isPage = n % 4 !== 0
    body = mutate(isPage ? page : call, draw)
    if (isJson(body)) json += 1
    const now = START + 60 + n
    const seen = await (isPage ? client.listCalls(1, signal) : client.getCall(id, signal)).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw new Error(`not a ServiceError, for ${body}`, { cause: error })
      return undefined
    })
    if (seen === undefined) {
      refused += 1
      continue
    }
    const { calls } = seen
    const invalid = 'invalid' in seen ? seen.invalid : {}
    const answer: ServiceAnswer = {
      source: isPage ? 'list' : 'get',
      serviceTime: now,
      hostTime: now,
      calls,
      notFound: [],
      invalid,
    }
    const delta = computeDelta(state, { answers: [answer] }, OPTIONS)
    if (delta === undefined) continue
    for (const [series, increment] of delta.counters) {
      if (!(increment >= 0 && Number.isFinite(increment))) throw new Error(`${series} + ${increment}, for ${body}`)
    }
    for (const changed of delta.calls.values()) expect(callOf(valuesOf(changed))).toEqual(changed)
    applyDelta(state, delta, 3600)
    if (n % 1000 === 0) expect([...state.counters.values()].every(Number.isFinite)).toBe(true)
    // Memory is bounded by what is tracked; here by starting over.
    if (n % 1000 === 0) state = newLedger(START)
  }
  expect(json).toBeGreaterThan(BODIES / 2)
  expect(refused).toBeGreaterThan(BODIES / 20)
  expect(BODIES - refused).toBeGreaterThan(BODIES / 3)
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
