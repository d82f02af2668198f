import { describe, expect, test } from 'vitest'
import type { Rule } from '../../../src/alerts/rule.ts'
import { labelsOf } from '../../../src/ledger/call.ts'
import { openSince } from './sample-calls.ts'
import { finishAt, POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { at, finishedAt, INTERVAL, pollAt, evaluatedTarget } from './evaluated-target.ts'

// When alerts change state is drawn in lifecycle.test.ts. This is what their notifications say, what clocks do to them, and
// what no diagram can draw.

/** Fewer than three open calls are a problem, until there are five again. */
const QUIET = ruleOn({ name: 'in_progress' }, { name: 'Quiet', breach: 'below', threshold: 3, clear: 5 })
const REPEATED: Rule = { ...RATIO, repeat: 60 }

/** A target after polls an interval apart, each of which saw so many failures in 20 calls, and so many open calls. */
function polled(rule: Rule, seen: readonly number[]) {
  const target = evaluatedTarget([rule])
  for (const [i, number] of seen.entries()) {
    const now = at(i * INTERVAL)
    const open = Array.from({ length: number }, () => openSince(now - 60))
    target.evaluate(pollAt(now, { open, finished: finishedAt(now, { rejected: number, ended: 20 - number }) }), now)
  }
  return target
}

describe('an alert is notified', () => {
  test('with the peak of the time in which it was pending, and both times', () => {
    expect(polled({ ...QUIET, for: 45 }, [2, 0, 1, 2]).notifications).toMatchObject([
      { kind: 'firing', value: 2, peak: 0, since: at(0), firingSince: at(45) },
    ])
    expect(polled({ ...RATIO, for: 45 }, [10, 6, 10, 10, 10, 10]).notifications).toMatchObject([
      { kind: 'firing', since: at(30), firingSince: at(75), at: at(75) },
    ])
  })

  test('with the lowest value as its peak, where the problem lies below the threshold', () => {
    expect(polled(QUIET, [2, 1, 4, 5]).notifications.at(-1)).toMatchObject({ kind: 'resolved', threshold: 5, peak: 1 })
  })

  test('with the peak and the beginning of before a relapse', () => {
    expect(polled({ ...RATIO, keepFiringFor: 60 }, [10, 0, 14, 8, 0, 0, 0, 0, 0]).notifications.at(-1)).toMatchObject({
      kind: 'resolved',
      value: 0,
      peak: 0.7,
      since: at(0),
      firingSince: at(0),
    })
  })

  test.each<[string, Rule, number]>([
    ['firing', RATIO, 10],
    ['recovering', { ...RATIO, keepFiringFor: 7200 }, 4],
  ])('as expired, with its last verdict, after a window of too few calls while %s', (state, rule, failed) => {
    const target = polled(rule, [10, failed])
    for (let seconds = 30; seconds < 930; seconds += INTERVAL) target.poll(at(seconds), 3, 3)
    expect(target.instances.get(RATIO.name)).toMatchObject({ state, value: failed / 20, peak: 0.5, calls: 20 })
    target.poll(at(930), 3, 3)
    expect(target.notifications.slice(1)).toMatchObject([
      { kind: 'expired', expiredBecause: 'too few calls', value: failed / 20, threshold: 0.3, peak: 0.5, at: at(930) },
    ])
    expect(target.notifications[1]).toMatchObject({ firingSince: at(0), counts: { total: 20 } })
  })
})

describe('a reminder', () => {
  test('at a tick has the time of its value; what is evaluated at ticks has not', () => {
    const target = evaluatedTarget([REPEATED, { ...POLL_AGE, threshold: 60, clear: 60, repeat: 60 }])
    target.poll(at(0), 10)
    for (let seconds = INTERVAL; seconds <= 135; seconds += INTERVAL) target.tick(at(seconds), seconds)
    expect(target.notifications.slice(1).map(({ alert, kind, asOf }) => [alert, kind, asOf])).toEqual([
      ['HighFailureRate', 'reminder', at(0)],
      ['NoGoodPoll', 'firing', undefined],
      ['HighFailureRate', 'reminder', at(0)],
      ['NoGoodPoll', 'reminder', undefined],
    ])
  })

  test('has the value and the peak of now', () => {
    expect(polled(REPEATED, [8, 16, 10, 10, 9]).notifications.at(-1)).toMatchObject({
      kind: 'reminder',
      value: 0.45,
      peak: 0.8,
      threshold: 0.3,
      since: at(0),
    })
  })

  test.each<[string, (target: ReturnType<typeof evaluatedTarget>, now: number) => void]>([
    ['polls fail', (target, now) => target.tick(now, now - at(0))],
    ['there are too few calls', (target, now) => target.poll(now, 0, 3)],
    ['there are no calls', (target, now) => target.poll(now, 0, 0)],
  ])('has the last verdict while %s', (_, evaluate) => {
    const target = polled(REPEATED, [10])
    for (let seconds = INTERVAL; seconds <= 120; seconds += INTERVAL) evaluate(target, at(seconds))
    const verdict = { kind: 'reminder', value: 0.5, calls: 20, threshold: 0.3, counts: { total: 20 } }
    expect(target.notifications.slice(1)).toMatchObject([
      { ...verdict, at: at(60), firingSince: at(0) },
      { ...verdict, at: at(120) },
    ])
  })

  test.each<[string, Rule['severity'], Rule['severity'], number, string[]]>([
    ['at once, if the rule becomes more severe', 'warning', 'critical', 0, ['firing', 'reminder']],
    ['at once, if that is where the clock stepped back', 'warning', 'critical', -86_400, ['firing', 'reminder']],
    ['not, if the rule becomes less severe', 'critical', 'info', 0, ['firing']],
  ])('comes %s', (_what, before, after, step, kinds) => {
    const target = evaluatedTarget([{ ...RATIO, severity: before, repeat: 0 }])
    target.poll(at(0), 10)
    target.reload([{ ...RATIO, severity: after, repeat: 0 }])
    for (const seconds of [15, 30, 45]) target.poll(at(step + seconds), 10)
    expect(target.kinds()).toEqual(kinds)
    expect(target.notifications.at(-1)).toMatchObject({ severity: kinds.length === 2 ? after : before })
  })

  test('comes within `repeat` of a step back of the wall clock', () => {
    const target = polled({ ...REPEATED, keepFiringFor: 600 }, [10, 10, 10])
    for (let seconds = 0; seconds <= 120; seconds += INTERVAL) target.tick(at(-86_400 + seconds), 45 + seconds)
    expect(target.notifications.map(({ kind, at: now }) => [kind, now - at(0)])).toEqual([
      ['firing', 0],
      ['reminder', -86_400 + 60],
      ['reminder', -86_400 + 120],
    ])
  })
})

describe.each<[string, Rule, number, string, string]>([
  ['for', { ...RATIO, for: 60 }, 10, 'pending', 'firing'],
  ['keep_firing_for', { ...RATIO, keepFiringFor: 60 }, 0, 'recovering', 'inactive'],
])('the time of `%s`', (_, rule, failed, before, after) => {
  test('passes between evaluations at most three intervals apart, and in no longer time without any', () => {
    const stateAfter = (gap: number) => {
      const target = polled(rule, [10, failed, failed])
      target.poll(at(2 * INTERVAL + gap), failed)
      return target.state()
    }
    expect([stateAfter(3 * INTERVAL), stateAfter(3 * INTERVAL + 1)]).toEqual([after, before])
  })

  test.each([-86_400, 86_400])('does not pass when the wall clock steps by %d s', (step) => {
    const target = polled(rule, [10, failed])
    for (const seconds of [0, 15, 30]) target.poll(at(step + seconds), failed)
    expect(target.state()).toBe(before)
    for (const seconds of [45, 60]) target.poll(at(step + seconds), failed)
    expect(target.state()).toBe(after)
  })
})

test.each([7200, -7200])('a window of too few calls has no time in which the clock stepped by %d s', (step) => {
  const target = polled(RATIO, [10])
  target.poll(at(15), 0, 3)
  for (let seconds = 0; seconds < 900; seconds += INTERVAL) target.poll(at(15 + step + seconds), 0, 3)
  expect(target.state()).toBe('firing')
  target.poll(at(15 + step + 900), 0, 3)
  expect(target.kinds()).toEqual(['firing', 'expired'])
})

describe('missing data never resolves an alert', () => {
  test.each([
    ['firing', [10, 10, 10]],
    ['recovering', [10, 10, 10, 0]],
    ['pending', [10]],
  ])('that is %s: failed polls leave it as it was for a day', (state, failed) => {
    const target = polled({ ...RATIO, for: 30, keepFiringFor: 60 }, failed)
    const before = target.instances.get(RATIO.name)
    const kinds = target.kinds()
    for (let seconds = 60; seconds < 86_400; seconds += INTERVAL) target.tick(at(seconds), seconds - 30)
    expect(target.state()).toBe(state)
    expect(target.instances.get(RATIO.name)).toBe(before)
    expect(target.kinds()).toEqual(kinds)
  })

  test('below a threshold either: a list that was read in part leaves it as it was', () => {
    const target = polled(QUIET, [2])
    const before = target.instances.get('Quiet')
    for (let i = 1; i <= 100; i++) target.evaluate(pollAt(at(i * INTERVAL), { limited: true }), at(i * INTERVAL))
    expect(target.instances.get('Quiet')).toBe(before)
    expect(target.kinds()).toEqual(['firing'])
  })

  test('after a restart and hours without a poll it stays until a poll, and only the poll age changes', () => {
    const target = evaluatedTarget([{ ...RATIO, for: 30, keepFiringFor: 60, repeat: 300 }, POLL_AGE])
    for (const seconds of [0, 15, 30]) target.poll(at(seconds), 10)
    target.restart()
    target.tick(at(20_000), 301)
    target.restart()
    target.poll(at(20_015), 0)
    expect(target.notifications.slice(1).map(({ kind, alert, value }) => `${alert} ${kind} ${value}`)).toEqual([
      'HighFailureRate reminder 0.5',
      'NoGoodPoll firing 301',
      'NoGoodPoll resolved 0',
    ])
    expect(target.state()).toBe('recovering')
  })
})

test('of a value that is not documented, there being none is no breach', () => {
  const rule = ruleOn({ name: 'calls_finished', window: 900 }, { breach: 'below', threshold: 5, by: ['type'] })
  const target = evaluatedTarget([rule])
  const labels = labelsOf('other', 'call', 'user')
  target.evaluate(pollAt(at(0), { finished: [finishAt(at(0), 'ended', { labels })] }), at(0))
  expect([...target.instances.keys()]).toEqual(['HighFailureRate{type="audio"}', 'HighFailureRate{type="video"}'])
})
