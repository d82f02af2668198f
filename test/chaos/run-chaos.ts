import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { random } from '../../src/simulator/random.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { eventually } from '../system/eventually.ts'
import { parseExposition } from '../system/replay/exposition.ts'
import { chaosConfig, MAX_REQUESTS_PER_MINUTE } from './chaos-config.ts'
import { startDaemon, stopDaemon, type ChaosRun } from './chaos-run.ts'
import { chaosSwitches } from './chaos-switches.ts'
import { compareExact } from './compare-exact.ts'
import { compareMessages } from './compare-messages.ts'
import { running } from './daemon-process.ts'
import { failingSlack, shuffled } from './failing-slack.ts'
import { mishaps } from './mishaps.ts'
import { beforeRetryAfter, mostInAMinute, now, observeRequests } from './observed-requests.ts'
import { promiseRows, type ChaosReport } from './promise-rows.ts'
import { isAllReached, reachedRows } from './reached-rows.ts'
import { readStore } from './read-store.ts'
import { startScraper, textAt } from './scraper.ts'
import { settle } from './settle.ts'

export type ChaosOptions = {
  /** How long everything goes wrong, at least until all of it has come about; healing and comparing come on top. */
  seconds: number
  seed: number
  /** Told what happens, as it happens. */
  tell: (line: string) => void
}

const API_KEY = 'chaos-key-6f1d0c9be27a4e53'
const SWITCH_EVERY_MS = 2500
const HISTORY = 100
/** What lies between two mishaps: requests, and seconds at most. */
const REQUESTS_BETWEEN = 10
const LONGEST_BETWEEN = 4
/** A run that has not reached everything goes on for so many seconds at most. */
const EXTRA_TIME = 60

/** One run: the service and the channel in this process, the daemon in its own, until it is settled and compared. */
export async function runChaos({ seconds, seed, tell }: ChaosOptions): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-chaos-'))
  const files = {
    config: join(folder, 'callwatch.yaml'),
    store: join(folder, 'callwatch.db'),
    order: join(folder, 'order'),
  }
  const simulator = await startSimulator({
    seed,
    speed: 400,
    callsPerMinute: 240,
    history: HISTORY,
    apiKey: API_KEY,
    mostRecordedResponses: 10,
  })
  const slack = await failingSlack(random(seed, 'slack'), () => run.life)
  const requests = observeRequests(simulator.port, () => simulator.switches().dateOffset)
  const run: ChaosRun = {
    draw: random(seed, 'chaos'),
    simulator,
    requests,
    slack,
    files,
    daemon: undefined,
    life: 0,
    deaths: [],
    outputs: [],
    reached: new Map(),
    stops: [],
    secondStops: [],
    storeTroubles: [],
    isSteady: false,
  }
  writeFileSync(
    files.config,
    chaosConfig({ service: simulator.url, apiKey: API_KEY, slack: slack.url, store: files.store }),
  )
  const scraper = startScraper(() => run.daemon?.url)
  const switching = setInterval(drawAnew, SWITCH_EVERY_MS)
  let drawn = 0
  let mayStep = false
  function drawAnew(): void {
    if (run.isSteady) return
    const known = { reached: simulator.reached(), mayStep }
    simulator.setSwitches(chaosSwitches(`${seed} ${drawn++}`, run.draw, known))
  }

  try {
    drawAnew()
    const end = now() + seconds
    await startDaemon(run)
    const goesOn = () => now() < end || (now() < end + EXTRA_TIME && !isAllReached(run))
    while (goesOn()) {
      for (const name of shuffled(Object.keys(mishaps), run.draw)) {
        if (!goesOn()) break
        tell(`${Math.ceil(end - now())} s left: ${name}`)
        await mishaps[name]!(run, run.daemon!)
        await goOnUndisturbed(requests.requests)
        // A mishap like any other, and from the first answer on a step is one that the daemon can see.
        mayStep ||= requests.requests.some(({ answered }) => answered !== undefined) && (await isSetUp(run))
      }
    }
    clearInterval(switching)
    tell('healing')
    const daemon = run.daemon!
    const undone = await settle(run, daemon)
    const created = await setUpAt(daemon.url)
    await scraper.stop()
    const exported = parseExposition(await textAt(`${daemon.url}metrics`))
    await stopDaemon(run, daemon)
    const store = readStore(files.store)
    const told = [...run.outputs.map((output) => output()), ...scraper.served, store.bytes]
    const figures = {
      exact: compareExact(simulator, exported, { calls: store.calls, created }),
      messages: compareMessages(slack.attempts, store),
      lower: scraper.lower,
      scrapes: scraper.scrapes,
      mostRequests: mostInAMinute(requests.requests),
      early: beforeRetryAfter(requests.requests, run.deaths),
      secrets: told.filter((text) => [API_KEY, slack.secret].some((secret) => text.includes(secret))).length,
      characters: told.reduce((sum, text) => sum + text.length, 0),
      undone,
    }
    return {
      seconds,
      seed,
      lives: run.life,
      requests: requests.requests.length,
      promises: promiseRows(run, figures, MAX_REQUESTS_PER_MINUTE),
      reached: reachedRows(run, figures.mostRequests / MAX_REQUESTS_PER_MINUTE),
    }
  } finally {
    clearInterval(switching)
    for (const child of running) child.kill('SIGKILL')
    await scraper.stop()
    requests.stop()
    slack.close()
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Lets the daemon live a little between two mishaps; one that is held back or waits longer is disturbed while it does.
 */
async function goOnUndisturbed(requests: readonly unknown[]): Promise<void> {
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
  const { targets } = JSON.parse(await textAt(`${url}api/v1/status`)) as { targets: { created: string }[] }
  return Date.parse(targets[0]!.created) / 1000
}
