import { GROUPED } from '../../kit/notifications/sample.ts'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import type { TargetConfig } from '../../../src/service/target-section.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { ANY_CALL } from '../../kit/daemon/any-call.ts'
import { daemonInProcess, KEY, WAIT, type DaemonInProcess } from '../../kit/daemon/daemon-in-process.ts'
import { pollConfig } from '../../kit/pipeline/settings.ts'

const ANOTHER_KEY = 'hunter3-hunter3'

async function simulator() {
  const started = await startSimulator({ apiKey: KEY, callsPerMinute: 60, speed: 20, history: 50 })
  onTestFinished(started.close)
  return started
}

/** A daemon with two apps of one service as targets. */
async function daemonWithTwo(differing: Partial<Config> = {}) {
  const service = await simulator()
  const target = (name: string, more: Partial<TargetConfig> = {}): TargetConfig => ({
    name,
    baseUrl: service.url,
    apiKey: KEY,
    query: { app: name },
    ...more,
  })
  const [a, b] = [target('a'), target('b')]
  // Several pages, so that an initial sync at everything differs from those that follow.
  const running = await daemonInProcess(service.url, { pageSize: 10 }, { targets: [a, b], ...differing })
  await running.ready()
  return { ...running, service, target, a, b }
}

/** The sum of a metric's series with these labels; undefined where there is none. */
async function value({ samples }: DaemonInProcess, name: string, labels: Record<string, string> = {}) {
  const found = (await samples()).filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  )
  return found.length === 0 ? undefined : found.reduce((sum, sample) => sum + sample.value, 0)
}

/** The notifications of alerts in the log. */
const LOGGED: Record<string, string> = { firing: 'is firing', resolved: 'has resolved', expired: 'expired' }
const sent = ({ log }: DaemonInProcess, kind: string) =>
  log.map(({ msg }) => msg).filter((msg) => /^alert .* on \S+ /.test(msg) && msg.includes(` ${LOGGED[kind]}`))

const shown = ({ daemon }: DaemonInProcess) => daemon.targets.loaded().map(({ name }) => name)

