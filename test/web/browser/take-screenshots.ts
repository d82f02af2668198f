/**
 * Makes docs/images/page-light.png and page-dark.png: `node test/web/browser/take-screenshots.ts [FOLDER]`. It polls two
 * simulators with an hour of history, one of which has a burst of failing calls. This takes half a minute.
 */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { ReplaySubject } from 'rxjs'
import { systemClock } from '../../../src/clock/clock.ts'
import { startDaemon } from '../../../src/daemon/daemon.ts'
import type { Config } from '../../../src/config/config.ts'
import { startSimulator, type Simulator } from '../../../src/simulator/simulator.ts'
import { RATIO } from '../../alerts/sample-rules.ts'
import { webhookOf } from '../../events/webhooks/any-webhook.ts'
import { launchChromium } from './chromium-executable.ts'
import { pageConfig } from './page-config.ts'

const FOLDER = process.argv[2] ?? join(import.meta.dirname, '../../../docs/images')
const AUTH = { username: 'ops', password: 'screenshots' }

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
const stop$ = new ReplaySubject<void>(1)
const daemon = await startDaemon({
  config: configOf(production, staging),
  clock: systemClock,
  random: Math.random,
  log: pino({ level: 'silent' }),
  stop$,
})
const ended = new Promise((resolve, reject) => {
  daemon.events$.subscribe({ error: reject, complete: () => resolve(undefined) })
})
const authorization = `Basic ${btoa(`${AUTH.username}:${AUTH.password}`)}`
await fetch(`${daemon.url}api/v1/silences`, {
  method: 'POST',
  headers: { authorization, 'content-type': 'application/json' },
  body: JSON.stringify({ match: { target: 'staging' }, for: '2h', reason: 'load test' }),
})
await wait(4000)
production.burst({ calls: 90, seconds: 12 })
await wait(20_000)

mkdirSync(FOLDER, { recursive: true })
const browser = await launchChromium()
for (const colorScheme of ['light', 'dark'] as const) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1440, height: 900 }, httpCredentials: AUTH })
  await page.goto(daemon.url)
  await page.locator('#finished-calls tbody tr').first().waitFor()
  await wait(1500)
  await page.screenshot({ path: join(FOLDER, `page-${colorScheme}.png`), fullPage: true })
}
await browser.close()
stop$.next()
await ended
await Promise.all([production.close(), staging.close()])
receiver.close()

function configOf(...simulators: Simulator[]): Config {
  const [first, ...others] = simulators.map(({ url, keys }, i) =>
    pageConfig(i === 0 ? 'production' : 'staging', url, keys.fullAccess),
  )
  const base = first!
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of an internet socket
  const { port } = receiver.address() as AddressInfo
  return {
    ...base,
    targets: [base, ...others].flatMap(({ targets }) => targets),
    poll: { ...base.poll, interval: 1, maxRequestsPerMinute: 400 },
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
