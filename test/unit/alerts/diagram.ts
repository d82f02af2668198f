import { concatMap, map, scan, share, timestamp, type Timestamp } from 'rxjs'
import { TestScheduler } from 'rxjs/testing'
import { expect } from 'vitest'
import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { Change } from '../../../src/alerts/signal.ts'
import { evaluate, type AlertDelta } from '../../../src/alerts/evaluate.ts'
import type { Trigger } from '../../../src/alerts/trigger.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { openSince } from './sample-calls.ts'
import { at, finishedAt, INTERVAL, pollAt, stored } from './evaluated-target.ts'

const STATES = { inactive: 'i', pending: 'p', firing: 'f', recovering: 'r' }
const CHANGES: Record<Change, string> = { firing: 'F', resolved: 'R', expired: 'X' }

/** A rule's alerts, and the notifications of the last evaluation. */
type State = { instances: ReadonlyMap<string, AlertInstance>; sent: AlertDelta['notifications']; polledAt: number }

/**
 * Expects of a rule the lifecycle that three lines of marbles draw, one frame an interval. callwatch is restarted
 * before every frame, which must make no difference.
 *
 * - `seen`: what the rule is evaluated on. `0` to `9`: a poll after which so many tenths of 20 calls had failed, and so
 *   many calls were open; `x`: a poll at three calls, which all failed; `o`: a poll at a list of which the service did
 *   not show all, without calls; `t`: a tick, because the poll failed; `-`: nothing, because callwatch did not run
 * - `state`: inactive, pending, firing, recovering
 * - `sent`: Firing, Resolved, eXpired
 */
export function expectLifecycle(rule: Rule, { seen, state, sent }: Record<'seen' | 'state' | 'sent', string>): void {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected))
  scheduler.run(({ hot, expectObservable }) => {
    const atRest: State = { instances: new Map(), sent: [], polledAt: at(0) }
    const evaluated$ = hot(seen).pipe(
      timestamp(scheduler),
      scan((before, marble) => evaluateAt(rule, before, marble), atRest),
      share(),
    )
    const state$ = evaluated$.pipe(map(({ instances }) => STATES[instances.get(rule.name)?.state ?? 'inactive']))
    const sent$ = evaluated$.pipe(concatMap((evaluated) => evaluated.sent.map(({ kind }) => CHANGES[kind])))
    expectObservable(state$).toBe(state)
    expectObservable(sent$).toBe(sent)
  })
}

function evaluateAt(rule: Rule, { instances, polledAt }: State, { value, timestamp: frame }: Timestamp<string>): State {
  const now = at(frame * INTERVAL)
  const trigger = triggerOf(value, now, polledAt)
  const restarted = new Map([...instances].map(([key, instance]) => [key, stored(instance)]))
  const options = { target: 'production', rules: [rule], now, interval: INTERVAL }
  const { changed, ended, notifications } = evaluate(restarted, trigger, options)
  for (const instance of changed) restarted.set(instance.key, instance)
  for (const { key } of ended) restarted.delete(key)
  return { instances: restarted, sent: notifications, polledAt: trigger.kind === 'poll' ? now : polledAt }
}

function triggerOf(marble: string, now: number, polledAt: number): Trigger {
  if (marble === 't') return { kind: 'tick', pollAge: now - polledAt }
  const previousSuccess = polledAt
  if (marble === 'o') return pollAt(now, { previousSuccess, limited: true })
  if (marble === 'x') return pollAt(now, { previousSuccess, finished: finishedAt(now, { rejected: 3 }) })
  const tenths = Number(marble)
  return pollAt(now, {
    previousSuccess,
    finished: finishedAt(now, { rejected: 2 * tenths, ended: 20 - 2 * tenths }),
    open: Array.from({ length: tenths }, () => openSince(now - 60)),
  })
}