describe('a reloaded configuration', () => {
  test('keeps unchanged targets as they are, opens new ones and closes removed ones', async () => {
    const running = await daemonWithTwo()
    const { daemon, a, b, target, reload } = running
    const [targetA] = daemon.targets.loaded()
    expect(await reload({ targets: [target('c'), a] })).toMatchObject({ problems: [], changed: ['targets'] })
    await vi.waitFor(() => expect(shown(running)).toEqual(['c', 'a']), WAIT)
    expect(daemon.targets.loaded()[1]).toBe(targetA)
    await vi.waitFor(async () => expect(await value(running, 'callwatch_up', { target: 'c' })).toBe(1), WAIT)
    // Its initial sync, and no other.
    expect(await value(running, 'callwatch_polls_total', { target: 'a', outcome: 'complete' })).toBe(1)

    expect((await running.samples()).filter(({ labels }) => labels['target'] === 'b')).toEqual([])
    // Added again, it continues where it was.
    const {
      daemon: { targets },
    } = running
    await reload({ targets: [a, b] })
    await vi.waitFor(
      () => expect(targets.loaded().find(({ name }) => name === 'b')?.ledger.calls.size).toBeGreaterThan(50),
      WAIT,
    )
  })

  test('rotates a key without a gap: the target stays up, and the list is not read again', async () => {
    const running = await daemonWithTwo()
    const { service, a, b, reload, morePolls, daemon } = running
    const targetA = () => daemon.targets.loaded()[0]!
    const { memory } = targetA()
    const seen = running.polls.length
    service.keys.fullAccess = ANOTHER_KEY
    await reload({ targets: [{ ...a, apiKey: ANOTHER_KEY }, b] })
    await vi.waitFor(() => expect(targetA().settings.target.apiKey).toBe(ANOTHER_KEY), WAIT)
    expect(targetA().memory).toBe(memory)
    await morePolls(4)
    await vi.waitFor(async () => expect(await value(running, 'callwatch_up', { target: 'a' })).toBe(1), WAIT)
    expect(await value(running, 'callwatch_up', { target: 'b' })).toBe(0)
    expect(await value(running, 'callwatch_polls_total', { target: 'a', outcome: 'complete' })).toBe(1)
    const asked = service.responses().filter(({ path, status }) => path.includes('app=a') && status === 401)
    expect(asked.length).toBeLessThanOrEqual(2)
    expect(running.polls.length).toBeGreaterThan(seen)
  })

  test('has its rules evaluated from the next poll on, and closes the alerts of removed rules', async () => {
    const running = await daemonWithTwo()
    const { daemon, reload } = running
    const firing = () => daemon.targets.loaded().map(({ alerts }) => [...alerts.keys()])
    await reload({ alerts: [ANY_CALL] })
    await vi.waitFor(() => expect(firing()).toEqual([['AnyCall'], ['AnyCall']]), WAIT)
    await vi.waitFor(() => expect(sent(running, 'firing')).toHaveLength(2), WAIT)
    expect(running.polls.filter(({ outcome }) => outcome === 'complete')).toHaveLength(2)
    await reload({ alerts: [] })
    await vi.waitFor(() => expect(firing()).toEqual([[], []]), WAIT)
    await vi.waitFor(() => expect(sent(running, 'expired')).toHaveLength(2), WAIT)
    expect(sent(running, 'expired')[0]).toContain('rule removed')
  })

  test('the alerts of a removed target expire with that reason, also on a feed that is open', async () => {
    const running = await daemonWithTwo({ alerts: [ANY_CALL] })
    const { daemon, a, reload } = running
    await vi.waitFor(() => expect(sent(running, 'firing')).toHaveLength(2), WAIT)
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const headers = { accept: 'text/event-stream' }
    const { body } = await fetch(`${daemon.url}api/v1/events`, { headers, signal: stop.signal })
    // Read from now on: the body of a response that nobody holds any more, and nobody reads, ends empty when it is collected.
    const texts = body!.pipeThrough(new TextDecoderStream())
    await reload({ targets: [a] })
    let received = ''
    for await (const chunk of texts) {
      received += chunk
      if (/alert\.expired/.test(received)) break
    }
    expect(received).toMatch(/event: alert\ndata: .*"target":"b","alert":"AnyCall".*"expired_because":"target removed"/)
    await vi.waitFor(() => expect(sent(running, 'expired')).toEqual([expect.stringContaining('target removed')]), WAIT)
  })

  test('applies its poll interval and page size', async () => {
    const running = await daemonWithTwo()
    const poll = pollConfig({
      interval: 0.3,
      pageSize: 7,
      timeout: 1,
      lookback: 3600,
      sweepInterval: 60,
      maxRequestsPerMinute: 50_000,
      baseline: 'count',
    })
    await running.reload({ poll })
    await vi.waitFor(() => expect(running.service.responses().at(-1)?.path).toContain('perPage=7'), WAIT)
    await vi.waitFor(
      () => expect(running.daemon.targets.loaded().map(({ settings }) => settings.poll.interval)).toEqual([0.3, 0.3]),
      WAIT,
    )
    await running.recovered()
  })

  test('sends later notifications to the new address', async () => {
    const notified: string[] = []
    const receivers = await Promise.all(
      ['old', 'new'].map((name) =>
        localServer((_request, response) => {
          notified.push(name)
          response.end()
        }),
      ),
    )
    const [before, after] = receivers.map(({ url }) => [webhookAt('webhook', url)])
    const notify = { ...GROUPED, routes: [], inhibit: [], mutes: [], reports: [] }
    const running = await daemonWithTwo({ alerts: [ANY_CALL], notify: { ...notify, receivers: before! } })
    const { reload, a, target } = running
    await vi.waitFor(() => expect(notified).toEqual(['old', 'old']), WAIT)
    const c = target('c', { query: {} })
    await reload({ targets: [a, c], notify: { ...notify, receivers: after! } })
    // That b was removed, and that c fires.
    await vi.waitFor(() => expect(notified.slice(2)).toEqual(['new', 'new']), WAIT)
  })

  const webhookAt = (name: string, url: string) => {
    return { name, type: 'webhook' as const, config: { url, headers: {} } }
  }

  /** Two receivers, and what they got: who, of what, of which target. */
  async function firstAndSecond() {
    const notified: string[] = []
    const [first, second] = await Promise.all(
      ['first', 'second'].map(async (name) => {
        const { url } = await localServer((request, response) => {
          void text(request).then((body) => {
            const { kind, target, alerts } = JSON.parse(body)
            for (const { state } of kind === 'alerts' ? alerts : []) notified.push(`${name}: ${state} ${target}`)
            response.end()
          })
        })
        return webhookAt(name, url)
      }),
    )
    return { notified, first: first!, second: second! }
  }

  test('notifies a receiver that was added of what fires, and not of what ended before; and no longer one that was removed', async () => {
    const { notified, first, second } = await firstAndSecond()
    const notify = { ...GROUPED, routes: [], inhibit: [], mutes: [], reports: [] }
    const running = await daemonWithTwo({ alerts: [ANY_CALL], notify: { ...notify, receivers: [first] } })
    const { reload, a, target } = running
    await vi.waitFor(() => expect(notified.toSorted()).toEqual(['first: firing a', 'first: firing b']), WAIT)
    await reload({ targets: [a] })
    await vi.waitFor(() => expect(notified.slice(2)).toEqual(['first: expired b']), WAIT)
    await reload({ notify: { ...notify, receivers: [second] } })
    await vi.waitFor(() => expect(notified.slice(3)).toEqual(['second: firing a']), WAIT)
    const labels = async () => (await running.samples()).flatMap((sample) => sample.labels['receiver'] ?? [])
    await vi.waitFor(async () => expect(new Set(await labels())).toEqual(new Set(['second'])), WAIT)
    await reload({ targets: [a, target('c', { query: {} })], notify: { ...notify, receivers: [second] } })
    // Whatever else is due would have come before.
    await vi.waitFor(() => expect(notified.slice(4)).toEqual(['second: firing c']), WAIT)
  })

  test('sends the end of an alert to the receivers of its beginning, whichever the routes name by then, and to the others what fires', async () => {
    const { notified, first, second } = await firstAndSecond()
    const notifyBy = (...names: string[]) => {
      const routes = [{ match: {}, notify: names }]
      return { ...GROUPED, routes, inhibit: [], mutes: [], reports: [], receivers: [first, second] }
    }
    const { reload, a, target } = await daemonWithTwo({ alerts: [ANY_CALL], notify: notifyBy('first') })
    await vi.waitFor(() => expect(notified.toSorted()).toEqual(['first: firing a', 'first: firing b']), WAIT)
    await reload({ targets: [a, target('c', { query: {} })], notify: notifyBy('second') })
    // The first is told that it hears no more of a. Of b, which ends with the reload, it is told one or the other.
    const sorted = () => notified.slice(2).toSorted()
    const told = ['first: firing a', 'second: firing a', 'second: firing c']
    await vi.waitFor(() => expect(sorted()).toEqual(expect.arrayContaining(told)), WAIT)
    const ofB = () => sorted().filter((one) => one === 'first: expired b' || one === 'first: firing b')
    await vi.waitFor(() => expect(ofB()).toHaveLength(1), WAIT)
    // The second may hear that b came and went.
    expect(sorted().filter((one) => !told.includes(one) && one !== 'second: over b')).toEqual(ofB())
  })

  test('requires the new password', async () => {
    const http = { host: '127.0.0.1', port: 0 }
    const service = await simulator()
    const auth = { username: 'ops', password: 'old-password' }
    const { daemon, reload } = await daemonInProcess(service.url, {}, { http: { ...http, auth } })
    const status = async (password: string) => {
      const authorization = `Basic ${btoa(`ops:${password}`)}`
      return (await fetch(`${daemon.url}api/v1/state`, { headers: { authorization } })).status
    }
    expect([await status('old-password'), await status('new-password')]).toEqual([200, 401])
    await reload({ http: { ...http, auth: { ...auth, password: 'new-password' } } })
    expect([await status('old-password'), await status('new-password')]).toEqual([401, 200])
  })
})

