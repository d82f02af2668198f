import { pino } from 'pino'
import { inspect } from 'node:util'
import { BehaviorSubject, merge, ReplaySubject, type Observable } from 'rxjs'
import type { LiveAlert } from '../../../src/alerts/alert.ts'
import { hasEnded } from '../../../src/alerts/notification.ts'
import { ALONE } from '../../../src/cluster/ownership.ts'
import { configOf, type Config } from '../../../src/config/config.ts'
import { retentionTime } from '../../../src/daemon/retention.ts'
import { deliverEvents } from '../../../src/events/webhooks/deliver-events.ts'
import { isUnordered } from '../../../src/ledger/known-list.ts'
import type { Hint } from '../../../src/ledger/hint.ts'
import { COUNTERS, sumOf } from '../../../src/ledger/series.ts'
import type { LedgerState } from '../../../src/ledger/state.ts'
import { grouping } from '../../../src/notifications/grouping.ts'
import { deliver } from '../../../src/notifications/delivery/deliver.ts'
import { readNotified } from '../../../src/notifications/delivery/notified.ts'
import { nowReader } from '../../../src/notifications/delivery/now.ts'
import { messageRound } from '../../../src/notifications/delivery/message-round.ts'
import { suppressionNotes } from '../../../src/notifications/delivery/suppression-notes.ts'
import { newPauses } from '../../../src/notifications/delivery/pauses.ts'
import type { AlertMessage } from '../../../src/notifications/message.ts'
import type { Random } from '../../../src/simulator/random.ts'
import { lifecycle, type Lifecycle, type TargetEvent } from '../../../src/pipeline/lifecycle.ts'
import { webhookOf } from '../../kit/events/webhooks/any-webhook.ts'
import { drawSettings } from './draw-run.ts'
import { mortalProcess, type MortalProcess } from './mortal-process.ts'
import type { Run } from './simulate-run.ts'
import { GROUP_WAIT, INTERVAL, RULES, START } from './simulated-rules.ts'
import { simulatedTransport } from './simulated-transport.ts'

const GROUP_OF = grouping({ groupBy: ['target', 'severity'], groupWait: GROUP_WAIT, groupInterval: 0 })

/** How many outcomes of polls are kept. */
const LATEST = 40
/** So many times an hour is the configuration reloaded, in runs that reload it. */
const RELOADS = 1
/** Intervals after which a poll that still runs has ended, once the daemon stops. */
const INTERVALS_TO_END = 5

/** The host's clock (UNIX seconds). */
export function hostTime({ clock, drawn }: Pick<Run, 'clock' | 'drawn'>): number {
  const now = clock.wall()
  return drawn.hostAheadFrom <= now - START && now - START < drawn.hostAheadTo ? now + drawn.hostAhead : now
}

