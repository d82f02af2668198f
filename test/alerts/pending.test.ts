import { describe, expect, test } from 'vitest'
import { POLL_AGE, RATIO } from './sample-rules.ts'
import { at, INTERVAL, watched } from './watched.ts'

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
