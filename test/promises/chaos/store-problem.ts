import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Series } from '../../../src/simulator/expected/expected-series.ts'
import { eventually } from '../../kit/eventually.ts'
import { parseExposition } from '../../kit/replay/exposition.ts'
import { count, type ChaosRun, type StoreProblem } from './chaos-run.ts'
import { running, type DaemonProcess } from '../../kit/daemon-process.ts'
import { now } from '../../kit/observed-requests.ts'
import { countersOf, textAt } from '../../kit/scraper.ts'

/** The disk is full: the store may grow no more, while calls come until its last page is full as well. */
export async function storeFull(run: ChaosRun, daemon: DaemonProcess): Promise<void> {
  writeFileSync(run.files.order, 'full')
  const burst = () => run.simulator.burst({ calls: 80, seconds: 2 })
  burst()
  const further = setInterval(burst, 4000)
  await observeProblem(run, daemon, 'full', async () => {
    clearInterval(further)
    writeFileSync(run.files.order, '')
  })
}

/** Another process holds the store's write lock. */
export async function storeLocked(run: ChaosRun, daemon: DaemonProcess): Promise<void> {
  const locker = spawn(process.execPath, [join(import.meta.dirname, 'lock-store.ts'), run.files.store], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.add(locker)
  const exited = once(locker, 'exit').then(() => running.delete(locker))
  await Promise.race([once(locker.stdout, 'data'), exited.then(() => Promise.reject(new Error('it was not locked')))])
  await observeProblem(run, daemon, 'locked', async () => {
    locker.stdin.end()
    await exited
  })
}

/** Seconds that a problem lasts after it was shown, until it is shown, and until it must have ended once lifted. */
const LASTS = 1.5
const SEEN_WITHIN = 15
const ENDED_WITHIN = 30
/** A receiver that hangs twice in a row and fails in other ways in between is notified within that time. */
const NOTIFIED_WITHIN = 90
const ATTEMPTS = 10
const COMMITS = 'callwatch_store_commit_duration_seconds_count'

/** Watches the daemon through the problem; the service does nothing wrong meanwhile, so that only the store is told of. */
async function observeProblem(
  run: ChaosRun,
  { url }: DaemonProcess,
  kind: StoreProblem['kind'],
  lift: () => Promise<void>,
): Promise<void> {
  run.isSteady = true
  run.simulator.setSwitches({ fault: {} })
  const scrape = async () => parseExposition(await textAt(`${url}metrics`))
  const problem: StoreProblem = {
    kind,
    shown: false,
    unready: false,
    requests: 0,
    counted: 0,
    notified: false,
    recovered: undefined,
  }
  const messages = () => run.slack.accepted.filter((message) => message.kind === 'store').length
  const messagesBefore = messages()
  run.storeProblems.push(problem)
  const seen = await eventually(async () => {
    const series = await scrape()
    return series.get('callwatch_store_writable') === 0 ? series : undefined
  }, SEEN_WITHIN).catch(() => undefined)
  if (seen !== undefined) {
    problem.shown = true
    const requestsBefore = run.requests.requests.length
    const saysSo = async () => ((await textAt(`${url}readyz`)).includes('the store') ? true : undefined)
    problem.unready = await eventually(saysSo, SEEN_WITHIN).catch(() => false)
    problem.counted = await movedMeanwhile(scrape)
    problem.requests = run.requests.requests.length - requestsBefore
  }
  await lift()
  const lifted = now()
  run.isSteady = false
  const hasEnded = async () => {
    const isWritable = (await scrape()).get('callwatch_store_writable') === 1
    return isWritable && !(await textAt(`${url}readyz`)).includes('the store') ? now() - lifted : undefined
  }
  problem.recovered = await eventually(hasEnded, ENDED_WITHIN).catch(() => undefined)
  // The receiver itself fails now and then; if the problem has ended by then it gets the end.
  const isNotified = async () => (messages() > messagesBefore ? true : undefined)
  problem.notified = await eventually(isNotified, NOTIFIED_WITHIN).catch(() => false)
  count(run, `store.${kind}`)
}

/** How many counters move while no commit succeeds. A full store has room for a small one still, which may move them. */
async function movedMeanwhile(scrape: () => Promise<Series>): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const before = await scrape()
    await wait(LASTS * 1000)
    const after = await scrape()
    if (before.get(COMMITS) === after.get(COMMITS)) return moved(countersOf(before), countersOf(after))
    // It commits all the time: then nothing is known of what moves while it does not.
    if (attempt === ATTEMPTS) return 0
  }
}

function moved(before: Series, after: Series): number {
  return [...after].filter(([series, value]) => value !== before.get(series)).length
}
