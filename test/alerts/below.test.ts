import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/alerts/rule.ts'
import { labelsOf } from '../../src/ledger/call.ts'
import { openSince, times } from './sample-calls.ts'
import { finishAt, ruleOn } from './sample-rules.ts'
import { at, INTERVAL, lookAt, watched } from './watched.ts'

/** Fewer than three open calls are trouble, until there are five again. */
const QUIET = ruleOn({ name: 'in_progress' }, { name: 'Quiet', breach: 'below', threshold: 3, clear: 5 })

/** The states of a rule after looks an interval apart that found so many calls open. */
function statesOf(rule: Rule, open: readonly number[]) {
  const target = watched([rule])
  const states = open.map((number, i) => {
    const now = at(i * INTERVAL)
    target.evaluate(lookAt(now, { open: Array.from({ length: number }, () => openSince(now - 60)) }), now)
    return target.state(rule.name)
  })
  return { states, said: target.said }
}

describe('a rule with its trouble below the threshold', () => {
  test.each([
    [4, 'inactive'],
    [3, 'inactive'],
    [2, 'firing'],
    [0, 'firing'],
  ])('finds %d calls open, where 3 are at the threshold, and is %s', (open, state) => {
    expect(statesOf(QUIET, [open]).states).toEqual([state])
  })

  test('resolves only once back at `clear`, and its peak is the lowest value', () => {
    const { states, said } = statesOf(QUIET, [2, 1, 3, 4, 2, 5])
    expect(states).toEqual(['firing', 'firing', 'firing', 'firing', 'firing', 'inactive'])
    expect(said).toMatchObject([
      { kind: 'firing', breach: 'below', value: 2, threshold: 3, peak: 2 },
      { kind: 'resolved', breach: 'below', value: 5, threshold: 5, peak: 1 },
    ])
  })

  test('has the lowest value for its peak also while it is pending', () => {
    const { said } = statesOf({ ...QUIET, for: 45 }, [2, 0, 1, 2])
    expect(said).toMatchObject([{ kind: 'firing', value: 2, peak: 0, since: at(0), firingSince: at(45) }])
  })

  test('begins `keep_firing_for` when the value passes `clear`, and anew when it comes back', () => {
    const { states } = statesOf({ ...QUIET, keepFiringFor: 30 }, [2, 4, 5, 6, 4, 5, 5, 5])
    expect(states).toEqual([
      'firing',
      'firing',
      'recovering',
      'recovering',
      'firing',
      'recovering',
      'recovering',
      'inactive',
    ])
  })

  test('is kept for one window without enough calls, then closed', () => {
    const brief = ruleOn(
      { name: 'duration_mean', window: 60, minCalls: 5 },
      { name: 'Brief', breach: 'below', threshold: 30 },
    )
    const target = watched([brief])
    const lookWith = (seconds: number, number: number) =>
      target.evaluate(
        lookAt(at(seconds), { finished: times(number, at(seconds), 'ended', { duration: 10 }) }),
        at(seconds),
      )
    lookWith(0, 5)
    for (let seconds = 15; seconds < 75; seconds += INTERVAL) lookWith(seconds, 4)
    expect(target.state('Brief')).toBe('firing')
    lookWith(75, 4)
    expect(target.said).toMatchObject([
      { kind: 'firing', value: 10, calls: 5 },
      { kind: 'closed', closedBecause: 'too few calls', value: 10, calls: 5 },
    ])
  })

  test('that compares with the past fires only where there were calls then, and stays when there were none', () => {
    const noCalls = ruleOn(
      { name: 'calls', window: 60 },
      { name: 'NoCalls', breach: 'below', threshold: 1, onlyIf: { offset: 3600, atLeast: 5 } },
    )
    const target = watched([noCalls])
    const busy = times(5, at(-3600))
    const lookWith = (seconds: number, finished: typeof busy) =>
      target.evaluate(lookAt(at(seconds), { finished }), at(seconds))
    lookWith(0, [])
    expect(target.state('NoCalls')).toBe('inactive')
    lookWith(15, busy)
    expect(target.state('NoCalls')).toBe('firing')
    for (let seconds = 30; seconds <= 300; seconds += INTERVAL) lookWith(seconds, busy)
    expect(target.state('NoCalls')).toBe('firing')
    lookWith(315, [...busy, ...times(1, at(310))])
    expect(target.kinds()).toEqual(['firing', 'resolved'])
  })
})

test('of a value that is not documented, there being none is no breach', () => {
  const rule = ruleOn({ name: 'calls', window: 900 }, { breach: 'below', threshold: 5, by: ['type'] })
  const target = watched([rule])
  const labels = labelsOf('other', 'call', 'user')
  target.evaluate(lookAt(at(0), { finished: [finishAt(at(0), 'ended', { labels })] }), at(0))
  expect([...target.instances.keys()]).toEqual(['HighFailureRate{type="audio"}', 'HighFailureRate{type="video"}'])
})
