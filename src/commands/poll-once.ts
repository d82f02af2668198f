import { pino } from 'pino'
import { interval, NEVER } from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets.ts'
import { maskSecrets } from '../log/mask-secrets.ts'
import { connect } from '../pipeline/connection.ts'
import { runPoll } from '../pipeline/pipeline.ts'
import { requestLimits } from '../pipeline/request-limits.ts'
import { openTarget, type TargetSettings } from '../pipeline/target.ts'
import type { PollReport } from '../polling/poll-report.ts'
import { openSqliteStore } from '../store/open-sqlite.ts'
import { formatSync } from '../text/format.ts'

const PROGRESS_MS = 5000
/** In how many polls in a row no further page may be read: the service's clock may not be known yet. */
const MOST_IDLE_POLLS = 6

/**
 * Polls each target once into a store in memory.
 *
 * @param config only its targets are polled
 * @param lookback how far back calls are counted (seconds)
 * @param warn gets the progress, and the problem of each target that could not be read
 * @returns the store, and the names of the targets that were read
 */
export async function pollOnce(config: Config, lookback: number, warn: (line: string) => void) {
  const store = openSqliteStore({ path: ':memory:' })
  const given = { store, clock: systemClock }
  const limits = requestLimits({ ...given, members: () => [], draining$: NEVER })
  const mask = maskSecrets(secretsOf(config))
  const read: string[] = []
  for (const target of config.targets) {
    const { name } = target
    const settings: TargetSettings = { target, poll: { ...config.poll, baseline: 'count', lookback }, rules: [] }
    const loaded = await openTarget({ ...given, settings })
    loaded.rateLimiter = await limits.rateLimiterOf(settings)
    const progress = interval(PROGRESS_MS).subscribe(() => {
      const sync = loaded.progress()
      if (sync !== undefined) warn(`${name}: ${formatSync(sync)}`)
    })
    const options = { ownership: { owns: () => true }, clock: systemClock, log: pino({ level: 'silent' }) }
    const client = connect(settings, () => loaded, options)
    const poll = async () => {
      let report: PollReport | undefined
      const running = { target: loaded, client, random: Math.random, mask }
      for await (const event of runPoll(running, new AbortController().signal))
        if (event.kind === 'polled') ({ report } = event)
      return { report, pagesRead: loaded.progress()?.pagesRead ?? 0 }
    }
    const problem = await pollToEnd(poll)
    progress.unsubscribe()
    if (problem === undefined) read.push(name)
    else warn(`${name}: ${problem}`)
  }
  return { store, read }
}

type Polled = {
  report: Pick<PollReport, 'outcome' | 'successful' | 'problem' | 'fault'> | undefined
  /** Of the list, by all polls so far. */
  pagesRead: number
}

/**
 * Polls until one is not partial, as long as polls read further pages.
 *
 * @returns what failed
 */
export async function pollToEnd(poll: () => Promise<Polled>): Promise<string | undefined> {
  let furthest = 0
  for (let idle = 0; ;) {
    const { report, pagesRead } = await poll()
    if (report?.successful === true) return undefined
    idle = pagesRead > furthest ? 0 : idle + 1
    furthest = Math.max(furthest, pagesRead)
    if (report?.outcome === 'partial' && idle < MOST_IDLE_POLLS) continue
    const problem = report?.fault === 'list' ? undefined : report?.problem
    return problem ?? `the list was not read: ${MOST_IDLE_POLLS} polls read no page after ${furthest} pages`
  }
}
