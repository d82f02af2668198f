import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/alerts/rule.ts'
import { POLL_AGE, ruleOn, RATIO } from './sample-rules.ts'
import { at, INTERVAL, lookAt, watched } from './watched.ts'

const REPEATED: Rule = { ...RATIO, for: 30, keepFiringFor: 60, repeat: 300 }
const RULES = [REPEATED, POLL_AGE]
/** Failures in 20 calls, look by look: it fires, recovers, relapses and resolves. */
const FAILED = [0, 10, 10, 10, 10, 4, 4, 10, 3, 3, 3, 3, 3, 0]

function messages(target: ReturnType<typeof watched>) {
  return target.said.map(({ kind, alert, value }) => `${alert} ${kind} ${value}`)
}

describe('missing data never resolves an alert', () => {
  test.each([
    ['firing', [10, 10, 10]],
    ['recovering', [10, 10, 10, 0]],
    ['pending', [10]],
  ])('that is %s: failed polls leave it as it was for a day', (state, failed) => {
    const target = watched([{ ...REPEATED, repeat: 0 }])
    for (const [i, number] of failed.entries()) target.look(at(i * INTERVAL), number)
    const before = target.instances.get(RATIO.name)
    const said = target.kinds()
    for (let seconds = 60; seconds < 86_400; seconds += INTERVAL) target.tick(at(seconds), seconds - 30)
    expect(target.state()).toBe(state)
    expect(target.instances.get(RATIO.name)).toBe(before)
    expect(target.kinds()).toEqual(said)
  })

  test('below a threshold either: a list that was read in part gives no verdict', () => {
    const rule = ruleOn({ name: 'in_progress' }, { name: 'Quiet', breach: 'below', threshold: 1, keepFiringFor: 60 })
    const target = watched([rule])
    target.evaluate(lookAt(at(0), {}), at(0))
    expect(target.state('Quiet')).toBe('firing')
    const before = target.instances.get('Quiet')
    for (let i = 1; i <= 100; i++) target.evaluate(lookAt(at(i * INTERVAL), { limited: true }), at(i * INTERVAL))
    expect(target.instances.get('Quiet')).toBe(before)
    expect(target.kinds()).toEqual(['firing'])
  })

  test('but a good look with calls does, and one without calls is data for a rule that counts them', () => {
    const target = watched([ruleOn({ name: 'calls', window: 900 }, { threshold: 5 })])
    target.look(at(0), 0, 6)
    target.look(at(15), 0, 0)
    expect(target.said).toMatchObject([{ kind: 'firing' }, { kind: 'resolved', value: 0 }])
  })
})

describe('a restart neither resolves nor repeats an alert', () => {
  test('at whichever look: what is said, and what is kept, is as without it', () => {
    const [undisturbed, restarted] = [watched(RULES), watched(RULES)]
    for (const [i, failed] of FAILED.entries()) {
      undisturbed.look(at(i * INTERVAL), failed)
      restarted.restart()
      restarted.look(at(i * INTERVAL), failed)
      expect(restarted.instances).toEqual(undisturbed.instances)
    }
    expect(restarted.said).toEqual(undisturbed.said)
    expect(messages(restarted)).toEqual(['HighFailureRate firing 0.5', 'HighFailureRate resolved 0.15'])
  })

  test('however often it restarts while it fires, it is told once, and again only when `repeat` is over', () => {
    const target = watched(RULES)
    for (const seconds of [0, 15, 30]) target.look(at(seconds), 10)
    for (let seconds = 45; seconds < 330; seconds += INTERVAL) {
      target.restart()
      target.tick(at(seconds), 15)
      target.look(at(seconds), 10)
    }
    expect(target.kinds()).toEqual(['firing'])
    target.restart()
    target.look(at(330), 10)
    expect(target.said.slice(1)).toMatchObject([{ kind: 'reminder', at: at(330), firingSince: at(30) }])
  })

  test('nor loses for how long a breach has lasted, or a recovery', () => {
    const target = watched(RULES)
    for (const seconds of [0, 15]) target.look(at(seconds), 10)
    target.restart()
    target.look(at(30), 10)
    expect(target.state()).toBe('firing')
    for (const seconds of [45, 60, 75, 90]) target.look(at(seconds), 0)
    target.restart()
    target.look(at(105), 0)
    expect(target.state()).toBe('inactive')
  })

  test('after which nobody could look for hours leaves it as it was until a look can tell', () => {
    const target = watched(RULES)
    for (const seconds of [0, 15, 30]) target.look(at(seconds), 10)
    target.restart()
    target.tick(at(20_000), 301)
    expect(messages(target).slice(1)).toEqual(['HighFailureRate reminder 0.5', 'NoGoodPoll firing 301'])
    target.restart()
    target.look(at(20_015), 0)
    expect(messages(target).slice(3)).toEqual(['NoGoodPoll resolved 0'])
    expect(target.state()).toBe('recovering')
  })
})

describe('a ratio over three calls is noise, and no verdict', () => {
  test('it starts nothing, though all three failed', () => {
    const target = watched([RATIO])
    target.look(at(0), 3, 3)
    expect([target.state(), target.said]).toEqual(['inactive', []])
  })

  test('it takes a pending alert back, without a word', () => {
    const target = watched([{ ...RATIO, for: 60 }])
    target.look(at(0), 10)
    target.look(at(15), 3, 3)
    expect([target.state(), target.said]).toEqual(['inactive', []])
    target.look(at(30), 10)
    expect(target.instances.get(RATIO.name)).toMatchObject({ since: at(30), credited: 0 })
  })

  test.each([
    ['a failure ratio of 0 in three', 0],
    ['a failure ratio of 1 in three', 3],
  ])('%s neither resolves a firing alert nor changes its value or peak', (_, failed) => {
    const target = watched([RATIO])
    target.look(at(0), 10)
    target.look(at(15), failed, 3)
    expect(target.instances.get(RATIO.name)).toMatchObject({ state: 'firing', value: 0.5, peak: 0.5, calls: 20 })
    expect(target.kinds()).toEqual(['firing'])
  })

  test('an alert that was recovering when the calls went out is closed after a window as well, not resolved', () => {
    const target = watched([{ ...RATIO, keepFiringFor: 7200 }])
    target.look(at(0), 10)
    for (let seconds = 15; seconds <= 60; seconds += INTERVAL) target.look(at(seconds), 0)
    for (let seconds = 75; seconds < 75 + 900; seconds += INTERVAL) target.look(at(seconds), 0, 3)
    expect(target.state()).toBe('recovering')
    target.look(at(975), 0, 3)
    expect(target.said.slice(1)).toMatchObject([
      { kind: 'closed', closedBecause: 'too few calls', value: 0, peak: 0.5 },
    ])
  })
})
