import { relativeTo } from '../../../src/alerts/relative.ts'
import type { LedgerEvent } from '../../../src/simulator/calls/ledger.ts'
import { sessionOf } from '../../../src/ledger/identity.ts'
import { usedSince } from '../../../src/ledger/usage.ts'
import { callsOf } from '../../kit/world/oracle/call-of.ts'
import { callsUntil } from '../../kit/world/oracle/expected-calls.ts'
import { setAside } from '../../kit/world/oracle/set-aside.ts'
import { reachedBy } from '../../kit/world/start-world.ts'
import { exactFamilies } from '../../../src/simulator/expected/expected-series.ts'
import { expectedSeries } from '../../kit/world/oracle/expected-series.ts'
import { exportedSeries } from '../../../src/commands/demo/compare-with-simulator.ts'
import { difference, lessCorrections } from '../../kit/replay/exposition.ts'
import type { Known } from '../../kit/replay/known-call.ts'
import { observedFamilies, replayed } from '../../kit/replay/replay.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import { replay as replayRules } from '../../../src/alerts/replay.ts'
import { isoTime } from '../../../src/clock/times.ts'
import type { AlertMessage } from '../../../src/notifications/message.ts'
import type { Target } from '../../../src/pipeline/target.ts'
import { LONGEST_BLIND } from './draw-run.ts'
import type { Run } from './simulate-run.ts'
import { imbalancesOf } from '../../../src/ledger/balance.ts'
import { isUnordered } from '../../../src/ledger/known-list.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { deliveryProblems, leftBy } from '../../kit/events/delivery-problems.ts'
import { eventProblems, readLog } from '../../kit/events/event-problems.ts'
import { contribution, differingSums, FAMILIES_OBSERVED_ONCE, sumsOfCounters, sumsOfRows } from './row-sums.ts'
import { GROUP_WAIT, INTERVAL, RULES, START } from './simulated-rules.ts'
import { freeTimes } from './suppressions.ts'
import { untold } from '../../kit/notifications/untold.ts'
import { episodeProblems, noticeProblems } from '../../kit/store/episode-problems.ts'
import { reportProblems } from '../../kit/store/report-problems.ts'
import { rollupProblems } from '../../kit/store/rollup-problems.ts'
import { finishedCalls } from '../../kit/store/finished-calls.ts'
import { openReader } from '../../../src/store/open-store.ts'

const DAY = 86_400
/** Seconds before the set-up: what ended since then with `endedAt` too far ahead was implausible at the set-up. */
const LATELY = 900
const COUNTED = [
  'callwatch_minutes_corrections_total',
  'callwatch_invited_corrections_total',
  ...exactFamilies,
  ...observedFamilies,
]

/** Compares what the daemon counted, observed and notified with what happened, and reports what differs. */
export async function compareRun(run: Run): Promise<void> {
  const { service, report, target, clock } = run
  if (target === undefined) throw new Error('the run has no target')
  const suppressed = [...run.oracles.keys()].reduce((sum, alert) => sum + timesOf(run, alert).length, 0)
  report.reached = new Map([...reachedBy(service), ['alert.suppressed', suppressed], ...(run.hooks?.reached() ?? [])])
  const log = await readLog(run.store)
  const problems = [
    ...(await exactProblems(run, target)),
    ...(run.isCalm ? observedProblems(run, target) : []),
    ...(await sumProblems(run, target)),
    ...(await retentionProblems(run)),
    ...eventProblems(log, target.ledger.counters, run.rows.values()),
    ...deliveryProblems(log, run.webhook.processed, await leftBy(run.store, 'simulated')),
    ...onceProblems(run, target),
    ...alertProblems(run),
    ...(await historyProblems(run)),
    ...replayProblems(run, target),
    ...(run.hooks?.problems() ?? []),
    ...paceProblems(run, target),
  ]
  const { lastSuccess } = target.ledger.sync
  if (lastSuccess === undefined || clock.wall() - lastSuccess > 300)
    problems.push(`the last successful poll was at ${lastSuccess}`)
  const { longest } = run.blind
  report.blind = Math.round(longest)
  // With few requests a minute the first reading alone takes its time. Nor can one be short of ninety pages that take
  // eight seconds each, beside the calls that are asked for one by one, which restarts whenever the process dies.
  const slowness = run.drawn.hazards.includes('slowBurst') ? 6 : 1
  // And a restart begins the first reading anew.
  const most = Math.max(LONGEST_BLIND * slowness, 4500 / run.drawn.settings.maxRequestsPerMinute)
  if (longest > most) problems.push(`no successful poll for ${report.blind} s though the service could be read`)
  const { created } = target.ledger.sync
  if (Math.abs(created - run.setUp) > 5) problems.push(`the set-up was at ${run.setUp}, and is dated ${created}`)
  problems.push(...(await untold(run.store)).map((one) => `its end was not told: ${one}`))
  report.differences.push(...problems)
}

