import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { random } from '../../../src/simulator/random.ts'
import { freePort } from '../../kit/postgres/start-postgres.ts'
import { startWorld } from '../../kit/world/start-world.ts'
import { eventually } from '../../kit/eventually.ts'
import { hintsIn, parseExposition } from '../../kit/replay/exposition.ts'
import { chaosConfig, liftLimit, MAX_REQUESTS_PER_MINUTE } from './chaos-config.ts'
import { startDaemon, stopDaemon, type ChaosRun } from './chaos-run.ts'
import { chaosSwitches } from './chaos-switches.ts'
import { alertHistoryRow } from './compare-alerts.ts'
import { compareExact } from './compare-exact.ts'
import { compareMessages } from './compare-messages.ts'
import { running } from '../../kit/daemon-process.ts'
import { failingSlack, readWebhookMessage, shuffled } from './failing-slack.ts'
import { failingOthers, othersRow } from './failing-others.ts'
import { failingWebhook, webhookSection } from './failing-webhook.ts'
import { disruptions } from './disruptions.ts'
import { beforeRetryAfter, mostInAMinute, now, observeRequests } from '../../kit/observed-requests.ts'
import { promiseRows, reportRow, type ChaosReport } from './promise-rows.ts'
import { isAllCovered, coverageRows } from './coverage-rows.ts'
import { deliveriesRow, resumeWebhook } from './compare-deliveries.ts'
import { eventsRow } from './compare-events.ts'
import { startEventReader } from './event-reader.ts'
import { reportProblems } from '../../kit/store/report-problems.ts'
import { rollupProblems } from '../../kit/store/rollup-problems.ts'
import { readStore } from './read-store.ts'
import { startScraper, textAt } from '../../kit/scraper.ts'
import { settle } from './settle.ts'
import { openReader, openForCommand } from '../../../src/store/open-store.ts'

export type ChaosOptions = {
  /** How long disruptions last, at least until each has occurred once; healing and comparing come on top. */
  seconds: number
  seed: number
  /** Gets each step. */
  log: (line: string) => void
}

const API_KEY = 'chaos-key-6f1d0c9be27a4e53'
const HOOKS_PASSWORD = 'chaos-hooks-2b7e49d10c8f'
const SWITCH_EVERY_MS = 2500
const HISTORY = 100
/** What lies between two disruptions: requests, and seconds at most. */
const REQUESTS_BETWEEN = 10
const LONGEST_BETWEEN = 4
/** A run in which something has not occurred continues for so many seconds at most. */
const EXTRA_TIME = 60

