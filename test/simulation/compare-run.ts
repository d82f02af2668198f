import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { setAside } from '../../src/simulator/set-aside.ts'
import { exactFamilies, truth } from '../../src/simulator/truth.ts'
import { exportedSeries } from '../../src/commands/compare-with-truth.ts'
import { difference, lessCorrections } from '../system/truth/exposition.ts'
import { observedFamilies, replay } from '../system/truth/replay.ts'
import { contribution, FAMILIES_OBSERVED_ONCE } from './contribution.ts'
import type { Notification } from '../../src/alerts/notification.ts'
import { replay as replayRules } from '../../src/alerts/replay.ts'
import { monthOf } from '../../src/clock/calendar.ts'
import type { AlertMessage } from '../../src/notify/message.ts'
import type { WatchedTarget } from '../../src/web/views.ts'
import type { Run } from './simulate-run.ts'
import { INTERVAL, RULES } from './simulated-rules.ts'

const COUNTED = ['callwatch_minutes_corrections_total', ...exactFamilies, ...observedFamilies]

/** Compares what the daemon counted, observed and said with what happened, and writes down what differs. */
export async function compareRun(run: Run): Promise<void> {
  const { service, report, watched, clock } = run
  if (watched === undefined) throw new Error('the run has no target')
  report.reached = service.world.reached
  const problems = [
    ...(await exactProblems(run, watched)),
    ...(run.isCalm ? observedProblems(run, watched) : []),
    ...alertProblems(run),
    ...replayProblems(run),
  ]
  const { lastGood } = watched.ledger.facts
  if (lastGood === undefined || clock.wall() - lastGood > 300) problems.push(`the last good look was at ${lastGood}`)
  if ((await run.store.countOutbox()).size > 0) problems.push('messages were left in the outbox')
  report.differences.push(...problems)
}

async function exactProblems({ service, store, clock }: Run, watched: WatchedTarget): Promise<string[]> {
  const { ledger: events } = service.world
  const aside = new Set(Object.values(setAside(events)).flat())
  const { created } = watched.ledger.facts
  const expected = truth(events, { created, baseline: 'skip', now: clock.wall(), except: aside })
  const actual = lessCorrections(exportedSeries(watched, COUNTED))
  const rows = new Map<string, TrackedCall>()
  for (const { call } of await store.finishedCalls({ since: 0, limit: 1e9 })) rows.set(call.id, call)
  for (const call of watched.ledger.calls.values()) rows.set(call.id, call)
  for (const id of aside) {
    const call = rows.get(id)
    if (call === undefined) continue
    for (const [series, value] of contribution(call)) actual.set(series, (actual.get(series) ?? 0) - value)
  }
  const families = exactFamilies.filter((family) => aside.size === 0 || !FAMILIES_OBSERVED_ONCE.includes(family))
  return difference(lessCorrections(expected), actual, families).map(
    ({ series, expected: happened, actual: counted }) => `${series}: ${happened} happened, ${counted} counted`,
  )
}

function observedProblems({ service, lookback, cycles }: Run, watched: WatchedTarget): string[] {
  const { created } = watched.ledger.facts
  const expected = replay(service.recorder.responses, { created, baseline: 'skip', lookback, cycles })
  return difference(expected, exportedSeries(watched, COUNTED), observedFamilies).map(
    ({ series, expected: replayed, actual }) => `${series}: ${replayed} replayed, ${actual} counted`,
  )
}

/** The same history gives the same verdicts whether it is judged live or afterwards, through every restart. */
function replayProblems({ history }: Run): string[] {
  const options = { target: 'simulated', rules: RULES, interval: INTERVAL, monthOf }
  const line = ({ kind, key, at, value, peak }: Notification) => `${kind} ${key} at ${at}: ${value}, ${peak}`
  const [live, replayed] = [history.said.map(line), replayRules(history, options).said.map(line)]
  const first = live.findIndex((said, i) => said !== replayed[i])
  if (first === -1 && live.length === replayed.length) return []
  return [`replayed, "${replayed[Math.max(0, first)]}" stands where "${live[Math.max(0, first)]}" was said`]
}

function alertProblems({ oracle, slack, report, isCalm }: Run): string[] {
  report.notifications = slack.accepted.length
  const problems: string[] = []
  const failures = told(slack.accepted, 'HighFailureRate')
  if (isCalm && failures.again > 0) problems.push('a message came twice though the process never died')
  const said = oracle.said()
  const implied = said.map((kind) => (kind === 'firing' ? 'firing' : 'end'))
  const isSame = isCalm
    ? failures.changes.join() === implied.join()
    : // What a dying process may have told is counted again by the next one.
      failures.changes.length >= implied.length && failures.changes.at(-1) === implied.at(-1)
  if (!isSame || (failures.lastKind ?? said.at(-1)) !== said.at(-1)) {
    problems.push(`the rule implies ${said.join()}, the channel got ${failures.changes.join()} (${failures.lastKind})`)
  }
  const blind = told(slack.accepted, 'NoGoodPoll').changes
  if (blind.some((change, i) => change !== (i % 2 === 0 ? 'firing' : 'end')))
    problems.push(`NoGoodPoll said ${blind.join()}`)
  return problems
}

/** The changes of one alert that the channel was told of, those that it got as a number included. */
function told(messages: readonly AlertMessage[], alert: string) {
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
  for (const { alerts, passed } of messages) {
    for (const { notification, times, over } of passed) {
      if (notification.alert !== alert || !isNew(`passed ${over}`)) continue
      cycles(times)
      // How it ended, a note in passing does not say.
      lastKind = undefined
    }
    for (const { notification, cameAndWent } of alerts) {
      if (notification.alert !== alert || !isNew(`${notification.kind} ${notification.at}`)) continue
      cycles(cameAndWent)
      const change = notification.kind === 'firing' ? 'firing' : 'end'
      if (change !== changes.at(-1)) changes.push(change)
      lastKind = notification.kind
    }
  }
  return { changes, again, lastKind }
}
