import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { setAside } from '../../src/simulator/set-aside.ts'
import { exactFamilies, truth } from '../../src/simulator/truth.ts'
import { exportedSeries } from '../../src/commands/compare-with-truth.ts'
import { difference, lessCorrections } from '../system/truth/exposition.ts'
import { observedFamilies, replay } from '../system/truth/replay.ts'
import { contribution, FAMILIES_OBSERVED_ONCE } from './contribution.ts'
import type { WatchedTarget } from '../../src/web/views.ts'
import type { Run } from './simulate-run.ts'

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

function alertProblems({ oracle, slack, report, isCalm }: Run): string[] {
  report.notifications = slack.accepted.length
  const problems: string[] = []
  const said = slack.accepted.filter(({ alert }) => alert === 'HighFailureRate').map(({ kind, at }) => `${kind} ${at}`)
  // A message may come twice, one after the other, where the process died between the channel's answer and its own note.
  const once = said.filter((message, i) => message !== said[i - 1]).map((message) => message.split(' ')[0])
  if (isCalm && once.length !== said.length) problems.push('a message came twice though the process never died')
  if (once.join() !== oracle.said().join()) {
    problems.push(`the rule implies ${oracle.said().join() || 'nothing'}, the channel got ${once.join() || 'nothing'}`)
  }
  const blind = slack.accepted.filter(({ alert }) => alert === 'NoGoodPoll').map(({ kind, at }) => `${kind} ${at}`)
  const kinds = blind.filter((message, i) => message !== blind[i - 1]).map((message) => message.split(' ')[0])
  if (kinds.some((kind, i) => kind !== (i % 2 === 0 ? 'firing' : 'resolved')))
    problems.push(`NoGoodPoll said ${kinds.join()}`)
  return problems
}
