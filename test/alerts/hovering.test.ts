import { describe, expect, test } from 'vitest'
import { RATIO } from './sample-rules.ts'
import { at, INTERVAL, watched } from './watched.ts'

const KEPT = { ...RATIO, keepFiringFor: 60 }

/** The states after looks an interval apart, each with so many failures in 20 calls. */
function statesOf(target: ReturnType<typeof watched>, failed: readonly number[], from = 0): string[] {
  return failed.map((number, i) => {
    target.look(at(from + i * INTERVAL), number)
    return target.state()
  })
}

describe('a value that hovers around the threshold does not flap', () => {
  test('while it stays on the bad side of `clear`: it fires once, and resolves never', () => {
    const target = watched([RATIO])
    const states = statesOf(target, [7, ...Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? 5 : 7))])
    expect(new Set(states)).toEqual(new Set(['firing']))
    expect(target.kinds()).toEqual(['firing'])
  })

  test('nor around `clear` itself, where it comes back within `keep_firing_for`', () => {
    const target = watched([KEPT])
    const states = statesOf(target, [7, ...Array.from({ length: 200 }, (_, i) => (i % 4 === 3 ? 5 : 4))])
    expect(new Set(states)).toEqual(new Set(['firing', 'recovering']))
    expect(target.kinds()).toEqual(['firing'])
  })

  test('although with neither, the same value would', () => {
    const target = watched([{ ...RATIO, clear: RATIO.threshold }])
    statesOf(
      target,
      Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 7 : 6)),
    )
    expect(target.kinds()).toEqual(Array.from({ length: 10 }, () => ['firing', 'resolved']).flat())
  })
})

describe('hysteresis', () => {
  test.each([
    [7, 'firing'],
    [6, 'firing'],
    [5, 'firing'],
    [4, 'inactive'],
    [0, 'inactive'],
  ])('after a breach of 0.3 with `clear` 0.2, %d failures in 20 leave the alert %s', (failed, state) => {
    const target = watched([RATIO])
    expect(statesOf(target, [10, failed])).toEqual(['firing', state])
  })

  test('starts nothing: what is between `clear` and the threshold was never a breach', () => {
    const target = watched([RATIO])
    expect(statesOf(target, [5, 6, 5, 6])).toEqual(['inactive', 'inactive', 'inactive', 'inactive'])
  })
})

describe('keep_firing_for', () => {
  test('begins when the value passes `clear`, not when the breach ends', () => {
    const target = watched([KEPT])
    const states = statesOf(target, [10, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4])
    expect(states.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => 'firing'))
    expect(states.slice(6)).toEqual(['recovering', 'recovering', 'recovering', 'recovering', 'inactive'])
    expect(target.said).toMatchObject([{ kind: 'firing' }, { kind: 'resolved', value: 0.2, at: at(150) }])
  })

  test('starts anew when the value comes back past `clear`, though it be no breach', () => {
    const target = watched([KEPT])
    const states = statesOf(target, [10, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0])
    expect(states.slice(5)).toEqual(['firing', 'recovering', 'recovering', 'recovering', 'recovering', 'inactive'])
    expect(target.kinds()).toEqual(['firing', 'resolved'])
  })

  test('counts the time between looks at most three intervals apart, and no other', () => {
    const lastAfter = (gap: number) => {
      const target = watched([KEPT])
      target.look(at(0), 10)
      for (let i = 1; i <= 20; i++) target.look(at(i * gap), 0)
      return target.state()
    }
    expect(lastAfter(3 * INTERVAL)).toBe('inactive')
    expect(lastAfter(3 * INTERVAL + 1)).toBe('recovering')
  })

  test.each([-86_400, 86_400])('is not over because the wall clock stepped by %d s', (step) => {
    const target = watched([KEPT])
    statesOf(target, [10, 0])
    expect(statesOf(target, [0, 0, 0, 0, 0], step)).toEqual([
      'recovering',
      'recovering',
      'recovering',
      'recovering',
      'inactive',
    ])
  })

  test('does not go on while there are too few calls for a verdict', () => {
    const target = watched([KEPT])
    statesOf(target, [10, 0, 0])
    for (let seconds = 45; seconds < 300; seconds += INTERVAL) target.look(at(seconds), 0, 3)
    expect(target.instances.get(RATIO.name)).toMatchObject({ state: 'recovering', credited: 15 })
  })

  test('of zero resolves at the first look past `clear`', () => {
    expect(statesOf(watched([RATIO]), [10, 4])).toEqual(['firing', 'inactive'])
  })

  test('keeps the peak over a relapse, and the moment from which it fired', () => {
    const target = watched([KEPT])
    statesOf(target, [10, 0, 14, 8, 0, 0, 0, 0, 0])
    expect(target.said.at(-1)).toMatchObject({
      kind: 'resolved',
      value: 0,
      peak: 0.7,
      since: at(0),
      firingSince: at(0),
    })
  })
})
