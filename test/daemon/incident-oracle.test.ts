import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { configOf } from '../../src/config/config.ts'
import { incidents as incidentsAnswer, type IncidentView } from '../../src/views/incident.ts'
import { localServer } from '../commands/local-server.ts'
import { daemonInProcess, KEY, type DaemonInProcess } from './daemon-in-process.ts'

const TARGETS = 8
const names = Array.from({ length: TARGETS }, (_, n) => `app-${n}`)
/** When calls are open on each target (seconds): it grows, ends on some, comes back on one, and ends. */
const OPEN = names.map((_, n): [from: number, to: number][] => (n === 1 ? [[1, 12], [20, 30]] : [[n < 2 ? 1 : n + 1, n < 4 ? 18 : 30]])) // oxfmt-ignore
const OUTAGE = { of: 0, from: 5, to: 9 }
const OVER_AT = 42

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
  const said: { at: number; text: string; isReply: boolean }[] = []
  const { url } = await localServer((request, response) => {
    void json(request).then((body) => {
      const { text, thread_ts: thread, ts = `${said.length}.000001` } = slackRequest.parse(body)
      if (!request.url!.endsWith('history')) said.push({ at: elapsed(), text, isReply: thread !== undefined })
      response.end(JSON.stringify({ ok: true, ts, messages: [] }))
    })
  })
  return { url, said }
}

/** What an incident must say, by the metrics alone. */
async function oracle({ samples }: DaemonInProcess) {
  const alerts = (await samples()).filter(({ name, value }) => name === 'callwatch_alerts' && value > 0)
  const on = (state: string, named: (alert: string) => boolean) =>
    new Set(alerts.flatMap(({ labels }) => (labels['state'] === state && named(labels['alert']!) ? labels['target']! : []))) // oxfmt-ignore
  const of = (named: (alert: string) => boolean) => {
    const firing = on('firing', named)
    return { firing: firing.size, pending: on('pending', named).difference(firing).size }
  }
  return { calls: of((alert) => alert !== 'NoPoll'), polls: of((alert) => alert === 'NoPoll') }
}

test('at each moment of an incident API, Slack and metrics count the same', { timeout: 90_000 }, async () => {
  const begun = performance.now()
  const elapsed = () => (performance.now() - begun) / 1000
  const url = await service(elapsed)
  const slack = await slackApi(elapsed)
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
      { name: 'NoPoll', signal: 'poll_age', above: '2s', severity: 'critical' },
    ],
  })
  const targets = names.map((name) => ({ name, baseUrl: `${url}/${name}`, apiKey: KEY, query: {} }))
  const running = await daemonInProcess(url, {}, { targets, notify, alerts })
  const incidentsNow = async () => {
    const answer = await fetch(`${running.daemon.url}api/v1/incidents`)
    return incidentsAnswer.parse(await answer.json()).incidents
  }
  /** What metrics said, and until when. */
  const known: { at: number; firing: number }[] = []
  let compared = 0
  while (elapsed() < OVER_AT) {
    const before = await oracle(running)
    const incidents = await incidentsNow()
    const after = await oracle(running)
    known.push({ at: elapsed(), firing: after.calls.firing })
    if (JSON.stringify(before) === JSON.stringify(after)) {
      compared += 1
      const shown = (isOn: (group: IncidentView['group']) => boolean) => {
        const { firing, pending } = incidents.find(({ group }) => isOn(group))?.targets ?? { firing: 0, pending: 0 }
        return { firing, pending }
      }
      expect(shown(({ alert }) => alert === 'NoPoll').firing, `at ${elapsed()}`).toBe(after.polls.firing)
      if (after.calls.firing > 0)
        expect(
          shown(({ alert }) => alert !== 'NoPoll'),
          `at ${elapsed()}`,
        ).toEqual(after.calls)
    }
    await sleep(150)
  }
  expect(compared).toBeGreaterThan(50)
  expect(Math.max(...known.map(({ firing }) => firing))).toBe(TARGETS)
  const shownBySlack = slack.said.filter(({ isReply, text }) => !isReply && !text.includes('poll'))
  expect(shownBySlack.length).toBeGreaterThan(5)
  for (const { at, text } of shownBySlack) {
    const firing = known.filter((each) => each.at > at - 2.5 && each.at < at + 1).map((each) => each.firing)
    const count = text.startsWith('✅') ? 0 : Number(/(\d+) of 8 targets/.exec(text)?.[1] ?? 1)
    expect(firing, `${at}: ${text}`).toContain(count)
  }
  expect(shownBySlack.at(-1)!.text).toMatch(/^✅/)
})