async function exactProblems({ service, rows, clock, drawn }: Run, target: Target): Promise<string[]> {
  const { ledger: events } = service.world
  const { created } = target.ledger.sync
  const { baseline } = drawn.settings
  // Before this, calls are not counted.
  const since = baseline === 'skip' ? created : undefined
  // What the list had dropped before the first answer was never shown, though it may continue.
  const firstAnswer = [...rows.values()].reduce((least, call) => Math.min(least, call.firstSeen), Infinity)
  const rowOf = rowsByCall(events, rows)
  // Rows of the same second may change places between two pages, so that only the next sweep sees one of them.
  const swept = created + drawn.settings.sweepInterval
  const isPast = ({ initiatedAt = Infinity, endedAt = initiatedAt }: LedgerEvent) => endedAt < created
  const unseen = events.filter(
    (event) =>
      event.event === 'unlisted' && event.at <= (isPast(event) ? swept : firstAnswer) && !rowOf.has(event.call),
  )
  const aside = new Set([...Object.values(setAside(events, since)).flat(), ...unseen.map(({ call }) => call)])
  const expected = expectedSeries(events, { created, baseline, now: clock.wall(), except: aside })
  const actual = lessCorrections(exportedSeries(target, COUNTED))
  for (const id of aside) {
    const call = rowOf.get(id)
    if (call === undefined) continue
    for (const [series, value] of contribution(call)) actual.set(series, (actual.get(series) ?? 0) - value)
  }
  const families = exactFamilies.filter((family) => aside.size === 0 || !FAMILIES_OBSERVED_ONCE.includes(family))
  return difference(lessCorrections(expected), actual, families).map(
    ({ series, expected: happened, actual: counted }) => `${series}: ${happened} happened, ${counted} counted`,
  )
}

/** The rows by the ids of their calls in the ledger of the simulator. */
function rowsByCall(events: Run['service']['world']['ledger'], rows: Run['rows']): Map<string, TrackedCall> {
  const callOf = callsOf(events)
  return new Map([...rows.values()].map((row) => [callOf({ ...row, session: sessionOf(row) }) ?? row.id, row]))
}

/** For all labels together the counters are the sums over the rows that there are, and over those that were deleted. */
async function sumProblems({ store, storeFile }: Run, { name, ledger }: Target): Promise<string[]> {
  const used = usedSince(ledger, 0, 'participants')
  const { participantMinutes } = sumsOfCounters(ledger)
  const isUsed = Math.abs(used - participantMinutes) <= 1e-6
  const charts = await rollupProblems(store, [name])
  const usage = isUsed ? [] : [`minutes used: ${participantMinutes} less corrections, ${used} by quarters`]
  if (storeFile === undefined) {
    const rows = new Map((await finishedCalls(store, { since: 0, limit: 1e9 })).map(({ call }) => [call.id, call]))
    for (const call of ledger.calls.values()) rows.set(call.id, call)
    return [...differingSums(ledger, sumsOfRows(rows.values())), ...usage, ...charts]
  }
  const reader = await openReader({ path: storeFile })
  const imbalances = imbalancesOf(await reader.balance(name))
  const reported = await reportProblems(reader, name)
  await reader.close()
  return [
    ...imbalances.map(
      ({ quantity, counters, calls }) => `${quantity}: ${counters} by the counters, ${calls} by all rows`,
    ),
    ...reported,
    ...usage,
    ...charts,
  ]
}

