import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { LiveAlert } from '../../../src/alerts/alert.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { alertmanagerPost } from '../../../src/notifications/receivers/alertmanager/alertmanager-refresh.ts'
import { alertmanagerAlert } from '../../../src/notifications/receivers/alertmanager/alertmanager-alert.ts'
import {
  missingPrograms,
  startAlertmanager,
} from '../../kit/notifications/receivers/alertmanager/alertmanager-process.ts'
import { runningTime } from '../../kit/running-time.ts'
import { changeOf, liveAlert, ruleNamed, sending, type Named } from '../../kit/notifications/delivery/sending.ts'

const [WAIT, INTERVAL] = [2, 12]
const WARNING = { name: 'HighFailureRate' }
const CRITICAL = { name: 'VeryHighFailureRate', severity: 'critical' as const }
const RULES = [ruleNamed(WARNING.name, 'warning'), ruleNamed(CRITICAL.name, 'critical')]

/** An incident on forty targets, in seconds: it grows, becomes critical, ends on most targets and then on all. */
const TARGETS = 40
const begins = (n: number) => (n < 4 ? 0 : 4 + Math.floor((n - 4) / 4))
const becomesCritical = (n: number) => begins(n) + 3
const ends = (n: number) => (n < 25 ? 24 : 38)
const RESTARTS_AT = 18
const OVER_AT = 46

/** What happens in a second. */
function changesAt(second: number): { alert: Named; fires: boolean }[] {
  return Array.from({ length: TARGETS }, (_, n) => {
    const [warning, critical] = [WARNING, CRITICAL].map((rule) => ({ ...rule, target: `target ${n}` }))
    return [
      ...(second === begins(n) ? [{ alert: warning!, fires: true }] : []),
      ...(second === becomesCritical(n) ? [{ alert: critical!, fires: true }] : []),
      ...(second === ends(n) ? [warning!, critical!].map((alert) => ({ alert, fires: false })) : []),
    ]
  }).flat()
}

/** What a reader knows after a message: when it was sent, on how many targets something fires, and on how many critical alerts. */
type Said = { at: number; targets: number; critical: number }

/** What there is to say, in the order in which it happens. */
const FACTS: [string, (said: Said) => boolean][] = [
  ['it fires', ({ targets }) => targets > 0],
  ['it is critical', ({ critical }) => critical > 0],
  ['it fires on twice as many targets', ({ targets }) => targets >= 8],
  ['it fires on all targets', ({ targets }) => targets === TARGETS],
  ['it has ended on some', ({ at, targets }) => at >= ends(0) && targets < TARGETS],
  ['it is over', ({ at, targets }) => at >= ends(TARGETS) && targets === 0],
]

/** On how many targets something fires. */
const firingAt = (second: number) =>
  Array.from({ length: TARGETS }, (_, n) => n).filter((n) => begins(n) <= second && second < ends(n)).length

async function callwatch(): Promise<Said[]> {
  const said: Said[] = []
  let second = 0
  const options = {
    groupBy: ['alert', 'severity'] as const,
    groupWait: WAIT,
    groupInterval: INTERVAL,
    targets: TARGETS,
  }
  const run = sending({
    ...options,
    rules: RULES,
    receive: (message) => {
      if (message.kind !== 'alerts') return undefined
      const { targets, firing = [] } = message.incident ?? {}
      const critical = new Set(firing.flatMap(({ severity, target }) => (severity === 'critical' ? target : [])))
      said.push({ at: second, targets: targets?.firing ?? 0, critical: critical.size })
      return undefined
    },
  })
  for (; second < OVER_AT; second += 1) {
    for (const { alert, fires } of changesAt(second)) await (fires ? run.fire(alert) : run.resolve(alert))
    if (second === RESTARTS_AT) run.restart()
    await run.clock.advance(1)
  }
  return said
}

async function alertmanager(): Promise<Said[]> {
  const route = { group_by: ['alertname'], group_wait: `${WAIT}s`, group_interval: `${INTERVAL}s` }
  let running = await startAlertmanager({ route })
  const begun = performance.now()
  const said: Said[] = []
  const known = { [WARNING.name]: 0, [CRITICAL.name]: 0 }
  const heard = () => {
    for (const { groupLabels, alerts } of running.notifications.splice(0)) {
      known[groupLabels['alertname']!] = alerts.filter(({ status }) => status === 'firing').length
      const [warning, critical] = [known[WARNING.name]!, known[CRITICAL.name]!]
      said.push({ at: (performance.now() - begun) / 1000, targets: Math.max(warning, critical), critical })
    }
  }
  const live = new Map<string, LiveAlert>()
  for (let second = 0; second < OVER_AT; second += 1) {
    const ended: LiveAlert[] = []
    for (const { alert, fires } of changesAt(second)) {
      const name = `${alert.target} ${alert.name}`
      if (fires) live.set(name, liveAlert(alert, changeOf(alert, 'firing', systemClock.wall())))
      else {
        ended.push(live.get(name)!)
        live.delete(name)
      }
    }
    if (second === RESTARTS_AT) {
      await running.stop()
      heard()
      running = await startAlertmanager({ route, folder: running.folder })
    }
    const now = systemClock.wall()
    const post = alertmanagerPost({ url: running.url, clock: systemClock })
    // As Prometheus does it: what fires again and again, what ended until it is known.
    await post([
      ...[...live.values()].map((one) => alertmanagerAlert(one, { now, endsAt: now + 60 })),
      ...ended.map((one) => alertmanagerAlert(one, { now, endsAt: now })),
    ])
    while (performance.now() - begun < (second + 1) * 1000) {
      await sleep(20)
      heard()
    }
  }
  await vi.waitFor(() => {
    heard()
    expect(said.at(-1)?.targets).toBe(0)
  }, 60_000)
  return said
}

test('callwatch says nothing of an incident later than Alertmanager', async (context) => {
  if (missingPrograms.length > 0 && process.env['CI'] !== 'true')
    context.skip('apt-get install prometheus-alertmanager')
  vi.stubEnv('no_proxy', '127.0.0.1')
  const own = await callwatch()
  const [begun, ran] = [performance.now(), runningTime()]
  const theirs = await alertmanager()
  const stood = (performance.now() - begun) / 1000 - ran()
  const learned = FACTS.map(([fact, holds]) => {
    const [mine, other] = [own, theirs].map((all) => Math.floor(all.find(holds)?.at ?? Infinity))
    return { fact, callwatch: mine!, alertmanager: other! }
  })
  // What is worse is told a second after the beginning, and the interval begins anew with it.
  expect(learned.filter((each) => each.callwatch > each.alertmanager + 1)).toEqual([])
  expect(learned.filter((each) => !Number.isFinite(each.callwatch))).toEqual([])
  expect(own.map(({ targets }) => targets)).toEqual(own.map(({ at }) => firingAt(at)))
  // Of each of its two groups, Alertmanager says less for an interval in which the machine stood still.
  expect(own.length).toBeLessThan(theirs.length + Math.round((2 * stood) / INTERVAL))
})
