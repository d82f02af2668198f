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
/** A poll may be partial because the service's clock is not known yet. */
const MOST_POLLS = 6

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
    let report: PollReport | undefined
    for (let polls = 0; polls < MOST_POLLS && (report === undefined || report.outcome === 'partial'); polls++)
      for await (const event of runPoll(
        { target: loaded, client, random: Math.random, mask },
        new AbortController().signal,
      ))
        if (event.kind === 'polled') ({ report } = event)
    progress.unsubscribe()
    if (report?.successful === true) read.push(name)
    else warn(`${name}: ${report?.problem ?? 'the list was not read'}`)
  }
  return { store, read }
}
