import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import type { TargetConfig } from '../../../src/service/target-section.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { openReader, type StoreAddress } from '../../../src/store/open-store.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { ANY_CALL } from '../../kit/daemon/any-call.ts'
import { daemonInProcess, KEY, WAIT, type DaemonInProcess } from '../../kit/daemon/daemon-in-process.ts'
import { webhookOf } from '../../kit/events/webhooks/any-webhook.ts'
import { GROUPED } from '../../kit/notifications/sample.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

/** A target that is first called `old`, whose alert fires for a receiver. */
async function firing(store: Config['store'], differing: Partial<Config> = {}) {
  const service = await startSimulator({ apiKey: KEY, callsPerMinute: 120, speed: 20, history: 50 })
  onTestFinished(service.close)
  const messages: string[] = []
  const { url } = await localServer((request, response) => {
    void text(request).then((body) => {
      const { kind, target, alerts } = JSON.parse(body)
      // Without any, it tells only of what began and ended meanwhile.
      if (kind === 'alerts' && alerts.length > 0) messages.push(`${alerts[0].state} ${target}`)
      response.end()
    })
  })
  const webhook = {
    name: 'webhook',
    type: 'webhook' as const,
    config: { url, headers: {} },
  }
  const notify = { ...GROUPED, routes: [], inhibit: [], mutes: [], reports: [], receivers: [webhook] }
  const named = (name: string, formerly?: string): TargetConfig => ({
    name,
    ...(formerly !== undefined && { formerly }),
    baseUrl: service.url,
    apiKey: KEY,
    query: {},
  })
  const start = (target: TargetConfig, resetTarget?: string) =>
    daemonInProcess(
      service.url,
      {},
      { targets: [target], store, notify, alerts: [ANY_CALL], ...differing },
      resetTarget,
    )
  const first = await start(named('old'))
  await vi.waitFor(() => expect(messages).toEqual(['firing old']), WAIT)
  return { first, start, named, messages, service }
}

/** What the store has of calls, alerts and events: each name of a target, and what the counter of started calls counted twice. */
async function storedIn(address: StoreAddress) {
  await using reader = await openReader(address)
  const rows = async (query: string) => (await reader.rows(query, [])).map((row) => Object.values(row).map(String))
  const names = new Set(
    (
      await Promise.all(
        [
          'SELECT name FROM callwatch.targets',
          'SELECT DISTINCT target FROM callwatch.events',
          'SELECT target FROM callwatch.alert_episodes',
          'SELECT target FROM callwatch.call_history',
        ].map(rows),
      )
    ).flat(2),
  )
  for (const [data] of await rows('SELECT data FROM callwatch.notified'))
    for (const { target } of Object.values<{ target: string }[]>(JSON.parse(data!)).flat()) names.add(target)
  const twice = await rows('SELECT call_id FROM callwatch.call_history GROUP BY call_id HAVING count(*) > 1')
  const { rows: counted, counters } = await reader.balance([...names].at(-1)!)
  return { names: [...names], twice: twice.flat(), isBalanced: counted[0] === counters[0], calls: counted[0]! }
}

type Alerts = { alerts: { target: string; firing_since: string }[] }
async function alertsOf({ daemon }: DaemonInProcess) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
  const { alerts } = (await (await fetch(`${daemon.url}api/v1/state`)).json()) as Alerts
  return alerts.map(({ target, firing_since: since }) => ({ target, since }))
}

const changesIn = (...daemons: DaemonInProcess[]) =>
  daemons.flatMap(({ log }) => log.map(({ msg }) => msg).filter((msg) => /^alert |was removed/.test(msg)))

const CONTINUED = 'target new continues the counts, history and alerts of old'

