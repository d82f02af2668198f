import { expect, onTestFinished, test, vi } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import type { TargetConfig } from '../../../src/service/target-section.ts'
import { expectedSeries } from '../../../src/simulator/expected/expected-series.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { databaseProxy } from '../../kit/cluster/database-proxy.ts'
import { logCommits } from '../../kit/postgres/log-commits.ts'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'
import { freePort } from '../../kit/postgres/start-postgres.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { eventClient } from '../../kit/web/event-client.ts'
import { ANY_CALL } from '../../kit/daemon/any-call.ts'
import { daemonInProcess, KEY, type DaemonInProcess } from '../../kit/daemon/daemon-in-process.ts'

/** So long that no daemon loses it, also on a machine that stands still for seconds. */
const LEASE = 10
const WAIT = { timeout: 90_000, interval: 50 }

const QUIET: Config['notify'] = {
  groupBy: ['target', 'severity'],
  groupWait: 0,
  groupInterval: 0,
  receivers: [],
  routes: [],
  inhibit: [],
  mutes: [],
  reports: [],
}

type TargetView = {
  name: string
  owner?: string
  up: boolean
  commit: number
  problem?: string
  started: number
  created: string
  rules: { threshold: number }[]
}

inOwnPostgres('daemons on one database', ({ newDatabase, server }) => {
  /** Starts daemons that share a database, one after the other, each with the same four targets. */
  async function sharing(differing: Partial<Config> = {}) {
    const service = await startSimulator({ apiKey: KEY, callsPerMinute: 60, speed: 20, history: 50 })
    onTestFinished(service.close)
    const targets = ['a', 'b', 'c', 'd'].map((name): TargetConfig => {
      return { name, baseUrl: service.url, apiKey: KEY, query: { app: name } }
    })
    const url = await newDatabase()
    const store = { url, lease: LEASE, history: 86_400 }
    const start = (lookback = 3600, resetTarget?: string) => {
      const config = { targets, store, alerts: [ANY_CALL], ...differing }
      return daemonInProcess(service.url, { interval: 0.5, lookback }, config, resetTarget)
    }
    return { service, start, url }
  }
  /** All targets, once it shows them: until an owner has loaded one, no daemon does. */
  const statusOf = ({ daemon }: DaemonInProcess) =>
    vi.waitFor(async () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
      const { targets } = (await (await fetch(`${daemon.url}api/v1/state`)).json()) as { targets: TargetView[] }
      expect(targets).toHaveLength(4)
      return targets
    }, WAIT)
  /** The targets of which it exports anything. */
  const exportedBy = async ({ samples }: DaemonInProcess) =>
    [...new Set((await samples()).flatMap(({ labels: { target = [] } }) => target))].toSorted()
  const split = (...daemons: DaemonInProcess[]) =>
    vi.waitFor(async () => {
      const exported = await Promise.all(daemons.map(exportedBy))
      expect(exported.map(({ length }) => length)).toEqual(daemons.map(() => 4 / daemons.length))
      expect(exported.flat().toSorted()).toEqual(['a', 'b', 'c', 'd'])
      return exported
    }, WAIT)

  test('each exports its own targets, and shows all of them with their owners', async () => {
    const { start } = await sharing()
    const [one, two] = [await start(), await start()]
    await split(one, two)
    await vi.waitFor(async () => {
      const [here, there] = [await statusOf(one), await statusOf(two)]
      expect(here.map(({ name, up }) => [name, up])).toEqual(['a', 'b', 'c', 'd'].map((name) => [name, true]))
      expect(here.map(({ owner }) => owner)).toEqual(there.map(({ owner }) => owner))
      expect(here.every(({ started }) => started > 0)).toBe(true)
    }, WAIT)
    const metrics = await one.samples()
    const figure = (name: string) => metrics.find((sample) => sample.name === name)?.value
    expect([figure('callwatch_targets'), figure('callwatch_targets_owned')]).toEqual([4, 2])
  })

  test('webhooks of the service that come to one of them are hints for the owner of each target', async () => {
    const port = await freePort()
    const service = await startSimulator({
      apiKey: KEY,
      callsPerMinute: 300,
      speed: 20,
    })
    onTestFinished(service.close)
    const webhook = { username: 'vendor', password: 'secret-password' }
    const targets = ['a', 'b'].map((name): TargetConfig => {
      return { name, baseUrl: service.url, apiKey: KEY, query: { app: name }, webhook }
    })
    const store = { url: await newDatabase(), lease: LEASE, history: 86_400 }
    const start = (hooks?: { host: string; port: number }) => {
      const http = { host: '127.0.0.1', port: 0, ...(hooks && { hooks }) }
      // Longer than the test: after the first poll, only hints find an end.
      return daemonInProcess(service.url, { interval: 300 }, { targets, store, http })
    }
    const one = await start()
    const receiver = await start({ host: '127.0.0.1', port })
    await vi.waitFor(async () => expect(await exportedBy(one)).toHaveLength(1), WAIT)
    const [owned] = await exportedBy(one)
    /** The ends found so far; there may be none yet. */
    const found = () =>
      vi.waitFor(async () => {
        const count = (await one.samples()).find(({ name }) => name === 'callwatch_detection_lag_seconds_count')
        if (!count) throw new Error('its first poll is not over')
        return count.value
      }, WAIT)
    const before = await found()
    service.sendWebhooks(new URL(`http://vendor:secret-password@127.0.0.1:${port}/hooks/${owned}`))
    await vi.waitFor(async () => expect(await found()).toBeGreaterThan(before + 10), WAIT)
    const polled = (await receiver.samples()).filter(({ name }) => name === 'callwatch_up')
    expect(polled.map(({ labels }) => labels['target'])).not.toContain(owned)
  })

  test('the live feed of each has the transitions of all targets once', async () => {
    const { start } = await sharing()
    const [one, two] = [await start(), await start()]
    await split(one, two)
    const { next } = await eventClient(one.daemon.url.slice(0, -1))
    const ids: string[] = []
    const seen = new Set<unknown>()
    for (let i = 0; i < 400 && seen.size < 4; i++) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon sends
      const { event, data } = (await next()) as { event: string; data: { id: string; source: string } }
      if (event !== 'call') continue
      seen.add(data.source)
      ids.push(data.id)
    }
    expect(seen.size).toBe(4)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('targets that one releases when it stops are acquired by another at once, which counts nothing twice', async () => {
    const { start, service } = await sharing()
    const [one, two] = [await start(), await start()]
    await split(one, two)
    await one.stop()
    const stopped = performance.now()
    await split(two)
    expect((performance.now() - stopped) / 1000).toBeLessThan(LEASE)
    service.setSwitches({ arrivals: false })
    await vi.waitFor(async () => {
      const created = Math.min(...(await statusOf(two)).map((target) => Date.parse(target.created) / 1000))
      const expected = expectedSeries(service.ledger(), { created, baseline: 'count', now: Infinity })
      const started = [...expected].filter(([name]) => name.startsWith('callwatch_calls_started_total'))
      const happened = started.reduce((sum, [, calls]) => sum + calls, 0)
      expect((await statusOf(two)).map((target) => target.started)).toEqual([happened, happened, happened, happened])
    }, WAIT)
  })

  test('however targets move, no counter that is exported falls below what was exported before', async () => {
    const url = new URL(await newDatabase())
    const proxy = await databaseProxy(Number(url.port))
    onTestFinished(proxy.close)
    url.port = String(proxy.port)
    const { start } = await sharing({ store: { url: url.href, lease: LEASE, history: 86_400 } })
    const daemons = [await start(), await start()]
    await split(...daemons)
    // Long enough to be seen between a claim and what follows it; a connection takes eight of them, and 1 s at most.
    proxy.delay = 50
    const highest = new Map<string, number>()
    const falls: string[] = []
    async function scrape() {
      for (const daemon of daemons) {
        const counted = new Map<string, number>()
        for (const { name, labels, value } of await daemon.samples().catch(() => [])) {
          const [target] = labels.target ?? []
          if (name !== 'callwatch_calls_started_total' || target === undefined) continue
          counted.set(target, (counted.get(target) ?? 0) + value)
        }
        for (const [target, value] of counted) {
          if (value < (highest.get(target) ?? 0)) falls.push(`${target}: ${highest.get(target)} to ${value}`)
          highest.set(target, Math.max(value, highest.get(target) ?? 0))
        }
      }
    }
    for (let round = 0; round < 3; round++) {
      const over = new AbortController()
      const scraping = (async () => {
        while (!over.signal.aborted) await scrape()
      })()
      daemons.push(await start())
      await daemons[0]!.stop().finally(() => over.abort())
      await scraping
      daemons.shift()
      await vi.waitFor(async () => {
        await scrape()
        expect((await Promise.all(daemons.map(exportedBy))).flat().toSorted()).toEqual(['a', 'b', 'c', 'd'])
      }, WAIT)
    }
    expect(falls).toEqual([])
  })

  test('the targets of a dead daemon are acquired by another within the lease, which sends their notifications', async () => {
    const { start } = await sharing()
    const [one, two] = [await start(), await start()]
    await split(one, two)
    one.kill()
    await split(two)
    const acquired = () =>
      two.log.map(({ msg }) =>
        Number(/^(\d+) targets? (?:was|were) acquired: this daemon polls them$/.exec(msg)?.[1] ?? 0),
      )
    await vi.waitFor(() => expect(acquired().reduce((sum, n) => sum + n, 0)).toBe(4), WAIT)
  })

  test('each firing alert is notified once, also to a slow receiver', async () => {
    const received: string[] = []
    const slack = await localServer((request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => received.push(body))
      request.once('end', () => setTimeout(() => response.end('ok'), 1500))
    })
    const config = { webhookUrl: `${slack.url}/services/T/B/x` }
    const { start } = await sharing({ notify: { ...QUIET, receivers: [{ name: 'slack', type: 'slack', config }] } })
    const daemons = [await start(), await start()]
    await split(...daemons)
    const fired = () =>
      ['a', 'b', 'c', 'd'].map((name) => received.filter((body) => body.includes(`AnyCall on ${name}`)).length)
    await vi.waitFor(() => expect(fired()).toEqual([1, 1, 1, 1]), WAIT)
    await daemons[1]!.morePolls(20)
    expect(fired()).toEqual([1, 1, 1, 1])
  })

  test('one that stops keeps its lease while its last message is being delivered, which is sent once', async () => {
    const received: string[] = []
    const renewed = Promise.withResolvers<void>()
    const slack = await localServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => (body += text))
      request.once('end', () => {
        received.push(body)
        void renewed.promise.then(() => response.end('ok'))
      })
    })
    const config = { webhookUrl: `${slack.url}/services/T/B/x` }
    const notify: Config['notify'] = { ...QUIET, receivers: [{ name: 'slack', type: 'slack', config }] }
    const { start, url } = await sharing({ notify, alerts: [{ ...ANY_CALL, match: {} }] })
    const [one, two] = [await start(), await start()]
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(0), WAIT)
    const database = await connect(url)
    onTestFinished(database.close)
    const lease = () => database.run('SELECT ends::text FROM callwatch.members ORDER BY joined LIMIT 1')
    const stopped = one.stop()
    const before = await lease()
    await vi.waitFor(async () => expect(await lease()).not.toEqual(before), WAIT)
    const first = received.length
    renewed.resolve()
    await stopped
    await split(two)
    await vi.waitFor(async () => {
      const waiting = (await two.samples()).filter(({ name }) => name === 'callwatch_notifications_pending')
      expect(waiting.map(({ value }) => value)).toEqual([0])
    }, WAIT)
    const alerts = received.map((body) => /AnyCall on \w+|\d+ alerts/.exec(body)?.[0])
    expect(new Set(alerts).size).toBe(alerts.length)
    expect(first).toBe(1)
  })

  test('one with another configuration is refused with what differs', async () => {
    const { start } = await sharing()
    const one = await start()
    await expect(start(7200)).rejects.toThrow(/poll\.lookback/)
    await split(one)
  })

  test('one that may not reset a target is refused, and leaves', async () => {
    const { start, url } = await sharing()
    await split(await start())
    await expect(start(3600, 'a')).rejects.toThrow(/target a is owned by the daemon/)
    const database = await connect(url)
    expect(await database.run('SELECT name FROM callwatch.members')).toHaveLength(1)
    await database.close()
  })

  test('settings that one has reloaded bind the others as long as it lives', async () => {
    const { start } = await sharing()
    const [one, two] = [await start(), await start()]
    await split(one, two)
    await one.reload({ alerts: [{ ...ANY_CALL, threshold: 5 }] })
    await split(one)
    await two.reload({ log: { level: 'debug' } })
    const [{ commit } = { commit: 0 }] = await statusOf(one)
    await vi.waitFor(async () => expect((await statusOf(one))[0]?.commit).toBeGreaterThan(commit + 20), WAIT)
    expect(await exportedBy(one)).toHaveLength(4)
    const status = await fetch(`${two.daemon.url}api/v1/state`)
    expect(await status.text()).toContain('alerts.AnyCall is not the same')
    expect((await two.readyz()).status).toBe(503)
    await one.stop()
    await split(two)
  })

  test('a daemon with later commits than its database, as after a restore, continues from the database', async () => {
    const { start, url } = await sharing()
    const one = await start()
    await split(one)
    const before = await vi.waitFor(async () => {
      const status = await statusOf(one)
      expect(status.every(({ commit }) => commit > 5)).toBe(true)
      return status
    }, WAIT)
    const database = await connect(url)
    onTestFinished(database.close)
    await logCommits(database)
    await database.run(`UPDATE callwatch.targets SET seq = 2, sync = (sync::jsonb || '{"seq":2}')::text`)
    const third = () => database.run('SELECT FROM public.commits WHERE seq = 3')
    await vi.waitFor(async () => expect(await third()).toHaveLength(4), WAIT)
    await vi.waitFor(async () => {
      const status = await statusOf(one)
      expect(status.every(({ commit, up }, i) => up && commit > before[i]!.commit)).toBe(true)
    }, WAIT)
  })

  test('a configuration that is reloaded while the database is away is applied by all when it is back', async () => {
    const { start } = await sharing()
    const [one, two] = [await start(), await start()]
    await split(one, two)
    await server().kill()
    const change = { alerts: [{ ...ANY_CALL, threshold: 5 }] }
    const [first, second] = [one.reload(change), two.reload(change)]
    await server().restart()
    expect([(await first).problems, (await second).problems]).toEqual([[], []])
    await split(one, two)
    // Also of the targets that the other one owns.
    await vi.waitFor(async () => {
      const shown = [...(await statusOf(one)), ...(await statusOf(two))]
      expect(shown.map(({ rules }) => rules.map(({ threshold }) => threshold))).toEqual(shown.map(() => [5]))
    }, WAIT)
    await one.ready()
  })

  test('while the database is away no target is polled and no daemon is ready, and then all of them continue', async () => {
    const { start } = await sharing()
    const one = await start()
    await split(one)
    await server().kill()
    await vi.waitFor(async () => {
      const { status, body } = await one.readyz()
      expect([status, body]).toEqual([503, expect.stringContaining('the store cannot be used')])
      expect(body).not.toContain('127.0.0.1')
    }, WAIT)
    await vi.waitFor(async () => expect(await exportedBy(one)).toEqual([]), WAIT)
    await server().restart()
    await split(one)
    await one.ready()
    const valueOf = async (wanted: string) => (await one.samples()).find(({ name }) => name === wanted)?.value
    // A busy machine may let it expire again.
    expect(await valueOf('callwatch_lease_lost_total')).toBeGreaterThan(0)
    expect(await valueOf('callwatch_store_writable')).toBe(1)
  })
})
