import { pino } from 'pino'
import { interval, NEVER } from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets.ts'
import { readServiceNow } from '../history/coverage.ts'
import { pastOf } from '../history/past.ts'
import { expectTargets } from '../history/usage.ts'
import { maskSecrets } from '../log/mask-secrets.ts'
import { pastMessage } from '../notifications/past-report.ts'
import { connect } from '../pipeline/connection.ts'
import { runPoll } from '../pipeline/pipeline.ts'
import { requestLimits } from '../pipeline/request-limits.ts'
import { openTarget, type TargetSettings } from '../pipeline/target.ts'
import type { PollReport } from '../polling/poll-report.ts'
import { openSqliteStore } from '../store/open-sqlite.ts'
import { formatSync } from '../text/format.ts'

const DAY = 86_400
const PROGRESS_MS = 5000
/** A poll may be partial because the service's clock is not known yet. */
const MOST_POLLS = 6

type LiveOptions = { targets: readonly string[] | undefined; zone: string; warn: (line: string) => void }

/**
 * Counts what the lists of targets show of the last day, in memory.
 *
 * @throws {QueryError} for an unknown target
 * @returns what happened, and how many targets could not be read, of each of which `warn` gets the problem
 */
export async function liveReport(config: Config, { targets, zone, warn }: LiveOptions) {
  const store = openSqliteStore({ path: ':memory:' })
  await expectTargets(store, targets ?? [], config.targets.map(({ name }) => name)) // oxfmt-ignore
  const given = { store, clock: systemClock }
  const limits = requestLimits({ ...given, members: () => [], draining$: NEVER })
  const mask = maskSecrets(secretsOf(config))
  const read: string[] = []
  const wanted = config.targets.filter(({ name }) => targets?.includes(name) !== false)
  for (const target of wanted) {
    const { name } = target
    const settings: TargetSettings = { target, poll: { ...config.poll, baseline: 'count', lookback: DAY }, rules: [] }
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
  const to = await readServiceNow(store, read, systemClock.wall())
  const past = await pastOf(store, read, { from: to - DAY, to })
  await store.close()
  return { message: pastMessage(past, { timezone: zone, rules: config.alerts }), failed: wanted.length - read.length }
}
