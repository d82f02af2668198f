import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AlertInstance } from '../../src/alerts/alert-instance.ts'
import { evaluate } from '../../src/alerts/evaluate.ts'
import type { FailureRatioRule, Rule } from '../../src/alerts/rule.ts'
import { finishedAt, INTERVAL, look, POLL_AGE, RATIO, START, watched } from './watched.ts'

const at = (seconds: number) => START + seconds

describe('a failure ratio', () => {
  test.each([
    [6, 20, 'inactive', 'at the threshold'],
    [7, 20, 'firing', 'above it'],
    [19, 19, 'inactive', 'above it, of too few calls'],
    [0, 0, 'inactive', 'of no calls'],
  ])('of %d in %d calls is %s: %s', (failed, total, state) => {
    const target = watched([RATIO])
    target.look(at(0), failed, total)
    expect(target.state()).toBe(state)
  })

  test('of no calls has no verdict, even where no least number is asked for', () => {
    const target = watched([{ ...RATIO, minCalls: 0, above: 0, clear: 0 }])
    target.look(at(0), 0, 0)
    expect(target.state()).toBe('inactive')
    target.look(at(15), 1, 1)
    expect(target.state()).toBe('firing')
    target.look(at(30), 0, 0)
    expect(target.instances.get(RATIO.name)).toMatchObject({ state: 'firing', value: 1, peak: 1, tooFewSince: at(30) })
  })

  test.each([
    ['any', 0.6],
    ['unanswered', 0.3],
    ['rejected', 0.2],
    ['canceled', 0.1],
  ] as const)('for the reason %s is %d', (reason, value) => {
    const rule: FailureRatioRule = { ...RATIO, reason, above: 0.05, clear: 0.05, minCalls: 1 }
    const finished = finishedAt(at(0), { unanswered: 3, rejected: 2, canceled: 1, ended: 3, other: 1 })
    const target = watched([rule])
    target.evaluate({ kind: 'look', finished, judged: { now: at(0), previousGood: undefined }, pollAge: 0 }, at(0))
    expect(target.said).toMatchObject([{ reason, value, counts: { total: 10, other: 1 } }])
  })

  test('is of the calls in its window, which reaches back to the last good look', () => {
    const finished = [...finishedAt(at(-1000), { rejected: 20 }), ...finishedAt(at(-10), { ended: 20 })]
    const judge = (previousGood: number | undefined) => {
      const target = watched([RATIO])
      target.evaluate({ kind: 'look', finished, judged: { now: at(0), previousGood }, pollAge: 0 }, at(0))
      return target.state()
    }
    expect(judge(undefined)).toBe('inactive')
    expect(judge(at(-15))).toBe('inactive')
    expect(judge(at(-1000))).toBe('firing')
  })
})

const LASTING = { ...RATIO, for: 60 }

/** The state after 20 looks at a breach, so many seconds apart. */
function stateAfter20Looks(gap: number): string {
  const target = watched([LASTING])
  for (let i = 0; i < 20; i++) target.look(at(i * gap), 10)
  return target.state()
}

