import { pino } from 'pino'
import { timer } from 'rxjs'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets.ts'
import { serviceNow } from '../history/coverage.ts'
import { pastOf } from '../history/past.ts'
import { expectTargets } from '../history/usage.ts'
import { maskSecrets } from '../log/mask-secrets.ts'
import { pastMessage } from '../notifications/past-report.ts'
import type { PastMessage } from '../notifications/message.ts'
import { connect } from '../pipeline/connection.ts'
import { runPoll } from '../pipeline/pipeline.ts'
import { openTarget, rateLimitKey, type TargetSettings } from '../pipeline/target.ts'
import type { PollReport } from '../polling/poll-report.ts'
import { newRateLimiter, type RateLimiter } from '../polling/rate-limiter.ts'
import { openSqliteStore } from '../store/open-sqlite.ts'
import type { Store } from '../store/store.ts'
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
  const mask = maskSecrets(secretsOf(config))
  const limiters = new Map<string, RateLimiter>()
  const read: string[] = []
  const wanted = config.targets.filter(({ name }) => targets?.includes(name) !== false)
  for (const target of wanted) {
    const settings = { target, poll: { ...config.poll, baseline: 'count' as const, lookback: DAY }, rules: [] }
    const problem = await readTarget(settings, { store, limiters, mask, warn })
    if (problem === undefined) read.push(target.name)
    else warn(`${target.name}: ${problem}`)
  }
  const to = await serviceNow(store, read, systemClock.wall())
  const past = await pastOf(store, read, { from: to - DAY, to })
  await store.close()
  const message: PastMessage = pastMessage(past, { timezone: zone, rules: config.alerts })
  return { message, failed: wanted.length - read.length }
}

type ReadOptions = Pick<LiveOptions, 'warn'> & {
  store: Store
  /** By app. */
  limiters: Map<string, RateLimiter>
  mask: (text: string) => string
}

/** Reads the list of a target. Resolves to what is wrong, if it could not be read. */
async function readTarget(settings: TargetSettings, { store, limiters, mask, warn }: ReadOptions) {
  const { target: config, poll } = settings
  const target = await openTarget({ settings, store, clock: systemClock, receiversOf: () => [] })
  const { maxRequestsPerMinute } = poll
  const limits = { clock: systemClock, maxRequestsPerMinute, pausedUntil: undefined, onPause: () => undefined }
  const key = rateLimitKey(config)
  target.rateLimiter = limiters.get(key) ?? newRateLimiter(limits)
  limiters.set(key, target.rateLimiter)
  const options = { ownership: { owns: () => true }, clock: systemClock, log: pino({ level: 'silent' }) }
  const client = connect(settings, () => target, options)
  const progress = timer(PROGRESS_MS, PROGRESS_MS).subscribe(() => {
    const sync = target.progress()
    if (sync !== undefined) warn(`${config.name}: ${formatSync(sync)}`)
  })
  let report: PollReport | undefined
  for (let polls = 0; polls < MOST_POLLS && (report === undefined || report.outcome === 'partial'); polls++)
    for await (const event of runPoll({ target, client, random: Math.random, mask }, new AbortController().signal))
      if (event.kind === 'polled') ({ report } = event)
  progress.unsubscribe()
  return report?.successful === true ? undefined : (report?.problem ?? 'the list was not read')
}