/** No row is deleted before its time, whatever the clocks said. */
async function retentionProblems({ store, rows, drawn, clock }: Run): Promise<string[]> {
  const { retention = Infinity } = drawn.settings
  if (retention === Infinity) return []
  const left = new Set((await store.rows('SELECT id FROM callwatch.calls', [])).map(({ id }) => id))
  return [...rows.values()].flatMap(({ id, finish }) =>
    finish !== undefined && finish.at > clock.wall() - retention && !left.has(id)
      ? [`call ${id} finished at ${finish.at}, and was deleted at ${clock.wall()} at the latest`]
      : [],
  )
}

/** What is set aside from the comparison since `endedAt` was missing counts once, or never where it was over before the set-up. */
function onceProblems({ service, rows, drawn }: Run, target: Target): string[] {
  const { ledger: events } = service.world
  const { created } = target.ledger.sync
  const { withoutEndedAt, vanished, replaced } = setAside(events, created)
  const calls = callsUntil(events, Infinity, created)
  const others = new Set([...vanished, ...replaced])
  const rowOf = rowsByCall(events, rows)
  return withoutEndedAt
    .filter((id) => !others.has(id))
    .flatMap((id) => {
      const { first, final } = calls.get(id)!
      const row = rowOf.get(id)
      const isCounted = row !== undefined && row.phase !== 'baseline'
      // Of one that was over earlier, `endedAt` may have been plausible at the set-up already, by the clock that is further ahead.
      const since = created - LATELY + Math.max(0, drawn.hostAhead)
      const isBaseline = drawn.settings.baseline === 'skip' && final!.at < created - 60 && final!.at > since
      if (isBaseline && isCounted) return [`call ${id} was over before the set-up, and counted`]
      if (first.at > created && row?.finish === undefined) return [`call ${id} has ended, and was not counted`]
      return []
    })
}

function observedProblems(run: Run, target: Target): string[] {
  const { service, settings, cycles, sweeps, drawn } = run
  const { created } = target.ledger.sync
  const { ledger: events } = service.world
  const { series, calls } = replayed(service.recorder.responses, {
    created,
    baseline: drawn.settings.baseline,
    lookback: settings.lookback,
    cycles,
    sweeps,
    callOf: callsOf(events),
  })
  const counted = difference(series, exportedSeries(target, COUNTED), observedFamilies).map(
    ({ series, expected, actual }) => `${series}: ${expected} replayed, ${actual} counted`,
  )
  const rows = rowsByCall(events, run.rows)
  return [...counted, ...[...calls].flatMap(([id, call]) => finishProblems(run, rows.get(id), call))]
}

/**
 * A call finished when its rows say. After a restart, when a call was last shown as open is forgotten; and a stale answer shows it as it
 * was before.
 */
function finishProblems({ drawn, options }: Run, row: TrackedCall | undefined, { finishedAt }: Known): string[] {
  if (row?.finish === undefined || finishedAt === undefined || drawn.hazards.includes('stale')) return []
  const { at, known } = row.finish
  const mayRestart = drawn.reloads || known > START + options.days * DAY
  if (Math.abs(at - finishedAt) <= 1 || (mayRestart && at >= row.firstSeen && at < finishedAt)) return []
  return [`call ${row.id} finished at ${at}, and at ${finishedAt} by its rows: ${JSON.stringify(row)}`]
}