describe('an alert that must last', () => {
  test('is pending until its evaluations have seen the breach for long enough', () => {
    const target = watched([LASTING])
    const states = [0, 15, 30, 45, 60, 75].map((seconds) => {
      target.look(at(seconds), 10)
      return target.state()
    })
    expect(states).toEqual(['pending', 'pending', 'pending', 'pending', 'firing', 'firing'])
    expect(target.said).toMatchObject([{ kind: 'firing', since: at(0), firingSince: at(60), at: at(60) }])
  })

  test('begins anew after one evaluation without the breach', () => {
    const target = watched([LASTING])
    for (const seconds of [0, 15, 30, 45]) target.look(at(seconds), 10)
    target.look(at(60), 6)
    expect(target.state()).toBe('inactive')
    for (const seconds of [75, 90, 105, 120]) target.look(at(seconds), 10)
    expect(target.state()).toBe('pending')
    target.look(at(135), 10)
    expect(target.said).toMatchObject([{ kind: 'firing', since: at(75) }])
  })

  test('goes back to inactive without a word when there are too few calls', () => {
    const target = watched([LASTING])
    target.look(at(0), 10)
    target.look(at(15), 19, 19)
    expect([target.state(), target.said]).toEqual(['inactive', []])
  })

  test('counts the time between evaluations at most three intervals apart, and no other', () => {
    expect(stateAfter20Looks(3 * INTERVAL)).toBe('firing')
    expect(stateAfter20Looks(3 * INTERVAL + 1)).toBe('pending')
  })

  test('keeps what was credited before a gap', () => {
    const target = watched([LASTING])
    for (const seconds of [0, 15, 30, 45]) target.look(at(seconds), 10)
    target.look(at(10_000), 10)
    expect(target.state()).toBe('pending')
    target.look(at(10_015), 10)
    expect(target.state()).toBe('firing')
  })

  test.each([-86_400, 86_400])('a wall clock that steps by %d s credits nothing', (step) => {
    const target = watched([LASTING])
    target.look(at(0), 10)
    target.look(at(step), 10)
    for (const seconds of [15, 30, 45]) target.look(at(step + seconds), 10)
    expect(target.state()).toBe('pending')
    target.look(at(step + 60), 10)
    expect(target.state()).toBe('firing')
  })

  test('ticks and failed polls neither reset nor advance', () => {
    const target = watched([LASTING, POLL_AGE])
    target.look(at(0), 10)
    const before = target.instances.get(RATIO.name)
    for (const seconds of [15, 30]) target.tick(at(seconds), seconds)
    expect(target.instances.get(RATIO.name)).toBe(before)
    target.look(at(40), 10)
    expect(target.instances.get(RATIO.name)).toMatchObject({ state: 'pending', credited: 40 })
  })
})

describe('an alert that fires', () => {
  test('resolves only once back at or below `clear`, and tells peak and value', () => {
    const target = watched([RATIO])
    for (const [i, failed] of [10, 14, 6, 5, 4].entries()) target.look(at(i * 15), failed)
    expect(target.state()).toBe('inactive')
    expect(target.said).toMatchObject([
      { kind: 'firing', value: 0.5, threshold: 0.3, peak: 0.5, at: at(0) },
      { kind: 'resolved', value: 0.2, threshold: 0.2, peak: 0.7, firingSince: at(0), at: at(60) },
    ])
    expect(target.said[1]!.counts).toMatchObject({ rejected: 4, ended: 16, total: 20 })
  })

  test('speaks once, however long it fires', () => {
    const target = watched([RATIO])
    for (let i = 0; i < 10; i++) target.look(at(i * 15), 10)
    expect(target.kinds()).toEqual(['firing'])
    expect(target.instances.get(RATIO.name)).toMatchObject({ since: at(0), firingSince: at(0), evaluatedAt: at(135) })
  })

  test('does not end by silence: ticks and failed polls are no data', () => {
    const target = watched([RATIO])
    target.look(at(0), 10)
    for (let i = 1; i < 1000; i++) expect(target.tick(at(i * 15), i * 15).changed).toEqual([])
    expect([target.state(), target.kinds()]).toEqual(['firing', ['firing']])
  })

  test('is kept for one window without enough calls, then closed, which is no resolution', () => {
    const target = watched([RATIO])
    target.look(at(0), 10)
    for (let seconds = 15; seconds < 915; seconds += 15) target.look(at(seconds), 0, 3)
    expect(target.state()).toBe('firing')
    target.look(at(915), 0, 3)
    expect(target.state()).toBe('inactive')
    expect(target.said.slice(1)).toMatchObject([
      { kind: 'closed', closedBecause: 'too few calls', value: 0.5, threshold: 0.3, firingSince: at(0), at: at(915) },
    ])
    expect(target.said[1]!.counts).toMatchObject({ total: 20 })
  })

  test('has a window of looks anew when there were enough calls in between', () => {
    const target = watched([RATIO])
    target.look(at(0), 10)
    for (let seconds = 15; seconds <= 900; seconds += 15) target.look(at(seconds), 0, 3)
    target.look(at(915), 10)
    for (let seconds = 930; seconds < 930 + 900; seconds += 15) target.look(at(seconds), 0, 3)
    expect(target.kinds()).toEqual(['firing'])
    target.look(at(1830), 0, 3)
    expect(target.kinds()).toEqual(['firing', 'closed'])
  })

  test.each([7200, -7200])('is not closed early by %d s in which nobody looked, or the clock stepped', (step) => {
    const target = watched([RATIO])
    target.look(at(0), 10)
    target.look(at(15), 0, 3)
    for (let seconds = 0; seconds < 900; seconds += 15) target.look(at(15 + step + seconds), 0, 3)
    expect(target.state()).toBe('firing')
    target.look(at(15 + step + 900), 0, 3)
    expect(target.kinds()).toEqual(['firing', 'closed'])
  })

  test('may fire again after it ended', () => {
    const target = watched([RATIO])
    for (const [i, failed] of [10, 0, 10, 0].entries()) target.look(at(i * 15), failed)
    expect(target.kinds()).toEqual(['firing', 'resolved', 'firing', 'resolved'])
    expect(target.said[2]).toMatchObject({ since: at(30), peak: 0.5 })
  })
})

