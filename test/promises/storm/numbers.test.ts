import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import { evaluate } from '../../../src/alerts/evaluate.ts'
import { incidentsOf } from '../../../src/alerts/incidents.ts'
import { notificationOf } from '../../../src/alerts/notification.ts'
import { STALE_INTERVALS } from '../../../src/clock/intervals.ts'
import { keptFinishes } from '../../../src/ledger/finished-calls.ts'
import { incidentLines, incidentSentence } from '../../../src/alerts/text/incident-text.ts'
import { resultOf } from '../../../src/alerts/text/alert-text.ts'
import { printProblems } from '../../../src/commands/status/print-status.ts'
import { formatShare } from '../../../src/text/format.ts'
import { stateView } from '../../../src/views/state/state.ts'
import { shownTarget } from '../../kit/web/serve.ts'
import { finishAt, ruleOn } from '../../kit/alerts/sample-rules.ts'

/** 2026-11-20 08:00:00 UTC. */
const START = Date.UTC(2026, 10, 20, 8) / 1000
const [WINDOW, MIN_CALLS, INTERVAL, SECONDS] = [300, 10, 15, 1500]
const RULE = ruleOn(
  { name: 'failure_ratio', reason: 'any', window: WINDOW, minCalls: MIN_CALLS },
  { name: 'High', threshold: 0.3, clear: 0.2, description: 'Calls fail. Of late, {value} of {calls} calls did. Ask.' },
)

/** What is not about calls. */
const STATE = {
  version: '1',
  problem: undefined,
  others: [],
  runbooks: undefined,
  suppressed: () => new Map(),
  receivers: [],
  webhooks: [],
  silences: [],
  readOnly: true,
  canFind: false,
  needsConfig: false,
}

/** A few calls that finish in one second, and when no poll succeeds. */
const anyBurst = fc.record({ at: fc.nat({ max: SECONDS }), failed: fc.nat({ max: 9 }), ended: fc.nat({ max: 9 }) })
const anyOutage = fc.record({ from: fc.nat({ max: SECONDS }), for: fc.integer({ min: 20, max: 300 }) })
const anyTarget = fc.record({
  bursts: fc.array(anyBurst, { minLength: 1, maxLength: 8 }),
  outages: fc.array(anyOutage, { maxLength: 2 }),
  phase: fc.nat({ max: INTERVAL - 1 }),
})
type Target = typeof anyTarget extends fc.Arbitrary<infer T> ? T : never
type Counts = { failed: number; total: number }

/** The calls of the window that ends then, counted one by one. */
function countsAt({ bursts }: Target, second: number): Counts {
  const inWindow = bursts.filter(({ at }) => at <= second && at >= second - WINDOW)
  const failed = inWindow.reduce((sum, one) => sum + one.failed, 0)
  return { failed, total: inWindow.reduce((sum, one) => sum + one.ended, failed) }
}

/** The last poll of a target until a second that had enough calls, and whether a later one had too few. */
const lastEnough = (target: Target, polls: readonly number[], until: number) =>
  polls.findLast((poll) => poll <= until && countsAt(target, poll).total >= MIN_CALLS)

const add = (all: readonly Counts[]) =>
  all.reduce((sum, one) => ({ failed: sum.failed + one.failed, total: sum.total + one.total }), { failed: 0, total: 0 })

const secondOf = (time: string) => Date.parse(`2026-11-20T${time}Z`) / 1000 - START

/** What each text says of calls: how many, of which target, and the time that it gives; undefined: now. */
function claimsIn(texts: readonly string[]) {
  const claims: { text: string; target: string | undefined; share: string; total: number; at: number | undefined }[] =
    []
  for (const text of texts) {
    const since = /since (?:2026-11-20 )?(\d\d:\d\d:\d\d) UTC; before that/.exec(text)?.[1]
    const pattern = /(?:(t\d) )?([\d.]+)% of ([\d,]+) calls?(?: failed in 5 minutes)?(?: at (\d\d:\d\d:\d\d) UTC)?/g
    for (const [, target, share, total, own] of text.matchAll(pattern)) {
      const time = own ?? since
      const at = time === undefined ? undefined : secondOf(time)
      claims.push({
        text,
        target: target ?? /^(?:Recovering: )?(t\d):/.exec(text)?.[1],
        share: share!,
        total: Number(total),
        at,
      })
    }
  }
  return claims
}

