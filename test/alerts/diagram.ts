import { concatMap, map, scan, share, timestamp, type Timestamp } from 'rxjs'
import { TestScheduler } from 'rxjs/testing'
import { expect } from 'vitest'
import type { AlertInstance, Change } from '../../src/alerts/alert-instance.ts'
import { evaluate, type AlertDelta } from '../../src/alerts/evaluate.ts'
import type { Occasion } from '../../src/alerts/reading.ts'
import type { Rule } from '../../src/alerts/rule.ts'
import { openSince } from './sample-calls.ts'
import { at, finishedAt, INTERVAL, lookAt, monthOf, stored } from './watched.ts'

const STATES = { inactive: 'i', pending: 'p', firing: 'f', recovering: 'r' }
const SAID: Record<Change, string> = { firing: 'F', reminder: 'M', resolved: 'R', closed: 'C' }

/** What a rule's alert was, is, and what has just been said of it. */
type Judged = { instances: ReadonlyMap<string, AlertInstance>; said: AlertDelta['notifications']; lookedAt: number }

/**
 * Expects of a rule the life that three lines of marbles draw, one frame an interval. callwatch is restarted before
 * every frame, which must make no difference.
 *
 * - `seen`: what the rule is judged by. `0` to `9`: a look after which so many tenths of 20 calls had failed, and so
 *   many calls were open; `x`: a look at three calls, which all failed; `o`: a look at a list of which the service did
 *   not show all, without calls; `t`: a tick, because the poll failed; `-`: nothing, because callwatch did not run
 * - `state`: inactive, pending, firing, recovering
 * - `said`: Firing, reMinder, Resolved, Closed
 */
export function expectLife(rule: Rule, { seen, state, said }: Record<'seen' | 'state' | 'said', string>): void {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected))
  scheduler.run(({ hot, expectObservable }) => {
    const atRest: Judged = { instances: new Map(), said: [], lookedAt: at(0) }
    const judged$ = hot(seen).pipe(
      timestamp(scheduler),
      scan((before, marble) => judge(rule, before, marble), atRest),
      share(),
    )
    const state$ = judged$.pipe(map(({ instances }) => STATES[instances.get(rule.name)?.state ?? 'inactive']))
    const said$ = judged$.pipe(concatMap((judged) => judged.said.map(({ kind }) => SAID[kind])))
    expectObservable(state$).toBe(state)
    expectObservable(said$).toBe(said)
  })
}

function judge(rule: Rule, { instances, lookedAt }: Judged, { value, timestamp: frame }: Timestamp<string>): Judged {
  const now = at(frame * INTERVAL)
  const occasion = occasionOf(value, now, lookedAt)
  const restarted = new Map([...instances].map(([key, instance]) => [key, stored(instance)]))
  const options = { target: 'production', rules: [rule], now, interval: INTERVAL, monthOf }
  const { changed, ended, notifications } = evaluate(restarted, occasion, options)
  for (const instance of changed) restarted.set(instance.key, instance)
  for (const { key } of ended) restarted.delete(key)
  return { instances: restarted, said: notifications, lookedAt: occasion.kind === 'look' ? now : lookedAt }
}

function occasionOf(marble: string, now: number, lookedAt: number): Occasion {
  if (marble === 't') return { kind: 'tick', pollAge: now - lookedAt }
  if (marble === 'o') return lookAt(now, { limited: true })
  if (marble === 'x') return lookAt(now, { finished: finishedAt(now, { rejected: 3 }) })
  const tenths = Number(marble)
  return lookAt(now, {
    finished: finishedAt(now, { rejected: 2 * tenths, ended: 20 - 2 * tenths }),
    open: Array.from({ length: tenths }, () => openSince(now - 60)),
  })
}