describe('the age of the last good poll', () => {
  test('is judged at every tick, and ended by a good look', () => {
    const target = watched([POLL_AGE])
    target.tick(at(300), 300)
    expect(target.state(POLL_AGE.name)).toBe('inactive')
    target.tick(at(315), 315)
    target.tick(at(330), 330)
    expect(target.state(POLL_AGE.name)).toBe('firing')
    target.look(at(345), 0, 0)
    expect(target.said).toMatchObject([
      { kind: 'firing', signal: 'poll_age', value: 315, threshold: 300, at: at(315) },
      { kind: 'resolved', value: 0, threshold: 300, peak: 330, firingSince: at(315), at: at(345) },
    ])
    expect(target.said[0]).not.toHaveProperty('counts')
    expect(target.said[0]).not.toHaveProperty('window')
  })
})

describe('a reload', () => {
  test('that removes a rule closes what fired, and forgets what was pending without a word', () => {
    const target = watched([RATIO, { ...RATIO, name: 'Slow', for: 600 }, POLL_AGE])
    target.look(at(0), 10)
    expect([target.state(), target.state('Slow')]).toEqual(['firing', 'pending'])
    target.reload([POLL_AGE])
    target.tick(at(15), 15)
    expect(target.instances.size).toBe(0)
    expect(target.said.slice(1)).toMatchObject([
      { kind: 'closed', closedBecause: 'rule removed', alert: RATIO.name, value: 0.5, peak: 0.5, at: at(15) },
    ])
    target.tick(at(30), 30)
    expect(target.said).toHaveLength(2)
  })

  test('that edits a rule keeps its incident, and speaks of the rule as it is now', () => {
    const target = watched([RATIO])
    target.look(at(0), 14)
    target.reload([{ ...RATIO, above: 0.8, clear: 0.6, severity: 'critical', description: 'edited' }])
    target.look(at(15), 11)
    expect(target.said.slice(1)).toMatchObject([
      {
        kind: 'resolved',
        value: 0.55,
        threshold: 0.6,
        peak: 0.7,
        severity: 'critical',
        description: 'edited',
      },
    ])
  })
})

describe('a notification', () => {
  test('carries all that the rule says, and no more', () => {
    const target = watched([{ ...RATIO, runbookUrl: 'https://runbook.test/', description: 'Look at {value}' }])
    target.look(at(0), 10)
    expect(target.said).toEqual([
      {
        kind: 'firing',
        target: 'production',
        alert: 'HighFailureRate',
        severity: 'warning',
        signal: 'failure_ratio',
        reason: 'any',
        window: 900,
        value: 0.5,
        threshold: 0.3,
        counts: { ended: 10, unanswered: 0, rejected: 10, canceled: 0, other: 0, total: 20 },
        since: at(0),
        firingSince: at(0),
        peak: 0.5,
        at: at(0),
        runbookUrl: 'https://runbook.test/',
        description: 'Look at {value}',
      },
    ])
  })
})

