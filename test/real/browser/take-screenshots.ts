/**
 * Makes the images of docs/images: `node test/real/browser/take-screenshots.ts [FOLDER]`. It polls two simulators with an
 * hour of history, one of which has a burst of failing calls, then one with two weeks of history, then thirty, of which
 * two have such a burst and one does not answer. This takes two minutes. Into another FOLDER it writes each view light,
 * dark and on a phone, to look at, and each state of the overview and of an alert, which tests draw.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { ReplaySubject } from 'rxjs'
import { systemClock } from '../../../src/clock/clock.ts'
import { startDaemon } from '../../../src/daemon/daemon.ts'
import type { Config } from '../../../src/config/config.ts'
import { startSimulator, type Simulator } from '../../../src/simulator/simulator.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { webhookOf } from '../../kit/events/webhooks/any-webhook.ts'
import { launchChromium } from './chromium-executable.ts'
import { pageConfig } from './page-config.ts'

const FOLDER = process.argv[2] ?? join(import.meta.dirname, '../../../docs/images')
const AUTH = { username: 'ops', password: 'screenshots' }

const LOOKS = [
  ['', { viewport: { width: 1440, height: 900 } }],
  ['-dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }],
  ['-phone', { viewport: { width: 390, height: 844 } }],
] as const

/** Views of which docs/images has no image. */
const NOT_IN_DOCS = ['silences', 'alerts', 'runbook']

/** The images of docs/images that are not light and wide. */
const IN_DOCS = ['charts-dark', 'usage-dark', 'explorer-phone', 'overview-phone']
const looksOf = (name: string) =>
  LOOKS.filter(([suffix]) => process.argv[2] !== undefined || suffix === '' || IN_DOCS.includes(`${name}${suffix}`))

const production = await startSimulator({
  seed: 3,
  speed: 4,
  callsPerMinute: 50,
  history: 3000,
  historySeconds: 3560,
  open: 14,
})
const staging = await startSimulator({
  seed: 5,
  speed: 4,
  callsPerMinute: 6,
  history: 300,
  historySeconds: 3560,
  open: 2,
})
const receiver = createServer((_, response) => void response.writeHead(204).end()).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const browser = await launchChromium()
mkdirSync(FOLDER, { recursive: true })

await show({ production, staging }, async (url) => {
  const headers = {
    authorization: `Basic ${btoa(`${AUTH.username}:${AUTH.password}`)}`,
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ match: { target: 'staging' }, for: '2h', reason: 'load test' })
  await fetch(`${url}api/v1/silences`, { method: 'POST', headers, body })
  await wait(4000)
  production.burst({ calls: 90, seconds: 12 })
  await wait(20_000)
  await take(url, 'page-light')
  await take(url, 'page-dark', { colorScheme: 'dark' })
  await takeViews(url, {
    explorer: ['?target=production&type=audio&mode=call#calls', '#explorer tbody tr'],
    call: [`?target=production&call_id=${await idOfCall(url)}#call`, '#call-seen'],
    alert: ['?target=production&alert=HighFailureRate#alert', '#alert-calls tbody tr'],
    silences: ['?alert=HighFailureRate#silences', '#active-silences tbody tr'],
    alerts: ['#alerts', '#alerts tbody tr'],
    runbook: ['runbooks/HighFailureRate', 'h1'],
  })
})

const weeks = await startSimulator({
  seed: 11,
  weekly: true,
  callsPerMinute: 4,
  history: 15 * 24 * 60 * 4,
  historySeconds: 15 * 86_400,
})
await show(
  { production: weeks },
  async (url) => {
    await wait(15_000)
    weeks.burst({ calls: 90, seconds: 12 })
    await wait(20_000)
    await takeViews(url, {
      charts: ['?since=7d#charts', '#chart-answer-delay canvas'],
      usage: ['?since=7d&by=type,mode#usage', '#usage-days canvas'],
    })
  },
  { lookback: 15 * 86_400, maxRequestsPerMinute: 10_000 },
)

const regions: Record<string, Simulator> = {}
for (let i = 0; i < 30; i++) {
  const size = { callsPerMinute: 3 + (i % 7), history: 150 + (i % 7) * 50, historySeconds: 3560, open: i % 9 }
  regions[`region-${String(i).padStart(2, '0')}`] = await startSimulator({ seed: 100 + i, speed: 4, ...size })
}
await show(regions, async (url) => {
  await wait(10_000)
  regions['region-11']?.burst({ calls: 90, seconds: 12 })
  regions['region-17']?.burst({ calls: 40, seconds: 12 })
  regions['region-05']?.setSwitches({ fault: { hang: 1 } })
  await wait(20_000)
  for (const [suffix, look] of looksOf('overview')) await take(url, `overview${suffix}`, look)
})
if (process.argv[2] !== undefined) await takeStates()
await browser.close()
receiver.close()