describe('a target with a new name and `formerly`', () => {
  const file = () => ({ path: join(temporaryFolder(), 'callwatch.db'), history: 86_400 })

  test('continues at a start with all that it had under the old one, and its alert stays the same', async () => {
    const store = file()
    const { first, start, named, messages } = await firing(store)
    const [before] = await alertsOf(first)
    await first.stop()
    const { calls } = await storedIn(store)
    const second = await start(named('new', 'old'))
    await second.recovered()
    expect(await alertsOf(second)).toEqual([{ target: 'new', since: before!.since }])
    expect(second.log).toContainEqual(expect.objectContaining({ msg: CONTINUED }))
    await second.stop()
    const stored = await storedIn(store)
    expect(stored).toMatchObject({ names: ['new'], twice: [], isBalanced: true })
    expect(stored.calls).toBeGreaterThanOrEqual(calls)
    // The name may stay in the configuration.
    const third = await start(named('new', 'old'))
    await third.recovered()
    await third.stop()
    expect(await storedIn(store)).toMatchObject({ names: ['new'], twice: [], isBalanced: true })
    expect(messages).toEqual(['firing old'])
    expect(changesIn(second, third)).toEqual([])
  })

  test('continues at a reload with all that it had under the old one, and its alert ends once', async () => {
    const store = file()
    const { first, named, messages } = await firing(store)
    const [before] = await alertsOf(first)
    const { calls } = await storedIn(store)
    expect(await first.reload({ targets: [named('new', 'old')] })).toMatchObject({ problems: [] })
    await vi.waitFor(async () => expect(await alertsOf(first)).toEqual([{ target: 'new', since: before!.since }]), WAIT)
    await first.recovered()
    expect(changesIn(first)).toEqual([expect.stringContaining('is firing')])
    await vi.waitFor(async () => {
      const of = new Set((await first.samples()).flatMap(({ labels }) => labels['target'] ?? []))
      expect([...of]).toEqual(['new'])
    }, WAIT)
    await first.reload({ alerts: [] })
    await vi.waitFor(() => expect(messages).toEqual(['firing old', 'expired new']), WAIT)
    await first.stop()
    const stored = await storedIn(store)
    expect(stored).toMatchObject({ names: ['new'], twice: [], isBalanced: true })
    expect(stored.calls).toBeGreaterThanOrEqual(calls)
  })

  test('has its events in order at a webhook that has not received some of before', async () => {
    const store = file()
    const received: string[] = []
    let attempts = 0
    let accepts = false
    const { url } = await localServer((request, response) => {
      void text(request).then((body) => {
        const { id, type, source } = JSON.parse(body)
        if (type === 'callwatch.alert.firing') attempts += 1
        const isAccepted = accepts || type !== 'callwatch.alert.firing'
        if (isAccepted) received.push(`${id} ${type} ${source}`)
        response.writeHead(isAccepted ? 200 : 503).end()
      })
    })
    const webhook = webhookOf({ url, from: 'start', types: ['alert.firing', 'alert.expired'] })
    const events = { retention: 86_400, participants: false, webhooks: [webhook] }
    const { first, named } = await firing(store, { events })
    await vi.waitFor(() => expect(attempts).toBeGreaterThan(0), WAIT)
    const logged = async () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
      const page = (await (await fetch(`${first.daemon.url}api/v1/events?type=alert.firing,alert.expired`)).json()) as {
        events: { id: string; type: string }[]
      }
      return page.events.map(({ id, type }) => `${id} ${type} urn:callwatch:new`)
    }
    await first.reload({ targets: [named('new', 'old')], alerts: [] })
    await vi.waitFor(async () => expect(await logged()).toHaveLength(2), WAIT)
    const before = attempts
    await vi.waitFor(() => expect(attempts).toBeGreaterThan(before + 1), WAIT)
    accepts = true
    await vi.waitFor(() => expect(received).toHaveLength(2), WAIT)
    expect(received).toEqual(await logged())
  })

  test('is refused where that name had another app: nothing changes', async () => {
    const store = file()
    const { first, named } = await firing(store)
    const problem =
      'target new cannot continue old, which had another address, on_behalf_of or query when its calls were counted; ' +
      'remove `formerly: old` to count new from nothing'
    const other = { ...named('new', 'old'), query: { app: 'other' } }
    expect(await first.reload({ targets: [other] })).toMatchObject({ problems: [{ message: problem }] })
    await first.recovered()
    expect(await alertsOf(first)).toMatchObject([{ target: 'old' }])
    await first.stop()
    expect(await storedIn(store)).toMatchObject({ names: ['old'], twice: [], isBalanced: true })
  })
})

describe('a target with a new name and the address and app of one that is gone', () => {
  const store = () => ({ path: join(temporaryFolder(), 'callwatch.db'), history: 86_400 })
  const advice =
    'target new has the address and app of old, which is no longer configured, and is counted from nothing; ' +
    'set `formerly: old` on it to continue the counts, history and alerts of old'
  const own =
    'target new has counts of its own, so it does not continue those of old; remove `formerly: old` to keep its own, ' +
    'or run once with --reset-target new to continue those of old'

  test('is counted from nothing, which the reload and the start say, with what to do; and what they say helps', async () => {
    const file = store()
    const { first, start, named } = await firing(file)
    await first.reload({ targets: [named('new')] })
    expect(first.log).toContainEqual(expect.objectContaining({ level: 40, msg: advice }))
    await first.recovered()
    expect(await first.reload({ targets: [named('new', 'old')] })).toMatchObject({ problems: [] })
    expect(first.log).toContainEqual(expect.objectContaining({ level: 40, msg: own }))
    await first.stop()
    const second = await start(named('new', 'old'), 'new')
    await second.recovered()
    expect(second.log).toContainEqual(expect.objectContaining({ msg: CONTINUED }))
    await second.stop()
    expect(await storedIn(file)).toMatchObject({ names: ['new'], twice: [], isBalanced: true })
  })

  test('is said at the start', async () => {
    const file = store()
    const { first, start, named } = await firing(file)
    await first.stop()
    const second = await start(named('new'))
    expect(second.log).toContainEqual(expect.objectContaining({ level: 40, msg: advice }))
  })
})

inPostgres('a target with a new name, of several daemons', ({ newDatabase }) => {
  test('continues once, also while another daemon still has the old name; that one says so', async () => {
    const store = { url: await newDatabase(), history: 86_400, lease: 5 }
    const { first, start, named, messages } = await firing(store)
    const second = await start(named('old'))
    const [before] = await alertsOf(first)
    const { calls } = await storedIn(store)
    const renamed = { targets: [named('new', 'old')] }
    await second.reload(renamed)
    const differs = /cannot join the cluster: .*targets has old only here and new only there/
    await vi.waitFor(() => expect(first.log.some(({ msg }) => differs.test(msg))).toBe(true), WAIT)
    await vi.waitFor(
      async () => expect(await alertsOf(second)).toEqual([{ target: 'new', since: before!.since }]),
      WAIT,
    )
    await first.reload(renamed)
    await vi.waitFor(
      () => expect(first.log.some(({ msg }) => /member of the cluster again/.test(msg))).toBe(true),
      WAIT,
    )
    await vi.waitFor(async () => expect((await storedIn(store)).calls).toBeGreaterThan(calls), WAIT)
    expect(changesIn(first, second)).toEqual([expect.stringContaining('is firing')])
    await Promise.all([first.stop(), second.stop()])
    expect(await storedIn(store)).toMatchObject({ names: ['new'], twice: [], isBalanced: true })
    expect(messages).toEqual(['firing old'])
  })
})
