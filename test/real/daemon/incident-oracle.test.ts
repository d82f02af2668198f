import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { configOf } from '../../../src/config/config.ts'
import type { IncidentView } from '../../../src/views/incident.ts'
import { state } from '../../../src/views/state/state.ts'
import { openForCommand } from '../../../src/store/open-store.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { daemonInProcess, KEY, type DaemonInProcess } from '../../kit/daemon/daemon-in-process.ts'
import { runningTime } from '../../kit/running-time.ts'

const TARGETS = 8
const names = Array.from({ length: TARGETS }, (_, n) => `app-${n}`)
/** When calls are open on each target (seconds): it grows, ends on some, comes back on one, and ends. */
const OPEN = names.map((_, n): [from: number, to: number][] => (n === 1 ? [[1, 14], [22, 30]] : [[n < 2 ? 1 : n + 1, n < 4 ? 20 : 30]])) // oxfmt-ignore
const OUTAGE = { of: 0, from: 5, to: 13 }
/** One of two daemons is killed, a third one starts, and a target is silenced for a while (seconds). */
const KILLED_AT = 13
const JOINED_AT = 17
const SILENCED = { target: 'app-5', at: 15, for: 8 }
const OVER_AT = 42
/** At most it takes so many times as long. */
const SLOWEST = 3

/** A calls service whose apps have an open call at these times, and whose first app answers nothing for a while. */
async function service(elapsed: () => number): Promise<string> {
  const answer = (n: number) => {
    const begun = OPEN[n]!.filter(([from]) => from <= elapsed())
    return begun.map(([from, to]) => ({
      sessionId: `${n}-${from}`,
      type: 'audio',
      mode: 'call',
      status: elapsed() < to ? 'ongoing' : 'ended',
    }))
  }
  const { url } = await localServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://service.test')
    const n = names.indexOf(pathname.split('/')[1]!)
    if (n === OUTAGE.of && elapsed() >= OUTAGE.from && elapsed() < OUTAGE.to) response.writeHead(503).end()
    else {
      const calls = answer(n)
      const one = calls.find(({ sessionId }) => pathname.endsWith(`/${sessionId}`))
      const list = { data: calls, meta: { pagination: { total: calls.length, current_page: 1, total_pages: 1 } } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(one ? { data: one } : list))
    }
  })
  return url
}

const slackRequest = z.object({
  text: z.string().default(''),
  ts: z.string().optional(),
  thread_ts: z.string().optional(),
})

/** Slack's API with one channel: its messages as they are now, and each text that was posted or edited. */
async function slackApi(elapsed: () => number) {
  const said: { at: number; text: string; isReply: boolean; silenced: boolean }[] = []
  const { url } = await localServer((request, response) => {
    void json(request).then((body) => {
      const { text, thread_ts: thread, ts = `${said.length}.000001` } = slackRequest.parse(body)
      if (!request.url!.endsWith('history')) {
        const silenced = JSON.stringify(body).includes('by anna')
        said.push({ at: elapsed(), text, isReply: thread !== undefined, silenced })
      }
      response.end(JSON.stringify({ ok: true, ts, messages: [] }))
    })
  })
  return { url, said }
}

/** On which targets alerts about calls fire, only wait, and no poll is reported. */
type Said = { at: number; firing: Set<string>; pending: Set<string>; unpolled: Set<string> }

/** What the metrics of all daemons say; undefined while a target has no owner. */
async function oracle(daemons: readonly DaemonInProcess[]): Promise<Omit<Said, 'at'> | undefined> {
  const samples = (await Promise.all(daemons.map((each) => each.samples()))).flat()
  const owned = samples.filter(({ name }) => name === 'callwatch_targets_owned').map(({ value }) => value)
  if (owned.reduce((sum, each) => sum + each, 0) !== TARGETS) return undefined
  const alerts = samples.filter(({ name, value }) => name === 'callwatch_alerts' && value > 0)
  const on = (state: string, areCalls: boolean) =>
    new Set(alerts.flatMap(({ labels: { alert, target, ...labels } }) =>
      labels['state'] === state && (alert !== 'NoPoll') === areCalls ? target! : [])) // oxfmt-ignore
  const firing = on('firing', true)
  return { firing, pending: on('pending', true).difference(firing), unpolled: on('firing', false) }
}

/** A daemon shows the targets of the others with this delay (seconds); the oracle itself takes the rest. */
const LAG = 4
/** For so long a delay may have an effect (seconds). */
const RECENT = 10

/** How many targets a set has had in the time before a moment, at least and at most: those all the time, and those at any time. */
function bounds(known: readonly Said[], at: number, sets: (said: Said) => Set<string>): [least: number, most: number] {
  // What delays this test delays the daemons as well.
  const gaps = known.map((said, i) => (said.at < at - RECENT ? 0 : said.at - (known[i - 1]?.at ?? 0)))
  const first = known.findLastIndex((said) => said.at < at - LAG - Math.max(0, ...gaps))
  // With the first one after it: what it shows may have begun before.
  const after = known.findIndex((said) => said.at > at)
  const recent = known.slice(Math.max(0, first), after < 0 ? undefined : after + 1).map(sets)
  const ever = recent.reduce((all, each) => all.union(each), new Set())
  const always = recent.reduce((all, each) => all.intersection(each), ever)
  // Soon after the start, a daemon may not have heard of the others yet.
  return [first < 0 ? 0 : always.size, ever.size]
}