describe('an invalid configuration at a reload', () => {
  const gauge = 'callwatch_config_last_reload_successful'

  test('leaves the old one active, and is reported in the log and in the metric until a valid one is read', async () => {
    const running = await daemonWithTwo()
    const { reload, daemon, log } = running
    const before = daemon.targets.loaded()
    expect(await value(running, gauge)).toBe(1)
    const problems = [
      { path: 'poll.interval', message: 'found `x`; expected a duration' },
      { path: 'targets[1].region', message: 'missing' },
    ]
    await reload(problems)
    expect(await value(running, gauge)).toBe(0)
    expect(log.at(-1)?.msg).toBe(
      'the configuration was refused, and the old one stays active: ' +
        'poll.interval: found `x`; expected a duration; targets[1].region: missing',
    )
    expect(daemon.targets.loaded()).toEqual(before)
    await reload({})
    expect(await value(running, gauge)).toBe(1)
    expect(log.at(-1)?.msg).toBe('the configuration was reloaded: nothing has changed')
  })

  test('names what needs a restart, and takes the rest', async () => {
    const running = await daemonWithTwo()
    const { reload, log } = running
    const http = { host: '127.0.0.2', port: 9464, publicUrl: 'https://x/', auth: { username: 'a', password: 'b' } }
    const reloaded = await reload({ store: { path: 'elsewhere.db', history: 2 * 86_400 }, http, alerts: [ANY_CALL] })
    const message = 'not the one with which the daemon was started; a change of it needs a restart'
    const paths = ['store.path', 'http.host', 'http.port', 'http.auth']
    expect(reloaded).toMatchObject({
      config: {
        store: { path: ':memory:', history: 2 * 86_400 },
        http: { host: '127.0.0.1', port: 0, publicUrl: 'https://x/' },
      },
      problems: [],
      kept: paths.map((path) => ({ path, message })),
      changed: expect.arrayContaining(['store', 'http', 'alerts']),
    })
    expect(reloaded.config.http.auth).toBeUndefined()
    await vi.waitFor(() => expect(sent(running, 'firing')).toHaveLength(2), WAIT)
    expect(await value(running, gauge)).toBe(0)
    expect(log.map(({ msg }) => msg)).toContain(
      'the configuration was reloaded, but for what needs a restart and stays as it was: store.path, http.host, http.port, http.auth',
    )
  })

  test('is refused if the rest depends on what needs a restart: without a password, participants are not shown', async () => {
    const { url } = await simulator()
    const { reload } = await daemonInProcess(url, {}, { http: { host: '0.0.0.0', port: 0 } })
    const events = { retention: 7200, participants: true, webhooks: [] }
    const { problems, config } = await reload({
      http: { host: '0.0.0.0', port: 0, auth: { username: 'a', password: 'b' } },
      events,
    })
    expect(problems).toMatchObject([
      { path: 'http.auth', message: expect.stringContaining('needs a restart') },
      { path: 'events.participants', message: expect.stringContaining('without a password') },
    ])
    expect(config.events.participants).toBe(false)
  })

  test('says what to do about a target with another address, and opens no other target', async () => {
    const { reload, a, target, ...running } = await daemonWithTwo()
    const other = { ...target('b'), onBehalfOf: 'ann' }
    const { problems } = await reload({ targets: [a, other, target('c')] })
    expect(problems).toEqual([
      {
        path: 'targets',
        message: expect.stringMatching(/^target b has another URL, on_behalf_of or query.* name, or/),
      },
    ])
    expect(running.daemon.targets.loaded().map(({ name }) => name)).toEqual(['a', 'b'])
  })
})