/** The same history gives the same alerts whether rules are evaluated live or afterwards, through every restart. */
function replayProblems({ history: { notified, movedAt, ...history }, drawn }: Run, { ledger }: Target): string[] {
  const known = { ...history, sync: ledger.sync, gaps: ledger.earlier?.gaps ?? [] }
  // Which times without polls hide calls depends on the lookback of then, which a replay does not know.
  const isSteady = !drawn.hazards.includes('changingLookback')
  const rules = RULES.filter(({ signal }) => isSteady || relativeTo(signal) === undefined)
  // A call whose finish moves counts where it was until then, and a replay does not know that.
  const isCompared = ({ alert, at }: Notification) => at < movedAt && rules.some(({ name }) => name === alert)
  const options = { target: 'simulated', rules, interval: INTERVAL }
  const line = ({ kind, key, at, value, peak }: Notification) => `${kind} ${key} at ${at}: ${value}, ${peak}`
  const lines = [notified, replayRules(known, options).notifications].map((all) => all.filter(isCompared).map(line))
  const [live = [], replayed = []] = lines
  const first = live.findIndex((said, i) => said !== replayed[i])
  if (first === -1 && live.length === replayed.length) return []
  return [`replayed "${replayed[Math.max(0, first)]}", live "${live[Math.max(0, first)]}"`]
}

function alertProblems(run: Run): string[] {
  run.report.notifications = run.receivers.reduce((sum, { accepted }) => sum + accepted.length, 0)
  return run.receivers.flatMap(({ receiver, accepted }) =>
    messageProblems(run, accepted).map((problem) => `${receiver.name}: ${problem}`),
  )
}

function messageProblems(run: Run, accepted: readonly AlertMessage[]): string[] {
  const { report, oracles } = run
  const problems = [...oracles.keys()].flatMap((alert) => ruleProblems(run, alert, accepted))
  const blind = changesOf(accepted, 'NoGoodPoll').changes
  // A process that dies after it has claimed a message may have sent it: then the end is sent whether or not it has.
  const claimed = report.crashes['after commit'] ?? 0
  const unannounced = blind.filter((change, i) => change === 'end' && blind[i - 1] !== 'firing').length
  if (unannounced > claimed || blind.some((change, i) => change === 'firing' && blind[i - 1] === 'firing'))
    problems.push(`NoGoodPoll notified ${blind.join()}`)
  return problems
}

/** What a receiver was notified of one alert is what its rule implies, but for the times that it was suppressed from its firing to its end. */
function ruleProblems(run: Run, alert: string, accepted: readonly AlertMessage[]) {
  const { oracles, isCalm, history, report } = run
  const problems: string[] = []
  const got = changesOf(accepted, alert)
  if (isCalm && got.again > 0) problems.push(`a message of ${alert} was sent twice though the process never died`)
  const notified = oracles.get(alert)!.notified()
  const changes = history.notified.filter((change) => change.alert === alert)
  const committed = changes.map(({ kind }) => kind).join()
  if (committed !== notified.join()) problems.push(`${alert} implies ${notified.join()}, and it was ${committed}`)
  const implied = notified.map((kind) => (kind === 'firing' ? 'firing' : 'end'))
  const times = timesOf(run, alert)
  const suppressed = times.filter(({ free }) => free === 0)
  // What was free for no longer than the wait need not be told.
  const brief = times.filter(({ free }) => free > 0 && free <= GROUP_WAIT + 1)
  // A message that was claimed by a process that died may have been sent: what comes next is said as if it had.
  const claimed = 2 * (report.crashes['after commit'] ?? 0)
  const most = implied.length - 2 * suppressed.length
  const fewest = most - claimed - 2 * brief.length
  const isSuppressed = ({ firingSince }: Notification) => suppressed.some(({ from }) => from === firingSince)
  const unwanted = accepted
    .flatMap(({ alerts, flapped }) => [...alerts, ...flapped])
    .filter(({ notification }) => notification.alert === alert && isSuppressed(notification))
  if (unwanted.length > claimed) {
    const { kind, firingSince } = unwanted[0]!.notification
    problems.push(`notified that ${alert} is ${kind} since ${firingSince}, which was suppressed to its end`)
  }
  const isSame =
    got.changes.length >= fewest &&
    // What a dying process may have notified is counted again by the next one.
    (!isCalm || got.changes.length <= most) &&
    got.changes.every((change, i) => !isCalm || change === (i % 2 === 0 ? 'firing' : 'end')) &&
    (got.changes.at(-1) ?? 'end') === (implied.at(-1) ?? 'end')
  const isLast = suppressed.length + brief.length > 0 || got.lastKind === undefined || got.lastKind === notified.at(-1)
  if (!isSame || !isLast) {
    problems.push(
      `${alert} implies ${notified.join()}, ${suppressed.length} times suppressed, the receiver got ${got.changes.join()} (${got.lastKind})`,
    )
  }
  return problems
}

