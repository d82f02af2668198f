import { lastValueFrom, NEVER } from 'rxjs'
import { systemClock } from '../src/clock/clock.ts'
import { cycle$ } from '../src/polling/cycle.ts'
import { newListMemory } from '../src/polling/look.ts'
import { callsClient } from '../src/service/calls-client.ts'
import { undiciTransport } from '../src/service/undici-transport.ts'
import { keepTarget } from '../src/store/keep-target.ts'
import { openSqliteStore } from '../src/store/sqlite-store.ts'
import { measure } from './measure.ts'

/** callwatch itself: a first look at everything with a durable store, then a sweep of the same calls again. */
const [url = '', folder = ''] = process.argv.slice(2)
const clock = systemClock
const poll = {
  interval: 3600,
  lookback: 86_400,
  sweepInterval: 1,
  maxRequestsPerMinute: 1e9,
  pageSize: 100,
  statusMap: {},
}
const store = openSqliteStore({ path: `${folder}/callwatch.db`, notifiersFor: () => [] })
const keeper = await keepTarget({
  store,
  clock,
  identity: { name: 'bench', fingerprint: '' },
  ledger: { ...poll, baseline: 'count', details: 'missing' },
  rules: [],
  interval: poll.interval,
})
const transport = undiciTransport(url)
const client = callsClient(transport.send, {
  ...poll,
  apiKey: 'bench',
  query: {},
  wall: clock.wall,
  known: (id) => keeper.ledger.calls.get(id),
})
const budget = { take: async () => undefined, holdBack: () => undefined, heldFor: () => 0 }
const look = async () => {
  // A memory of nothing: this look reads the whole list, as a sweep does.
  const memory = newListMemory(undefined, undefined)
  const attempt = { budget, timeout: 10, retries: 0, random: Math.random }
  const options = { clock, client, attempt, state: keeper.ledger, fold: keeper.fold, memory, askedAt: new Map(), poll }
  await lastValueFrom(cycle$({ ...options, abandon$: NEVER }))
  return keeper.ledger.calls.size
}
process.send?.({ runs: [await measure(look), await measure(look)] })
await transport.close()
await store.close()
process.disconnect?.()