/** Plays a storm, and compares each number of each text of each second with the calls. @returns how many claims were about now and before */
function play(targets: readonly Target[]): [now: number, before: number] {
  const live = targets.map(() => new Map<string, AlertInstance>())
  const polls: number[][] = targets.map(() => [])
  const compared: [number, number] = [0, 0]
  for (let second = 0; second < SECONDS; second++) {
    for (const [i, target] of targets.entries()) {
      const isOut = target.outages.some(({ from, for: lasts }) => second >= from && second < from + lasts)
      if (isOut || second % INTERVAL !== target.phase) continue
      const previousSuccess = polls[i]!.at(-1)
      // A window reaches back to the last successful poll: a law of its own.
      if (previousSuccess !== undefined && second - previousSuccess > WINDOW) return compared
      polls[i]!.push(second)
      const calls = target.bursts.flatMap(({ at, failed, ended }) =>
        at > second
          ? []
          : Array.from({ length: failed + ended }, (_, n) => finishAt(START + at, n < failed ? 'rejected' : 'ended')),
      )
      const finished = keptFinishes(calls)
      const earlier = { finished, periods: [], gaps: [] }
      const times = { now: START + second, previousSuccess: previousSuccess && START + previousSuccess, limited: false }
      const poll = {
        kind: 'poll' as const,
        ...times,
        finished,
        earlier,
        usual: [],
        open: [],
        knownFrom: 0,
        created: 0,
        usedSince: () => 0,
      }
      const options = { target: `t${i}`, rules: [RULE], now: START + second, interval: INTERVAL }
      const { changed, ended } = evaluate(live[i]!, poll, options)
      for (const one of changed) live[i]!.set(one.key, one)
      for (const { key } of ended) live[i]!.delete(key)
    }
    const lives = live.flatMap((all, i) => [...all.values()].map((instance) => ({ target: `t${i}`, instance })))
    const now = START + second
    const freshFrom = now - STALE_INTERVALS * INTERVAL
    const groupOf = () => ({ key: '', labels: {} })
    const incidents = incidentsOf(lives, groupOf, targets.length, freshFrom)
    const state = stateView({
      ...STATE,
      now,
      names: targets.map((_, i) => `t${i}`),
      own: live.map((all, i) => shownTarget({ target: `t${i}`, alerts: [...all.values()] })),
      incidents,
      groupOf,
      freshFrom,
    })
    const printed: string[] = []
    printProblems(state, '', (line) => void printed.push(line))
    // Messages have the sentences of the state.
    expect(state.incidents.flatMap(({ summary, details }) => [summary, ...details])).toEqual(
      incidents.flatMap((one) => [incidentSentence(one), ...incidentLines(one)]),
    )
    const texts = [
      ...state.incidents.flatMap(({ summary, details }) => [summary, ...details.map(({ text }) => text)]),
      ...state.alerts.map(({ summary }) => summary),
      ...printed,
    ]
    const fresh = (i: number) =>
      polls[i]!.at(-1)! >= second - STALE_INTERVALS * INTERVAL &&
      countsAt(targets[i]!, polls[i]!.at(-1)!).total >= MIN_CALLS
    const firing = lives.map(({ target }) => Number(target.slice(1)))
    for (const { text, target, share, total, at } of claimsIn(texts)) {
      const of = target === undefined ? firing.filter((i) => at !== undefined || fresh(i)) : [Number(target.slice(1))]
      if (at === undefined) for (const i of of) expect(fresh(i), `${second}: ${text}`).toBe(true)
      const counted = add(of.map((i) => countsAt(targets[i]!, lastEnough(targets[i]!, polls[i]!, at ?? second)!)))
      const exact = { share: formatShare(counted.failed / counted.total).replace('%', ''), total: counted.total }
      expect({ share, total }, `${second}: ${text}`).toEqual(exact)
      compared[at === undefined ? 0 : 1] += 1
    }
    for (const one of lives) {
      const text = resultOf(notificationOf({ kind: 'firing' }, one, now, freshFrom))
      const i = Number(one.target.slice(1))
      const then = /since 2026-11-20 (\d\d:\d\d:\d\d) UTC; before that/.exec(text)?.[1]
      if (then === undefined) expect(fresh(i), `${second}: ${text}`).toBe(true)
      const { failed, total } = countsAt(
        targets[i]!,
        lastEnough(targets[i]!, polls[i]!, then ? secondOf(then) : second)!,
      )
      expect(text).toContain(`${failed} of ${total} call`)
    }
  }
  return compared
}

test('each number of a message, of the state and of `callwatch status` is of now, or has its time, also with few calls and without polls', () => {
  const compared: [number, number] = [0, 0]
  fc.assert(
    fc.property(fc.array(anyTarget, { minLength: 1, maxLength: 3 }), (targets) => {
      const [now, before] = play(targets)
      compared[0] += now
      compared[1] += before
    }),
    { numRuns: 20 },
  )
  // Otherwise the law would hold trivially.
  for (const claims of compared) expect(claims).toBeGreaterThan(500)
})