/** The times that an alert fired, and for how long nothing suppressed it. Without polls nothing else of the target is told. */
function timesOf({ suppressions, history, drawn }: Run, alert: string) {
  const inhibitors = [...(drawn.inhibition.inhibitors[alert] ?? []), 'NoGoodPoll']
  return freeTimes(suppressions, history.notified, alert, inhibitors)
}

/** What the history of alerts has is what was committed, and what the receivers got. */
async function historyProblems({ store, history, receivers, drawn, clock }: Run): Promise<string[]> {
  const { retention = Infinity } = drawn.settings
  const turns = history.notified.map(({ kind, target, key, at }) => ({ kind, target, key, time: isoTime(at) }))
  const { problems, episodes } = await episodeProblems(store, turns, Math.max(0, clock.wall() - retention))
  const unlike = receivers.flatMap(({ receiver, accepted }) => noticeProblems(episodes, accepted, receiver.name))
  return [...problems, ...unlike]
}

/**
 * A healed list is polled by its newest pages, whatever was believed of it before; but for an order that was refuted, where every
 * tenth row is in another's place, and where no call was ever shown.
 */
function paceProblems({ latest, rows, drawn: { hazards } }: Run, { ledger: { sync } }: Target): string[] {
  const incremental = latest.filter((outcome) => outcome === 'incremental').length
  const { list, lastSuccess = 0 } = sync
  if (hazards.includes('doubledRows') || rows.size === 0) return []
  if (isUnordered(list, lastSuccess) || incremental * 2 >= latest.length) return []
  return [`of the last ${latest.length} polls of a healed list ${incremental} were incremental`]
}

/** The changes of one alert that a receiver was notified of, those that it got as a number included. */
function changesOf(messages: readonly AlertMessage[], alert: string) {
  const changes: ('firing' | 'end')[] = []
  const known = new Set<string>()
  let again = 0
  let lastKind: string | undefined
  const isNew = (what: string): boolean => {
    if (known.has(what)) again += 1
    return !known.has(what) && known.add(what) !== undefined
  }
  const cycles = (times: number) => {
    for (let i = 0; i < times; i++)
      changes.push(...(changes.at(-1) === 'firing' ? (['end', 'firing'] as const) : (['firing', 'end'] as const)))
  }
  for (const { alerts, flapped, unanswered } of messages) {
    for (const { notification, times, endedAt } of flapped) {
      if (notification.alert !== alert || !isNew(`flapped ${endedAt}`)) continue
      cycles(times)
      // How it ended, a note in passing does not say.
      lastKind = undefined
    }
    for (const { notification, flaps } of alerts) {
      if (notification.alert !== alert || !isNew(`${notification.kind} ${notification.at}`)) continue
      cycles(flaps)
      const change = notification.kind === 'firing' ? 'firing' : 'end'
      // The receiver may have posted its firing, and answered with an error.
      if (change === 'end' && unanswered.length > 0 && changes.at(-1) !== 'firing') changes.push('firing')
      if (change !== changes.at(-1)) changes.push(change)
      lastKind = notification.kind
    }
  }
  return { changes, again, lastKind }
}