/** One life of the process: until it dies, or `continues` answers that it must stop. Each begins with settings of its own. */
export async function live(run: Run, draw: Random, risk: number, continues: () => Promise<boolean>): Promise<void> {
  const process = mortalProcess({ ...run.clock, wall: () => hostTime(run) }, draw, risk)
  const { clock } = process
  const store = process.store(run.store)
  const draining$ = new ReplaySubject<void>(1)
  const alerts = () => {
    const { target } = run
    return target ? [...target.alerts.values()].map((instance) => ({ target: target.name, instance })) : []
  }
  const inhibit = run.drawn.inhibition.rules
  const { mutes } = run.suppressions
  const told = readNotified(run.receivers.map(({ receiver }) => receiver.name), { clock, store }) // oxfmt-ignore
  const readNow = nowReader({ clock, store, alerts, mutes })
  const now = async () => readNow(Math.min(...(await told).values().map((one) => one.state().cursor)))
  const noteWhy = suppressionNotes(store)
  const delivered$ = merge(
    ...run.receivers.map(({ receiver }) => {
      const round = messageRound(receiver, newPauses(clock), {
        note: noteWhy,
        mask: (text) => text,
        clock,
        groupOf: GROUP_OF,
        rules: RULES,
        mutes,
        inhibit,
        targets: () => 1,
        fleet: () => [],
        freshFrom: () => -Infinity,
        isSent: () => true,
        publicUrl: undefined,
        notified: async () => (await told).get(receiver.name)!,
        now,
      })
      return deliver([round], { clock, draining$ })
    }),
  )
  const messages = delivered$.subscribe(({ receiver, message, outcome }) => {
    if (outcome === 'sent' && message?.kind === 'alerts') noteInhibited(run, message, alerts(), clock.wall())
    // Ids are drawn.
    const {
      id: _,
      thread: _thread,
      unanswered: _unanswered,
      ...said
    } = { thread: '', unanswered: [], id: '', ...message }
    run.report.lines.push(`${clock.wall()} ${receiver} ${outcome} ${JSON.stringify(said)}`)
  })
  const webhook = deliverEvents({
    webhook: webhookOf({ name: 'simulated', from: 'start' }),
    post: run.webhook.post(clock),
    store,
    clock,
    expiredBefore: () => (retentionTime([run.target?.ledger.sync.lastSuccess], clock) ?? -Infinity) - 30 * 86_400,
    isLeader: () => true,
    expectLeader: async () => undefined,
    draining$,
  }).subscribe()
  const targets = targetsOf(run, process, { draw, draining$ })
  run.settings = drawSettings(run.drawn, draw)
  const config$ = new BehaviorSubject(simulatedConfig(run))
  const opened = { isReady: false }
  const [from, opens] = [clock.monotonic(), run.clock.wall()]
  void targets.open(config$.value).then(() => (opened.isReady = true))
  await run.clock.advance(0)
  while (!opened.isReady && process.died() === undefined) await run.clock.advance(1)
  run.target = targets.loaded()[0] ?? run.target
  if (run.target?.ledger.sync.clockSkew === undefined) run.setUp = opens
  listen(run, process, { targets, from })
  const state = { hasEnded: false }
  const polls = targets.run(config$).subscribe({
    next: (event) => {
      // After a reload it is another one.
      run.target = targets.loaded()[0] ?? run.target
      note(run, event)
    },
    complete: () => void (state.hasEnded = true),
  })
  while (process.died() === undefined && (await continues())) {
    if (run.drawn.reloads && draw() < (RELOADS * INTERVAL) / 3600) {
      run.settings = drawSettings(run.drawn, draw)
      run.report.lines.push(`${clock.wall()} reloaded ${JSON.stringify(run.settings)}`)
      config$.next(simulatedConfig(run))
    }
    await resume(run)
    await run.clock.advance(INTERVAL)
  }
  draining$.next()
  config$.complete()
  for (let i = 0; i < INTERVALS_TO_END && !state.hasEnded && process.died() === undefined; i++)
    await run.clock.advance(INTERVAL)
  const place = process.died()
  if (place === undefined) await run.clock.advance(INTERVAL * INTERVALS_TO_END)
  else run.report.crashes[place] = (run.report.crashes[place] ?? 0) + 1
  if (run.hooks !== undefined) run.hooks.listener = undefined
  polls.unsubscribe()
  messages.unsubscribe()
  webhook.unsubscribe()
}

/** The webhooks of the service reach this process, until it dies. @param from when its targets began to open */
function listen(
  { hooks }: Run,
  { clock: { monotonic }, died }: MortalProcess,
  { targets, from }: { targets: Lifecycle; from: number },
): void {
  if (hooks === undefined || died() !== undefined) return
  const hear = (hint: Hint) => targets.hint('simulated', hint)
  hooks.listener = { since: { from, to: monotonic() }, hear, isAlive: () => died() === undefined }
}

/** Notes alerts that a receiver was told to fire while they were silenced or muted, or while another one fired that inhibits them. */
function noteInhibited(run: Run, message: AlertMessage, alerts: readonly LiveAlert[], now: number): void {
  for (const { notification } of message.alerts) {
    const { alert } = notification
    // What has just begun, the sender did not know.
    if (
      !hasEnded(notification) &&
      run.suppressions.times(alert, now, now).some(({ from, to }) => from < now - 1 && now < to)
    )
      run.report.differences.push(`at ${now} it was notified of ${alert}, which is silenced or muted`)
  }
  for (const { notification } of message.alerts) {
    if (hasEnded(notification)) continue
    const inhibitors = run.drawn.inhibition.inhibitors[notification.alert] ?? []
    const firing = alerts.filter(
      // One that has just begun to fire, the sender did not know.
      ({ instance: { rule, firingSince = now } }) => inhibitors.includes(rule.name) && firingSince < now - 1,
    )
    if (firing.length > 0)
      run.report.differences.push(`at ${now} it was notified that ${notification.alert} fires, which is inhibited`)
  }
}

/** Somebody has seen that the webhook is paused. */
async function resume({ store }: Run): Promise<void> {
  for (const { name, revision, progress } of await store.webhooks()) {
    const { paused, ...others } = progress
    if (paused !== undefined) await store.saveWebhook({ name, revision, progress: others })
  }
}

