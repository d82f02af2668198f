import { describe, expect, test } from 'vitest'
import { POLL_AGE, RATIO } from './sample-rules.ts'
import { at, watched } from './watched.ts'

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
      { kind: 'firing', signal: { name: 'poll_age' }, value: 315, threshold: 300, at: at(315) },
      { kind: 'resolved', value: 0, threshold: 300, peak: 330, firingSince: at(315), at: at(345) },
    ])
    expect(target.said[0]).not.toHaveProperty('counts')
    expect(target.said[0]).not.toHaveProperty('window')
  })
})
