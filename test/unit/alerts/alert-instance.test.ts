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
