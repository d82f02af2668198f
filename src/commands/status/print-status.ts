import { definitionOf } from '../../alerts/definition-of.ts'
import { byName } from '../../alerts/incidents.ts'
import { bySeverity } from '../../alerts/match-keys.ts'
import { formatIn } from '../../alerts/signal.ts'
import {
  clockOf,
  formatNumber,
  formatSeconds,
  formatSync,
  formatTime,
  plural,
  withoutNumbers,
} from '../../text/format.ts'
import type { State } from '../../views/state/state.ts'
import { shellQuoted } from '../alerts/alert-calls.ts'
import { tableLines, type CommandContext } from '../command.ts'

/** How many names of targets a line has. */
const NAMED = 3

type Alerts = State['alerts']
const timeOf = (time: string) => formatTime(Date.parse(time) / 1000)
const firingOf = ({ alerts }: State): Alerts => alerts.filter(({ state }) => state !== 'pending')

/**
 * Prints what is wrong, each problem with its reason and since when; or in one line that nothing is.
 *
 * @param page where a browser finds the page
 */
export function printProblems(
  state: State,
  page: string,
  print: CommandContext['print'],
  missing: readonly string[] = [],
): void {
  const { problem: ofDaemon, targets, incidents, receivers } = state
  const alerts = firingOf(state)
  const fires = new Set(alerts.flatMap(({ signal, target }) => (signal === 'poll_age' ? target : [])))
  const unpolled = targets.filter(({ name }) => fires.has(name))
  // Their incident says why, if it is the same for all.
  const told = groupByReason(unpolled, targetProblem).size === 1 ? fires : new Set()
  // Failed requests are why no poll succeeds, which another incident says.
  const failing = alerts.filter(({ signal }) => signal === 'request_errors')
  const isTold = ({ group }: State['incidents'][number]) =>
    failing.some(({ alert }) => alert === group['alert']) && failing.every(({ target }) => fires.has(target))
  for (const incident of incidents.filter((one) => !isTold(one))) printIncident(incident, print)
  const problems = [
    ...(ofDaemon === null ? [] : [`daemon: ${ofDaemon}`]),
    ...missingText(missing),
    ...onTargets(targets, (each, lastPoll) => (told.has(each.name) ? '' : targetProblem(each, lastPoll))),
    ...receivers.filter(isFailing).flatMap(receiverText),
  ]
  for (const problem of problems) print(problem, 'red')
  for (const line of remarks(state)) print(line)
  if (problems.length > 0 || incidents.length > 0) return print(nextStep(state, page))
  if (targets.some((target) => target.state === 'initial sync')) return
  const what = targets.length === 1 ? `${targets[0]!.name} is` : `All ${formatNumber(targets.length)} targets are`
  print(`${what} polled; no alert fires; no receiver fails`, 'green')
}

function missingText(missing: readonly string[]): string[] {
  const more = missing.length - NAMED
  const named = [...missing.slice(0, NAMED), ...(more > 0 ? [plural(more, 'more target')] : [])]
  return missing.length === 0 ? [] : [`no daemon polls ${named.join(', ')}`]
}

function printIncident(incident: State['incidents'][number], print: CommandContext['print']): void {
  const { severity, worst, summary, details, group, runbook_url: runbook } = incident
  print(`${severity}: ${summary}`, severity === 'critical' && worst.length > 0 ? 'red' : 'yellow')
  // Where each rule has its own incident, those of the others follow.
  const told = details.filter(({ about }) => about !== 'others' || group.alert === undefined)
  for (const { text } of told) print(`  ${text}`)
  if (runbook !== undefined) print(`  Runbook: ${runbook}`)
  print('')
}

/** What to do about the first incident, or else about a target or receiver that fails. */
function nextStep({ targets, incidents, receivers }: State, page: string): string {
  const unpolled = new Set(targets.flatMap((each) => (targetProblem(each) === '' ? [] : each.name)))
  // What fired before polls failed is not the next thing to do.
  const worst = incidents[0]?.worst.find(({ calls, target }) => calls !== null && !unpolled.has(target))
  const steps = [
    worst && `alerts calls ${shellQuoted(worst.key)} --target ${shellQuoted(worst.target)}\` lists its calls`,
    unpolled.size > 0 && 'check --probe` says what the service answers',
    receivers.some(isFailing) && 'test-notify` sends a sample to the receivers',
    'alerts` lists what fires and has fired',
  ]
  return `next: \`callwatch ${steps.find(Boolean)}, or open ${page}`
}