/** The target of the run, as the daemon has it. */
function targetsOf(
  run: Run,
  process: MortalProcess,
  { draw, draining$ }: { draw: Random; draining$: Observable<unknown> },
): Lifecycle {
  const { clock } = process
  const send = process.transport(simulatedTransport(run.service, { ...clock, wall: run.clock.wall }, draw))
  return lifecycle({
    clock,
    random: draw,
    log: pino(
      { level: 'debug', base: null, timestamp: () => `,"time":${clock.wall()}` },
      { write: (line: string) => void run.report.lines.push(line) },
    ),
    store: process.store(run.store),
    ownership: ALONE,
    mask: (text) => text,
    draining$,
    transportTo: () => send,
  })
}

/** Keeps how long no poll was successful, but for times in which no poll can know that it sees the newest calls. */
function noteBlindness(run: Run, successful: boolean): void {
  const { blind, clock } = run
  const now = clock.wall()
  blind.longest = Math.max(blind.longest, now - blind.since)
  if (successful || !showsNewest(run)) blind.since = now
}

/** Whether the newest calls are on a page that the service gives; that the first page has them, only the order says. */
function showsNewest({ service: { switches, world }, settings: { pageSize }, target, clock }: Run): boolean {
  const { outage, indexed, order, deepestPage, perPage } = switches
  if (outage || indexed < 1) return false
  const isRefuted = isUnordered(target?.ledger.sync.list, clock.wall())
  if (deepestPage === 'any' || (order === 'newest' && !isRefuted)) return true
  const served = typeof perPage === 'number' ? Math.min(perPage, pageSize) : perPage === 'ignored' ? 50 : pageSize
  return world.listing.length <= deepestPage * served
}

function note(run: Run, event: TargetEvent): void {
  const { report, clock } = run
  if (event.kind === 'internal error') report.differences.push(`at ${clock.wall()}: ${inspect(event.error)}`)
  if (event.kind === 'committed') run.hooks?.committed(event.committed)
  if (event.kind !== 'polled') return
  const { outcome, requests, problem, successful, refusedFrom } = event.report
  report.polls[outcome] = (report.polls[outcome] ?? 0) + 1
  run.latest = [...run.latest.slice(1 - LATEST), outcome]
  report.requests += requests.length
  const { confirmedSweep } = run.target?.ledger.sync ?? {}
  if (confirmedSweep !== undefined && !run.sweeps.values().some((began) => began === confirmedSweep))
    run.sweeps.set(run.cycles.length, confirmedSweep)
  run.cycles.push(clock.wall())
  noteBlindness(run, successful)
  // That service shows every page, or none.
  if (refusedFrom !== undefined && run.drawn.hazards.includes('downAmidReading'))
    report.differences.push(`at ${clock.wall()} page ${refusedFrom} counts as refused`)
  if (successful && run.cycles.length % 20 === 0 && run.target !== undefined) checkIdentity(run, run.target.ledger)
  report.lines.push(`${clock.wall()} ${outcome} ${requests.length} ${problem ?? ''}`)
}

function checkIdentity({ report, clock }: Run, ledger: LedgerState): void {
  const came = sumOf(ledger, COUNTERS.started) + sumOf(ledger, COUNTERS.reappeared)
  const went = sumOf(ledger, COUNTERS.finished) + sumOf(ledger, COUNTERS.lost) + ledger.open.size
  if (came === went) return
  report.differences.push(`at ${clock.wall()}: started + reappeared = ${came}, finished + lost + open = ${went}`)
}

function simulatedConfig({
  drawn: { settings, sendsWebhooks },
  settings: { lookback, pageSize },
  service,
}: Run): Config {
  const config = configOf({
    targets: [
      {
        name: 'simulated',
        base_url: 'http://127.0.0.1/v3',
        api_key: service.keys.fullAccess,
        ...(sendsWebhooks && { webhook: { username: 'vendor', password: 'of-the-webhooks' } }),
      },
    ],
    store: { path: ':memory:' },
    http: { host: '127.0.0.1', port: 0 },
    log: { level: 'debug' },
  })
  const { baseline, sweepInterval, maxRequestsPerMinute } = settings
  const maxAnswerBytes = 32 * 1024 * 1024
  const poll = { baseline, interval: INTERVAL, pageSize, lookback, maxAnswerBytes, sweepInterval, maxRequestsPerMinute }
  return { ...config, poll: { ...config.poll, ...poll }, alerts: [...RULES] }
}