test('several rules are judged each by itself', () => {
  const target = watched([RATIO, { ...RATIO, name: 'Worse', above: 0.5, clear: 0.4 }])
  target.look(at(0), 8)
  expect([target.state(), target.state('Worse')]).toEqual(['firing', 'inactive'])
  target.look(at(15), 12)
  target.look(at(30), 7)
  expect(target.said.map(({ kind, alert }) => `${alert} ${kind}`)).toEqual([
    'HighFailureRate firing',
    'Worse firing',
    'Worse resolved',
  ])
})

test('evaluating changes nothing by itself: the same state and occasion give the same delta', () => {
  const target = watched([RATIO, POLL_AGE, { ...RATIO, name: 'Removed' }])
  target.look(at(0), 10)
  const rules: Rule[] = [RATIO, POLL_AGE].map((rule) => Object.freeze({ ...rule }))
  for (const instance of target.instances.values()) Object.freeze(instance)
  const before = structuredClone(target.instances)
  const occasion = look(at(15), 2, 20)
  const options = { target: 'production', rules, now: at(15), interval: INTERVAL }
  const delta = evaluate(target.instances, occasion, options)
  expect(target.instances).toEqual(before)
  expect(evaluate(target.instances, occasion, options)).toEqual(delta)
  expect(delta.ended.map(({ rule }) => rule.name)).toEqual([RATIO.name, 'Removed'])
})

test('what is kept survives the store: an instance is the same after JSON', () => {
  const target = watched([{ ...RATIO, for: 30 }])
  const kept: AlertInstance[] = []
  for (const seconds of [0, 15, 30]) {
    kept.push(...target.look(at(seconds), 10).changed)
    for (const [name, instance] of target.instances) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is what was written
      target.instances.set(name, JSON.parse(JSON.stringify(instance)) as AlertInstance)
    }
  }
  expect(kept.map(({ state }) => state)).toEqual(['pending', 'pending', 'firing'])
  target.look(at(45), 0)
  expect(target.kinds()).toEqual(['firing', 'resolved'])
})

describe('whatever is seen, in any order', () => {
  const step = fc.record({
    gap: fc.oneof({ weight: 5, arbitrary: fc.constant(INTERVAL) }, fc.integer({ min: -5000, max: 5000 })),
    occasion: fc.oneof(
      fc.record({ failed: fc.integer({ min: 0, max: 25 }), more: fc.integer({ min: 0, max: 25 }) }),
      fc.record({ pollAge: fc.integer({ min: 0, max: 900 }) }),
    ),
    rules: fc.constantFrom<Rule[]>([RATIO, POLL_AGE], [RATIO, POLL_AGE], [RATIO, POLL_AGE], [POLL_AGE], []),
  })
  const rules = fc.record({ for: fc.constantFrom(0, 30, 120), minCalls: fc.constantFrom(1, 10) })

  test('no alert fires twice in a row, and none ends that did not fire', () => {
    let ends = 0
    fc.assert(
      fc.property(rules, fc.array(step, { maxLength: 80 }), (variant, steps) => {
        const target = watched([])
        let now = START
        for (const { gap, occasion, rules: current } of steps) {
          now += gap
          target.reload(current.map((rule) => ({ ...rule, ...variant })))
          if ('pollAge' in occasion) target.tick(now, occasion.pollAge)
          else target.look(now, occasion.failed, occasion.failed + occasion.more)
        }
        for (const name of [RATIO.name, POLL_AGE.name]) {
          let fires = false
          for (const { kind } of target.said.filter(({ alert }) => alert === name)) {
            expect(kind === 'firing').toBe(!fires)
            fires = kind === 'firing'
            if (!fires) ends += 1
          }
          expect(target.state(name) === 'firing').toBe(fires)
        }
      }),
    )
    expect(ends).toBeGreaterThan(0)
  })
})
