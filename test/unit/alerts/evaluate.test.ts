import { describe, expect, test } from 'vitest'
import { evaluate } from '../../../src/alerts/evaluate.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { labelled, times } from './sample-calls.ts'
import { POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { at, finishedAt, INTERVAL, poll, pollAt, evaluatedTarget } from './evaluated-target.ts'

describe('a failure ratio', () => {
  test('of no calls has no verdict, even without min_calls', () => {
    const target = evaluatedTarget([{ ...RATIO, signal: { ...RATIO.signal, minCalls: 0 }, threshold: 0, clear: 0 }])
    target.poll(at(0), 0, 0)
    expect(target.state()).toBe('inactive')
    target.poll(at(15), 1, 1)
    expect(target.state()).toBe('firing')
    target.poll(at(30), 0, 0)
    expect(target.instances.get(RATIO.name)).toMatchObject({ state: 'firing', value: 1, peak: 1, tooFewSince: at(30) })
  })

  test.each([
    ['any', 0.6],
    ['unanswered', 0.3],
    ['rejected', 0.2],
    ['canceled', 0.1],
  ] as const)('for the reason %s is %d', (reason, value) => {
    const rule: Rule = { ...RATIO, signal: { ...RATIO.signal, reason, minCalls: 1 }, threshold: 0.05, clear: 0.05 }
    const finished = finishedAt(at(0), { unanswered: 3, rejected: 2, canceled: 1, ended: 3, other: 1 })
    const target = evaluatedTarget([rule])
    target.evaluate(pollAt(at(0), { finished }), at(0))
    expect(target.notifications).toMatchObject([{ signal: { reason }, value, counts: { total: 10, other: 1 } }])
  })
})

describe('a reload of the rules', () => {
  test('that removes a rule closes what fired, and drops what was pending without a notification', () => {
    const target = evaluatedTarget([RATIO, { ...RATIO, name: 'Slow', for: 600 }, POLL_AGE])
    target.poll(at(0), 10)
    expect([target.state(), target.state('Slow')]).toEqual(['firing', 'pending'])
    target.reload([POLL_AGE])
    target.tick(at(15), 15)
    expect(target.instances.size).toBe(0)
    expect(target.notifications.slice(1)).toMatchObject([
      { kind: 'expired', expiredBecause: 'rule removed', alert: RATIO.name, value: 0.5, peak: 0.5, at: at(15) },
    ])
    target.tick(at(30), 30)
    expect(target.notifications).toHaveLength(2)
  })

  test('that edits a rule keeps its incident, and notifies with the new rule', () => {
    const target = evaluatedTarget([RATIO])
    target.poll(at(0), 14)
    target.reload([{ ...RATIO, threshold: 0.8, clear: 0.6, severity: 'critical', description: 'edited' }])
    target.poll(at(15), 11)
    expect(target.notifications.slice(1)).toMatchObject([
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
  test('has what explains the value, and the instance has it from then on, of each poll that brought a value', () => {
    const target = evaluatedTarget([RATIO])
    const poll = (seconds: number, failing: 'audio' | 'video', number = 10) => {
      const went = times(number, at(seconds - 1), 'ended', labelled(failing === 'audio' ? 'video' : 'audio'))
      const finished = [...times(number, at(seconds - 1), 'rejected', labelled(failing)), ...went]
      target.evaluate(pollAt(at(seconds), { finished }), at(seconds))
      return target.instances.values().toArray()[0]!
    }
    expect(poll(0, 'video').evidence).toMatchObject({
      contributor: { value: 'video' },
      window: { from: at(-900), to: at(0) },
    })
    expect(target.notifications[0]).toMatchObject({
      contributor: { value: 'video' },
      window: { from: at(-900), to: at(0) },
    })
    expect(poll(15, 'audio').evidence).toMatchObject({ contributor: { value: 'audio' }, window: { to: at(15) } })
    // The history has all calls since the first that made it fire.
    expect(target.instances.values().toArray()[0]!.measuredFrom).toBe(at(-900))
    // Too few calls: the value is the one before, and so is what explains it.
    expect(poll(30, 'video', 2)).toMatchObject({ value: 0.5, evidence: { contributor: { value: 'audio' } } })
  })

  test('of the age of the last poll has the cause that polls fail for', () => {
    const target = evaluatedTarget([POLL_AGE])
    target.evaluate({ kind: 'tick', pollAge: 400, cause: 'the service answered 401' }, at(0))
    target.evaluate({ kind: 'tick', pollAge: 415 }, at(15))
    expect(target.notifications).toMatchObject([{ kind: 'firing', cause: 'the service answered 401' }])
    expect(target.instances.values().toArray()[0]).toMatchObject({ evidence: {} })
    expect(target.instances.values().toArray()[0]!.evidence!.cause).toBeUndefined()
  })

  test('of failed requests has the code of most of them as its cause, and not what the last poll has come to', () => {
    const rule = ruleOn({ name: 'request_errors', window: 900, minRequests: 20 }, { name: 'ServiceErrors' })
    const target = evaluatedTarget([rule])
    const recent = { requests: () => ({ all: 40, wrong: 20, code: '503' }) }
    const cause = 'the list is being read: 3 of 9 pages so far'
    target.evaluate({ kind: 'tick', pollAge: 4, lastPoll: at(-4), cause, recent }, at(0))
    const because = 'the calls service answered 503'
    expect(target.notifications).toMatchObject([{ kind: 'firing', isQuiet: false, cause: because }])
    expect(target.notifications[0]).not.toHaveProperty('lastPoll')
  })

  test('of a resolved alert has the value now, the peak, and from when to when it fired', () => {
    const target = evaluatedTarget([{ ...RATIO, for: 15 }])
    for (const [i, failed] of [8, 10, 18, 9, 3].entries()) target.poll(at(i * INTERVAL), failed)
    expect(target.notifications[1]).toMatchObject({
      kind: 'resolved',
      value: 0.15,
      counts: { rejected: 3, ended: 17 },
      peak: 0.9,
      since: at(0),
      firingSince: at(15),
      at: at(60),
    })
  })

  test('has all that the rule says, and no more', () => {
    const target = evaluatedTarget([{ ...RATIO, runbookUrl: 'https://runbook.test/', description: 'Poll at {value}' }])
    target.poll(at(0), 10)
    expect(target.notifications).toEqual([
      {
        kind: 'firing',
        target: 'production',
        key: 'HighFailureRate',
        alert: 'HighFailureRate',
        severity: 'warning',
        labels: {},
        signal: { name: 'failure_ratio', reason: 'any', window: 900, minCalls: 20 },
        match: {},
        breach: 'above',
        value: 0.5,
        threshold: 0.3,
        clear: 0.2,
        by: [],
        for: 0,
        keepFiringFor: 0,
        repeat: 0,
        calls: 20,
        counts: { ended: 10, unanswered: 0, rejected: 10, canceled: 0, other: 0, total: 20 },
        since: at(0),
        firingSince: at(0),
        peak: 0.5,
        at: at(0),
        window: { from: at(-900), to: at(0) },
        trend: [null, null, null, null, null, null, null, 0.5],
        runbookUrl: 'https://runbook.test/',
        description: 'Poll at {value}',
      },
    ])
  })
})

test('each rule is evaluated by itself', () => {
  const target = evaluatedTarget([RATIO, { ...RATIO, name: 'Worse', threshold: 0.5, clear: 0.4 }])
  target.poll(at(0), 8)
  expect([target.state(), target.state('Worse')]).toEqual(['firing', 'inactive'])
  target.poll(at(15), 12)
  target.poll(at(30), 7)
  expect(target.notifications.map(({ kind, alert }) => `${alert} ${kind}`)).toEqual([
    'HighFailureRate firing',
    'Worse firing',
    'Worse resolved',
  ])
})

test('an evaluation changes nothing by itself: the same state and trigger give the same delta', () => {
  const target = evaluatedTarget([RATIO, POLL_AGE, { ...RATIO, name: 'Removed' }])
  target.poll(at(0), 10)
  const rules: Rule[] = [RATIO, POLL_AGE].map((rule) => Object.freeze({ ...rule }))
  for (const instance of target.instances.values()) Object.freeze(instance)
  const before = structuredClone(target.instances)
  const trigger = poll(at(15), 2, 20)
  const options = { target: 'production', rules, now: at(15), interval: INTERVAL }
  const delta = evaluate(target.instances, trigger, options)
  expect(target.instances).toEqual(before)
  expect(evaluate(target.instances, trigger, options)).toEqual(delta)
  expect(delta.ended.map(({ rule }) => rule.name)).toEqual([RATIO.name, 'Removed'])
})

test('an alert is released a window after `only_if` holds no longer, and resolved at once when the value is cleared', () => {
  const week = 7 * 86_400
  const rule = ruleOn(
    { name: 'calls_finished', window: 900, timezone: 'UTC' },
    { breach: 'below', threshold: 1, onlyIf: { offset: week, atLeast: 5 } },
  )
  // A week ago, calls ended until ten minutes after the start.
  const before = Array.from({ length: 20 }, (_, n) => finishedAt(at(n * 60 - 600 - week), { ended: 1 })).flat()
  const run = (now: number) => {
    const target = evaluatedTarget([rule])
    for (let time = 0; time <= 3600; time += INTERVAL) {
      const finished = [...before, ...(time >= now ? finishedAt(at(now), { ended: 1 }) : [])]
      target.evaluate(pollAt(at(time), { finished, previousSuccess: at(time - INTERVAL) }), at(time))
    }
    return target.notifications.map(({ kind, at: sent, expiredBecause }) => [kind, (sent - at(0)) / 60, expiredBecause])
  }
  // Five calls are in the window of a week ago until the 20th minute.
  expect(run(Infinity)).toEqual([['firing', 0, undefined], ['expired', 35.25, 'too few calls']]) // oxfmt-ignore
  expect(run(25 * 60)).toEqual([['firing', 0, undefined], ['resolved', 25, undefined]]) // oxfmt-ignore
})
