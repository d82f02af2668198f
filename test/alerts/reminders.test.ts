import { describe, expect, test } from 'vitest'
import { POLL_AGE, RATIO } from './sample-rules.ts'
import { at, INTERVAL, watched } from './watched.ts'

const REPEATED = { ...RATIO, repeat: 60 }

/** When it was told of an alert, in seconds from the start, and how. */
function toldOf(target: ReturnType<typeof watched>): [kind: string, seconds: number][] {
  return target.said.map(({ kind, at: told }) => [kind, told - at(0)])
}

describe('a reminder', () => {
  test('comes at looks, as long as the alert fires, each `repeat` after the one before', () => {
    const target = watched([REPEATED])
    for (let seconds = 0; seconds <= 180; seconds += INTERVAL) target.look(at(seconds), 10)
    expect(toldOf(target)).toEqual([
      ['firing', 0],
      ['reminder', 60],
      ['reminder', 120],
      ['reminder', 180],
    ])
  })

  test('comes at ticks too: an alert is told again also while the service cannot be read', () => {
    const target = watched([REPEATED, POLL_AGE])
    target.look(at(0), 10)
    for (let seconds = INTERVAL; seconds <= 120; seconds += INTERVAL) target.tick(at(seconds), seconds)
    expect(toldOf(target)).toEqual([
      ['firing', 0],
      ['reminder', 60],
      ['reminder', 120],
    ])
    expect(target.said.at(-1)).toMatchObject({ value: 0.5, calls: 20, threshold: 0.3, firingSince: at(0) })
  })

  test('is not sent sooner than `repeat` after the last, however often the rule is judged', () => {
    const target = watched([REPEATED])
    for (let seconds = 0; seconds <= 125; seconds += 5) target.look(at(seconds), 10)
    expect(toldOf(target).map(([, seconds]) => seconds)).toEqual([0, 60, 120])
  })

  test('that comes late postpones the next', () => {
    const target = watched([REPEATED])
    for (const seconds of [0, 100, 159, 160]) target.look(at(seconds), 10)
    expect(toldOf(target).map(([, seconds]) => seconds)).toEqual([0, 100, 160])
  })

  test('never comes while the alert is recovering, and at once when a value comes back after that', () => {
    const target = watched([{ ...REPEATED, keepFiringFor: 600 }])
    target.look(at(0), 10)
    for (let seconds = INTERVAL; seconds <= 300; seconds += INTERVAL) {
      target.look(at(seconds), 0)
      target.tick(at(seconds + 1), 1)
    }
    expect(target.kinds()).toEqual(['firing'])
    target.look(at(315), 10)
    expect(toldOf(target)).toEqual([
      ['firing', 0],
      ['reminder', 315],
    ])
  })

  test('never comes while the alert is pending, nor where `repeat` is 0', () => {
    const target = watched([
      { ...REPEATED, for: 10_000 },
      { ...RATIO, name: 'Unrepeated' },
    ])
    for (let seconds = 0; seconds <= 300; seconds += INTERVAL) target.look(at(seconds), 10)
    expect(target.said).toMatchObject([{ kind: 'firing', alert: 'Unrepeated' }])
  })

  test('is counted from when the alert fired, not from when the breach began', () => {
    const target = watched([{ ...REPEATED, for: 45 }])
    for (let seconds = 0; seconds <= 105; seconds += INTERVAL) target.look(at(seconds), 10)
    expect(toldOf(target)).toEqual([
      ['firing', 45],
      ['reminder', 105],
    ])
  })

  test('says what holds now, also of the peak', () => {
    const target = watched([REPEATED])
    for (const [i, failed] of [8, 16, 10, 10, 9].entries()) target.look(at(i * INTERVAL), failed)
    expect(target.said.at(-1)).toMatchObject({ kind: 'reminder', value: 0.45, peak: 0.8, threshold: 0.3, since: at(0) })
  })

  test('that is due while there are too few calls repeats the last verdict, and not the noise', () => {
    const target = watched([REPEATED])
    target.look(at(0), 10)
    for (let seconds = INTERVAL; seconds <= 60; seconds += INTERVAL) target.look(at(seconds), 0, 3)
    expect(target.said.at(-1)).toMatchObject({ kind: 'reminder', value: 0.5, calls: 20, counts: { total: 20 } })
    for (let seconds = 75; seconds <= 120; seconds += INTERVAL) target.look(at(seconds), 0, 0)
    expect(target.said.at(-1)).toMatchObject({ kind: 'reminder', value: 0.5, calls: 20, at: at(120) })
  })

  test('is not lost when the wall clock steps back: the next comes `repeat` after the step at the latest', () => {
    const target = watched([{ ...REPEATED, keepFiringFor: 600 }])
    target.look(at(0), 10)
    target.look(at(30), 10)
    for (let seconds = 0; seconds <= 120; seconds += INTERVAL) target.tick(at(-86_400 + seconds), 45 + seconds)
    expect(toldOf(target)).toEqual([
      ['firing', 0],
      ['reminder', -86_400 + 60],
      ['reminder', -86_400 + 120],
    ])
  })

  test('comes once when the wall clock steps forward, not once for each `repeat` that it skipped', () => {
    const target = watched([REPEATED])
    target.look(at(0), 10)
    for (let seconds = 0; seconds <= 60; seconds += INTERVAL) target.look(at(86_400 + seconds), 10)
    expect(toldOf(target)).toEqual([
      ['firing', 0],
      ['reminder', 86_400],
      ['reminder', 86_460],
    ])
  })
})