function expectWithin(count: number, [least, most]: [least: number, most: number], when: number | string): void {
  expect(count, `at ${when}`).toBeGreaterThanOrEqual(least)
  expect(count, `at ${when}`).toBeLessThanOrEqual(most)
}

async function incidentsOf({ daemon }: DaemonInProcess) {
  return state.parse(await (await fetch(`${daemon.url}api/v1/state`)).json()).incidents
}

inPostgres('an incident on several daemons', ({ newDatabase }) => {
  test('is counted alike by API, Slack and metrics at each moment', async () => {
    let [begun, ran] = [performance.now(), runningTime()]
    // Where the machine is busy, the incident takes longer, so that as much is compared.
    const elapsed = () => Math.max(ran(), (performance.now() - begun) / SLOWEST / 1000)
    const url = await service(elapsed)
    const slack = await slackApi(elapsed)
    const database = await newDatabase()
    const { notify, alerts } = configOf({
      targets: [{ name: 'any', base_url: url, api_key: KEY }],
      notify: {
        group_by: ['alert', 'severity'],
        group_wait: '1s',
        group_interval: '6s',
        slack: { token: 'xoxb-1', channel: 'C0', api_url: slack.url },
      },
      alerts: [
        { name: 'Open', signal: 'in_progress', above: 0, severity: 'warning' },
        { name: 'OpenForLong', signal: 'in_progress', above: 0, severity: 'critical', for: '2s' },
        { name: 'NoPoll', signal: 'poll_age', above: '5s', severity: 'critical' },
      ],
    })
    const targets = names.map((name) => ({ name, baseUrl: `${url}/${name}`, apiKey: KEY, query: {} }))
    const store = { url: database, lease: 6, history: 86_400 }
    const start = () => daemonInProcess(url, { interval: 0.5, baseline: 'skip' }, { targets, notify, alerts, store })
    const daemons = [await start(), await start()]
    ;[begun, ran] = [performance.now(), runningTime()]
    const events = [
      { at: KILLED_AT, run: () => Promise.resolve(daemons.shift()!.kill()) },
      {
        at: SILENCED.at,
        run: async () => {
          await using commands = await openForCommand({ url: database })
          const since = Date.now() / 1000
          const match = { target: SILENCED.target }
          await commands.addSilence({ match, since, until: since + SILENCED.for, reason: 'deploy', author: 'anna' })
        },
      },
      {
        at: JOINED_AT,
        run: async () => {
          const joined = await start()
          const isReady = async () => (await fetch(`${joined.daemon.url}readyz`)).json()
          // Before that it knows nothing of the targets of the others.
          await vi.waitFor(async () => expect(await isReady()).not.toMatchObject({ status: 'not ready' }), 60_000)
          daemons.push(joined)
        },
      },
    ]
    const known: Said[] = []
    let compared = 0
    while (elapsed() < OVER_AT) {
      if (elapsed() >= (events[0]?.at ?? Infinity)) await events.shift()!.run()
      const note = async () => {
        const said = await oracle(daemons)
        if (said !== undefined) known.push({ at: elapsed(), ...said })
        return said !== undefined
      }
      const answers = (await note()) ? await Promise.all(daemons.map(incidentsOf)) : []
      if (await note()) {
        compared += 1
        for (const incidents of answers) {
          const shown = (isOn: (group: IncidentView['group']) => boolean) =>
            incidents.find(({ group }) => isOn(group))?.targets ?? { firing: 0, pending: 0 }
          const calls = shown(({ alert }) => alert !== 'NoPoll')
          const at = elapsed()
          expectWithin(
            calls.firing,
            bounds(known, at, ({ firing }) => firing),
            at,
          )
          if (calls.firing > 0)
            expectWithin(
              calls.pending,
              bounds(known, at, ({ pending }) => pending),
              at,
            )
          expectWithin(
            shown(({ alert }) => alert === 'NoPoll').firing,
            bounds(known, at, ({ unpolled }) => unpolled),
            at,
          )
        }
      }
      await sleep(150)
    }
    expect(compared).toBeGreaterThan(20)
    expect(Math.max(...known.map(({ firing }) => firing.size))).toBe(TARGETS)
    const onSlack = () => slack.said.filter(({ isReply, text }) => !isReply && !text.includes('poll'))
    await vi.waitFor(() => expect(onSlack().at(-1)!.text).toMatch(/^✅/), 30_000)
    const shownBySlack = onSlack()
    expect(shownBySlack.length).toBeGreaterThan(5)
    for (const { at, text } of shownBySlack) {
      const count = text.startsWith('✅') ? 0 : Number(/(\d+) of 8 targets/.exec(text)?.[1] ?? 1)
      expectWithin(
        count,
        bounds(known, at + 1, ({ firing }) => firing),
        `${at}: ${text}`,
      )
    }
    expect(slack.said.some(({ silenced }) => silenced)).toBe(true)
  })
})