/** Shows the page of a daemon that polls simulators, by the names of the targets, and closes them. */
async function show(
  simulators: Readonly<Record<string, Simulator>>,
  act: (url: string) => Promise<void>,
  poll: Partial<Config['poll']> = {},
): Promise<void> {
  const draining$ = new ReplaySubject<void>(1)
  const config = configOf(simulators, poll)
  const log = pino({ level: 'silent' })
  const daemon = await startDaemon({ config, clock: systemClock, random: Math.random, log, draining$ })
  const ended = new Promise((resolve, reject) => {
    daemon.events$.subscribe({ error: reject, complete: () => resolve(undefined) })
  })
  while (!(await fetch(`${daemon.url}readyz`)).ok) await wait(500)
  await act(daemon.url)
  draining$.next()
  await ended
  await Promise.all(Object.values(simulators).map((simulator) => simulator.close()))
}

/** Views that are not the overview, by their addresses and what they wait for; in all looks where they go into another folder. */
async function takeViews(url: string, views: Readonly<Record<string, readonly [address: string, part: string]>>) {
  for (const [name, [address, part]] of Object.entries(views)) {
    if (process.argv[2] === undefined && NOT_IN_DOCS.includes(name)) continue
    for (const [suffix, look] of looksOf(name)) {
      const page = await browser.newPage({ ...look, httpCredentials: AUTH, timezoneId: 'Europe/Berlin' })
      await page.goto(url + address)
      await page.locator(part).first().waitFor()
      await wait(500)
      const path = join(FOLDER, `${name}${suffix}.png`)
      await page.screenshot({ path, fullPage: name !== 'explorer' })
    }
  }
}

/** Calm, incidents, a first start, outages, and alerts that fire, are silenced and past. */
async function takeStates(): Promise<void> {
  const vitest = join(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs')
  const tests = ['page-states', 'page-alert'].map((name) => `test/real/browser/${name}.test.ts`)
  const env = { ...process.env, SCREENSHOTS: resolve(FOLDER) }
  await once(
    spawn(process.execPath, [vitest, 'run', '--project', 'slow', ...tests], { env, stdio: 'inherit' }),
    'close',
  )
}

/** Of the call that ended last. */
async function idOfCall(url: string): Promise<string> {
  const authorization = `Basic ${btoa(`${AUTH.username}:${AUTH.password}`)}`
  const path = 'api/v1/calls?since=1h&target=production&status=ended&limit=10'
  const { calls } = JSON.parse(await (await fetch(url + path, { headers: { authorization } })).text())
  return calls[0].call_id
}

async function take(url: string, name: string, look: Parameters<typeof browser.newPage>[0] = {}): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...look, httpCredentials: AUTH })
  await page.goto(url)
  await page.locator('#feed').waitFor()
  await wait(1500)
  // On a phone thirty targets are many screens.
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: !name.endsWith('-phone') })
}

function configOf(simulators: Readonly<Record<string, Simulator>>, poll: Partial<Config['poll']>): Config {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of an internet socket
  const { port } = receiver.address() as AddressInfo
  const receivers = { webhook: { url: `http://127.0.0.1:${port}/alerts` } }
  const [first, ...others] = Object.entries(simulators).map(([name, { url, keys }]) =>
    pageConfig(name, url, keys.fullAccess, receivers),
  )
  const base = first!
  return {
    ...base,
    targets: [base, ...others].flatMap(({ targets }) => targets),
    poll: { ...base.poll, interval: 1, maxRequestsPerMinute: 400, ...poll },
    store: { ...base.store, history: Math.max(base.store.history, poll.lookback ?? 0) },
    http: { ...base.http, auth: AUTH },
    events: {
      ...base.events,
      webhooks: ['crm', 'tickets'].map((name) => webhookOf({ name, url: `http://127.0.0.1:${port}/${name}` })),
    },
    alerts: [
      {
        ...RATIO,
        clear: 0.25,
        threshold: 0.3,
        match: { mode: 'call' },
        for: 0,
        runbookUrl: 'https://example.com/runbooks/failures',
      },
      {
        ...RATIO,
        name: 'VeryHighFailureRate',
        severity: 'critical',
        clear: 0.4,
        threshold: 0.5,
        match: { mode: 'call' },
        for: 0,
      },
    ],
  }
}