type TargetStatus = State['targets'][number]
type ReceiverStatus = State['receivers'][number]
type TextOf = (target: TargetStatus, lastPoll: string) => string

const groupByReason = (targets: readonly TargetStatus[], textOf: TextOf) =>
  Map.groupBy(targets, (target) => withoutNumbers(textOf(target, '')))

/** One line for all targets with the same reason: their names, or how many they are. Where numbers differ, it is about the first one. */
function onTargets(targets: readonly TargetStatus[], textOf: TextOf): string[] {
  const byReason = groupByReason(targets, textOf)
  byReason.delete('')
  return [...byReason.values()].map((same) => {
    const texts = new Set(same.map((each) => textOf(each, '')))
    const names = same.slice(0, texts.size === 1 ? NAMED : 1).map(({ name }) => name)
    const more =
      same.length > names.length ? `${formatNumber(same.length)} of ${plural(targets.length, 'target')}, such as ` : ''
    const [first, ...others] = [...new Set(same.map(({ last_success: last }) => timeOf(last ?? '')))].toSorted()
    return `${more}${names.join(', ')}: ${textOf(same[0]!, `${first}${others.length > 0 ? ' (the earliest)' : ''}`)}`
  })
}

/** Why a target is not polled; '' if it is, or if its past is read first. */
function targetProblem({ state, last_success: last, problem }: TargetStatus, lastPoll = ''): string {
  if (state === 'initial sync') return ''
  const reason = problem === undefined ? '' : `: ${problem}`
  if (last === null) return `never polled successfully${reason}`
  return state === 'stale' ? `no successful poll since ${lastPoll}${reason}` : (problem ?? '')
}

const isFailing = (receiver: ReceiverStatus) => receiver.failing_since !== undefined

/** What waits for a receiver, and why: nothing can be delivered, or it refused some messages and accepts others. */
function receiverText(receiver: ReceiverStatus): string[] {
  const { name, failing_since: since, problem, next_attempt: next, pending, oldest_pending_seconds: oldest } = receiver
  if (since === undefined && pending === 0) return []
  const parts = [
    since && `nothing delivered since ${timeOf(since)}${problem === undefined ? '' : `: ${problem}`}`,
    pending > 0 &&
      `${plural(pending, 'message')} waiting${oldest === undefined ? '' : `, the oldest from ${formatSeconds(oldest)} ago`}`,
    since === undefined && problem && `some refused: ${problem}`,
    next && `${since === undefined ? 'offered again' : 'next attempt'} at ${timeOf(next)}`,
  ]
  return [`receiver ${name}: ${parts.filter(Boolean).join('; ')}`]
}

/** What is no failure: warnings, what waits, and what is suppressed now, by the reason; its beginning may have been notified. */
function remarks(state: State): string[] {
  const { targets, receivers } = state
  const suppressed = Map.groupBy(firingOf(state), ({ suppressed = [] }) => suppressed.map(reasonText).join('; '))
  suppressed.delete('')
  return [
    ...onTargets(targets, syncText),
    ...onTargets(targets, ({ warnings = [] }) => warnings.map(({ message }) => message).join('; ')),
    ...receivers.filter((each) => !isFailing(each)).flatMap(receiverText),
    ...pendingTexts(state),
    ...[...suppressed].map(
      ([reasons, same]) => `suppressed now: ${rulesText(rulesOf(same), targets.length)}: ${reasons}`,
    ),
  ]
}

/** What suppresses an alert, in words. */
function reasonText({ by, silence, until, reason = '', alert }: NonNullable<Alerts[number]['suppressed']>[number]) {
  const silenced = `silence ${silence}${until === undefined ? '' : ` until ${timeOf(until)}`}`
  if (by === 'silence') return `${silenced}${reason === '' ? '' : `: ${reason}`}`
  if (by === 'poll_age') return 'its target is not polled'
  return by === 'mute' ? 'muted' : `inhibited by ${alert}`
}

/** The rules that do not fire yet, and from when on they do if nothing changes. */
function pendingTexts({ now, targets, alerts }: State): string[] {
  const pending = alerts.filter(({ state }) => state === 'pending')
  return rulesOf(pending).map((rule) => {
    const [first = now] = pending.flatMap((one) => (one.alert === rule.alert ? (one.fires_at ?? []) : [])).toSorted()
    const at = clockOf(Date.parse(first > now ? first : now) / 1000, Date.parse(now) / 1000)
    return `pending: ${rulesText([rule], targets.length)} fires from ${at} on if it lasts`
  })
}