/** One run: the service and the receiver in this process, the daemon in its own, until it is settled and compared. */
export async function runChaos({ seconds, seed, log }: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-chaos-'))
  const files = {
    config: join(folder, 'callwatch.yaml'),
    store: join(folder, 'callwatch.db'),
    order: join(folder, 'order'),
  }
  const hooks = new URL(`http://vendor:${HOOKS_PASSWORD}@127.0.0.1:${await freePort()}/hooks/chaos`)
  const simulator = await startWorld({
    seed,
    speed: 400,
    callsPerMinute: 240,
    history: HISTORY,
    apiKey: API_KEY,
    mostRecordedResponses: 10,
  })
  simulator.sendWebhooks(hooks)
  const slack = await failingSlack(random(seed, 'slack'), () => run.life)
  const onCall = await failingSlack(random(seed, 'on-call'), () => run.life, {
    name: 'on-call',
    read: readWebhookMessage,
  })
  const others = await failingOthers(random(seed, 'others'))
  const webhook = await failingWebhook(random(seed, 'webhook'))
  const requests = observeRequests(simulator.port, () => simulator.switches().dateOffset)
  const run: ChaosRun = {
    draw: random(seed, 'chaos'),
    simulator,
    requests,
    slack,
    onCall,
    others,
    webhook,
    files,
    daemon: undefined,
    life: 0,
    deaths: [],
    outputs: [],
    reached: new Map(),
    stops: [],
    secondStops: [],
    storeProblems: [],
    isSteady: false,
  }
  writeFileSync(
    files.config,
    chaosConfig({
      service: simulator.url,
      apiKey: API_KEY,
      slack: slack.url,
      onCall: onCall.url,
      others: others.section,
      hooks,
      store: files.store,
    }) + webhookSection(webhook),
  )
  const scraper = startScraper(() => run.daemon?.url)
  const reader = startEventReader(() => run.daemon?.url)
  const switching = setInterval(drawSwitchesAgain, SWITCH_EVERY_MS)
  let drawn = 0
  let mayStep = false
  function drawSwitchesAgain(): void {
    if (run.isSteady) return
    const known = { reached: simulator.reached(), mayStep }
    simulator.setSwitches(chaosSwitches(`${seed} ${drawn++}`, run.draw, known))
  }

  try {
    drawSwitchesAgain()
    const end = now() + seconds
    await startDaemon(run)
    const continues = () => now() < end || (now() < end + EXTRA_TIME && !isAllCovered(run))
    for (let round = 0; round === 0 || continues(); round++) {
      for (const name of shuffled(Object.keys(disruptions), run.draw)) {
        if (round > 0 && !continues()) break
        log(`${Math.ceil(end - now())} s left: ${name}`)
        await disruptions[name]!(run, run.daemon!)
        if (webhook.isGone()) await resumeWebhook(files.config)
        await runUndisturbed(requests.requests)
        // A step of the clock is possible from the first answer on, when the daemon can see it.
        mayStep ||= requests.requests.some(({ answered }) => answered !== undefined) && (await isSetUp(run))
      }
    }
    clearInterval(switching)
    log('healing')
    const daemon = run.daemon!
    // Before it is asked: resumed, it could be gone again at once.
    webhook.heal()
    if (webhook.isGone()) await resumeWebhook(files.config)
    // A list that was once unordered is read to its end for a day, and has a page for each forty calls of a run that took long.
    const limited = requests.requests.length
    liftLimit(files.config, daemon)
    const undone = await settle(run, daemon)
    const created = await setUpAt(daemon.url)
    await scraper.stop()
    const exported = parseExposition(await textAt(`${daemon.url}metrics`))
    await stopDaemon(run, daemon)
    const store = readStore(files.store)
    const left = await openForCommand({ path: files.store })
    const events = await eventsRow(reader, left, new Map([['chaos', store.counters]]))
    const deliveries = await deliveriesRow(webhook, left)
    const history = await openReader({ path: files.store })
    const reported = [...(await reportProblems(history, 'chaos')), ...(await rollupProblems(history, ['chaos']))]
    const alerts = await alertHistoryRow(history, left)
    await left.close()
    await history.close()
    const texts = [...run.outputs.map((output) => output()), ...scraper.served, store.bytes]
    const figures = {
      exact: compareExact(simulator, exported, { calls: store.calls, created }),
      messages: {
        slack: compareMessages(slack.attempts, alerts.episodes, 'slack'),
        'on-call': compareMessages(onCall.attempts, alerts.episodes, 'on-call'),
      },
      lower: scraper.lower,
      scrapes: scraper.scrapes,
      mostRequests: mostInAMinute(requests.requests.slice(0, limited)),
      early: beforeRetryAfter(requests.requests, run.deaths),
      secrets: texts.filter((text) =>
        [API_KEY, HOOKS_PASSWORD, slack.secret, onCall.secret, webhook.secret].some((secret) => text.includes(secret)),
      ).length,
      characters: texts.reduce((sum, text) => sum + text.length, 0),
      undone,
    }
    return {
      seconds,
      seed,
      lives: run.life,
      requests: requests.requests.length,
      promises: [
        ...promiseRows(run, figures, MAX_REQUESTS_PER_MINUTE),
        events,
        deliveries,
        alerts.row,
        othersRow(others, alerts.episodes),
        reportRow(reported),
      ],
      coverage: coverageRows(run, figures.mostRequests / MAX_REQUESTS_PER_MINUTE, hintsIn(exported)),
    }
  } finally {
    clearInterval(switching)
    for (const child of running) child.kill('SIGKILL')
    await scraper.stop()
    reader.stop()
    requests.stop()
    slack.close()
    onCall.close()
    others.close()
    webhook.close()
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lets the daemon run a little between two disruptions, but not to the end of a long rate limit pause. */
async function runUndisturbed(requests: readonly unknown[]): Promise<void> {
  const enough = requests.length + REQUESTS_BETWEEN
  await eventually(async () => (requests.length >= enough ? true : undefined), LONGEST_BETWEEN).catch(() => undefined)
}

/** Whether the daemon has compared the two clocks, by which the moment of the set-up is decided for good. */
async function isSetUp({ daemon }: ChaosRun): Promise<boolean> {
  const series = parseExposition(await textAt(`${daemon!.url}metrics`))
  return [...series].some(([name, value]) => name.startsWith('callwatch_calls_started_total') && value > 0)
}

async function setUpAt(url: string): Promise<number> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
  const { targets } = JSON.parse(await textAt(`${url}api/v1/state`)) as { targets: { created: string }[] }
  return Date.parse(targets[0]!.created) / 1000
}
