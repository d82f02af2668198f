import { faultNames } from '../../../src/simulator/answers/faults.ts'
import type { ChaosRun } from './chaos-run.ts'
import { row, type Row } from './promise-rows.ts'

/** A run that never came near its limit of requests says nothing about it. */
const BUSY = 0.5

const WANTED: Record<string, readonly string[]> = {
  'each fault': [...faultNames, 'outage'].map((name) => `fault.${name}`),
  'each order': ['order.newest', 'order.oldest', 'order.shuffled'],
  'turns of events': ['event.vanished', 'event.returned', 'date.offset', 'date.absent', 'odd.unusable', 'odd.fields'],
  kills: ['kill.at_random', 'kill.in_cycle', 'kill.before_commit', 'kill.after_commit', 'kill.after_notification'],
  stops: ['stop.sigterm', 'stop.second_sigterm'],
  'store problems': ['store.full', 'store.locked'],
  'the receiver fails': ['slack.http_500', 'slack.http_429', 'slack.hang'],
  'the second receiver fails': ['on-call.http_500', 'on-call.http_429', 'on-call.hang'],
  'the webhook fails': ['http_500', 'http_429', 'http_404', 'hang', 'reset_after', 'slow'].map(
    (way) => `webhook.${way}`,
  ),
  'messages of each kind': ['message.firing', 'message.end', 'message.Flapping'],
  silences: ['silence.added'],
}

/** Whether everything that must occur has occurred. */
export function isAllCovered(run: ChaosRun): boolean {
  const counts = countsOf(run)
  return Object.values(WANTED).every((wanted) => wanted.every((what) => counts.has(what)))
}

/** What must occur for the run to be meaningful, with how often it did. */
export function coverageRows(run: ChaosRun, busyness: number, hints: number): Row[] {
  const counts = countsOf(run)
  const rows = Object.entries(WANTED).map(([name, wanted]) => {
    const figures = wanted.map((what) => `${what.split('.')[1]} ${counts.get(what) ?? 0}`)
    const missing = wanted.filter((what) => !counts.has(what))
    const details = missing.map((what) => `${what} never occurred: give it more --seconds, or another --seed`)
    return row(name, figures.join(', '), missing.length === 0, details)
  })
  const { sent, lost } = run.simulator.webhooks()
  return [
    ...rows,
    row(
      'webhooks of the service',
      `${sent} sent, ${lost.length} lost, ${hints} taken by the last process`,
      lost.length > 0 && hints > 0,
    ),
    row('requests near their limit', `${(busyness * 100).toFixed(0)} %`, busyness >= BUSY),
  ]
}

function countsOf({ simulator, reached, slack, onCall, webhook }: ChaosRun): Map<string, number> {
  const receivers = [slack, onCall, webhook].flatMap((receiver) => [...receiver.reached])
  const counts = new Map([...Object.entries(simulator.reached()), ...reached, ...receivers])
  for (const { alert, kind } of slack.accepted) {
    for (const name of [kind === 'firing' ? 'message.firing' : 'message.end', `message.${alert}`])
      counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