/** How far an initial sync is; '' if it has ended. */
function syncText({ state, listing }: TargetStatus): string {
  const { pages_read: pagesRead = 0, pages, seconds_left: secondsLeft } = listing ?? {}
  return state === 'initial sync' ? formatSync({ pagesRead, pages, secondsLeft }) : ''
}

/** The rules of alerts, and on how many targets each has some. */
function rulesOf(alerts: Alerts) {
  const byRule = Map.groupBy(alerts, ({ alert }) => alert)
  return [...byRule].map(([alert, all]) => ({ alert, targets: new Set(all.map(({ target }) => target)).size }))
}

const rulesText = (rules: ReturnType<typeof rulesOf>, of: number) =>
  rules.map(({ alert, targets }) => (of === 1 ? alert : `${alert} on ${plural(targets, 'target')}`)).join(', ')

const WORST_FIRST: TargetStatus['state'][] = ['never polled', 'stale', 'failing', 'initial sync', 'up']

/** How many rows that are alike a terminal shows. */
const MOST_ALIKE = 10

/**
 * Of many rows that have the same texts in some columns the first ones, and how many more there are.
 *
 * @param names which column has the names
 */
function folded(rows: readonly string[][], alike: readonly number[], names: number, width: number): string[][] {
  const groups = Map.groupBy(rows, (row) => alike.map((i) => row[i]).join('\n'))
  return [...groups.values()].flatMap((same) => {
    const more = `and ${formatNumber(same.length - NAMED)} more (--wide)`
    const last = same[0]!.map((text, i) => (i === names ? more : alike.includes(i) ? text : ''))
    return width < Infinity && same.length > MOST_ALIKE ? [...same.slice(0, NAMED), last] : same
  })
}

/** Prints tables of all targets and alerts, and all receivers. What is wrong comes first. */
export function printAll(state: State, print: CommandContext['print'], width: number): void {
  const { now, targets, receivers } = state
  const alerts = firingOf(state)
  const firing = Map.groupBy(alerts, ({ target }) => target)
  const firingOn = ({ name }: TargetStatus) => firing.get(name)?.length ?? 0
  const printTable = (header: readonly string[], rows: string[][], texts: number, givesWay: readonly string[]) => {
    for (const line of ['', ...tableLines(header, rows, texts, { width, givesWay })]) print(line)
  }
  const rankOf = ({ state }: TargetStatus) => WORST_FIRST.indexOf(state)
  const polled = targets
    .toSorted((a, b) => rankOf(a) - rankOf(b) || firingOn(b) - firingOn(a) || byName.compare(a.name, b.name))
    .map((each) => {
      const lag = each.last_success === null ? '-' : formatSeconds(each.lag_seconds)
      return [each.name, each.state, lag, formatNumber(each.in_progress), formatNumber(firingOn(each))]
    })
  printTable(['target', 'state', 'lag', 'in progress', 'firing'], folded(polled, [1, 4], 0, width), 2, [
    'in progress',
    'lag',
  ])
  const worst = alerts.toSorted(
    (a, b) =>
      bySeverity(a, b) ||
      byName.compare(a.key, b.key) ||
      (a.breach === 'above' ? b.value - a.value : a.value - b.value),
  )
  const rows = worst.map(({ key, target, severity, since, value, threshold, breach, signal, held }) => {
    const { unit } = definitionOf({ name: signal })
    const lasts = formatSeconds(Math.max(0, (Date.parse(now) - Date.parse(since)) / 1000))
    return [
      key,
      target,
      severity,
      lasts,
      `${formatIn(unit, value)}${held === undefined ? '' : ` at ${clockOf(Date.parse(held.since) / 1000, Date.parse(now) / 1000)}`}`,
      `${breach} ${formatIn(unit, threshold)}`,
    ]
  })
  const header = ['alert', 'target', 'severity', 'for', 'value', 'threshold']
  if (rows.length > 0) printTable(header, folded(rows, [0, 2, 5], 1, width), 3, ['threshold', 'severity', 'for'])
  print('')
  for (const { name, pending } of receivers)
    print(
      `receiver ${name}: ${pending === 0 ? 'no message waits' : `${plural(pending, 'message')} could not be sent yet`}`,
    )
}
