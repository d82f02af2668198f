import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Trigger } from '../../../src/alerts/trigger.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { labelled, openSince } from './sample-calls.ts'
import { finishAt, POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { INTERVAL, pollAt, START, evaluatedTarget } from './evaluated-target.ts'
import { runs } from '../../kit/runs.ts'

/** Above and below a threshold, with and without a least number of calls, one alert or one for each type or mode. */
const RULES: readonly Rule[] = [
  { ...RATIO, signal: { ...RATIO.signal, minCalls: 5, window: 120 }, by: ['type'] },
  ruleOn({ name: 'in_progress' }, { name: 'Quiet', breach: 'below', threshold: 2, clear: 3, by: ['mode'] }),
  ruleOn(
    { name: 'duration_mean', window: 60, minCalls: 3 },
    { name: 'Brief', breach: 'below', threshold: 30, clear: 60, by: ['type'] },
  ),
  ruleOn(
    { name: 'short_calls', window: 60, shorterThan: 10, minCalls: 3 },
    { name: 'HangUps', threshold: 0.3, clear: 0.2 },
  ),
  ruleOn({ name: 'calls_finished', window: 60 }, { name: 'Busy', threshold: 10, clear: 5 }),
  { ...POLL_AGE, threshold: 60, clear: 0 },
]

type Step = {
  /** Seconds since the step before, by a wall clock that may be set. */
  gap: number
  restart: boolean
  /** The rules that there are, by their numbers. */
  rules: number[]
  trigger: (now: number) => Trigger
}

const calls = fc.record({
  number: fc.integer({ min: 0, max: 8 }),
  type: fc.constantFrom('audio', 'audio', 'video', 'other'),
  mode: fc.constantFrom('call', 'call', 'meet', 'other'),
  status: fc.constantFrom('ended', 'ended', 'unanswered', 'open'),
  duration: fc.constantFrom(10, 50, 90),
})

const poll = fc
  .record({ groups: fc.array(calls, { maxLength: 6 }), limited: fc.boolean() })
  .map(({ groups, limited }) => (now: number): Trigger => {
    const all = groups.flatMap((group) => Array.from({ length: group.number }, () => group))
    const [open, over] = [all.filter(({ status }) => status === 'open'), all.filter(({ status }) => status !== 'open')]
    return pollAt(now, {
      limited,
      open: open.map(({ type, mode }) => openSince(now - 60, labelled(type, mode))),
      finished: over.map(({ type, mode, status, duration }) =>
        status === 'unanswered'
          ? finishAt(now, status, labelled(type, mode))
          : finishAt(now, 'ended', { ...labelled(type, mode), duration }),
      ),
    })
  })
const tick = fc.constantFrom(0, 45, 61, 300).map((pollAge) => (): Trigger => ({ kind: 'tick', pollAge }))
const all = RULES.map((_, i) => i)

const steps: fc.Arbitrary<Step[]> = fc
  .array(
    fc.record({
      gap: fc.oneof(
        { weight: 8, arbitrary: fc.constant(INTERVAL) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 60 }) },
        { weight: 1, arbitrary: fc.integer({ min: -5000, max: 5000 }) },
      ),
      restart: fc.boolean(),
      rules: fc.oneof({ weight: 15, arbitrary: fc.constant(all) }, fc.subarray(all)),
      // The same kind of poll comes again and again, or nothing would last.
      trigger: fc.oneof({ weight: 3, arbitrary: poll }, tick),
      again: fc.integer({ min: 1, max: 8 }),
    }),
    { maxLength: 25 },
  )
  .map((phases) => phases.flatMap(({ again, ...step }) => Array.from({ length: again }, () => step)))

const timing = fc.record({
  for: fc.constantFrom(0, 0, 30),
  keepFiringFor: fc.constantFrom(0, 30, 60),
  repeat: fc.constantFrom(0, 30, 120),
})

/** Takes a target through steps, and reports the notifications of each, when, and how far the clock had advanced. */
function walk(
  target: ReturnType<typeof evaluatedTarget>,
  { rules, steps: taken }: { rules: readonly Rule[]; steps: readonly Step[] },
  onStep: (
    notifications: ReturnType<typeof target.evaluate>['notifications'],
    trigger: Trigger,
    now: number,
    forward: number,
  ) => void,
): void {
  let now = START
  let forward = 0
  for (const step of taken) {
    now += step.gap
    forward += Math.max(0, step.gap)
    if (step.restart) target.restart()
    target.reload(step.rules.map((i) => rules[i]!))
    const trigger = step.trigger(now)
    onStep(target.evaluate(trigger, now).notifications, trigger, now, forward)
  }
}

test('no alert fires twice without an end between, and none ends that did not fire', () => {
  const kinds = new Map<string, number>()
  fc.assert(
    fc.property(timing, steps, (variant, taken) => {
      const rules = RULES.map((rule) => ({ ...rule, ...variant }))
      const target = evaluatedTarget([])
      /** When each firing alert was last notified, by how far the clock had advanced. */
      const firing = new Map<string, number>()
      const broken: unknown[] = []
      walk(target, { rules, steps: taken }, (notifications, trigger, now, forward) => {
        for (const notification of notifications) {
          const { kind, key, alert, breach, value, threshold, expiredBecause } = notification
          kinds.set(expiredBecause ?? kind, (kinds.get(expiredBecause ?? kind) ?? 0) + 1)
          const since = firing.get(key)
          const isBeyond = breach === 'above' ? value > threshold : value < threshold
          if (kind === 'firing' && (since !== undefined || !isBeyond))
            broken.push(['fires without cause', notification])
          if (kind === 'resolved' && (since === undefined || isBeyond))
            broken.push(['resolves without cause', notification])
          if (kind === 'expired' && since === undefined) broken.push(['expired and never fired', notification])
          const isByData = kind === 'firing' || kind === 'resolved' || expiredBecause === 'too few calls'
          if (trigger.kind === 'tick' && isByData && alert !== POLL_AGE.name)
            broken.push(['uses no data', notification])
          if (kind === 'firing') firing.set(key, forward)
          else firing.delete(key)
        }
        const fires = [...target.instances.values()].filter(({ state }) => state !== 'pending')
        if (!new Set(fires.map(({ key }) => key)).isSubsetOf(new Set(firing.keys())) || fires.length !== firing.size)
          broken.push(['is not what was notified', fires])
      })
      expect(broken).toEqual([])
    }),
    { numRuns: runs(400) },
  )
  // Otherwise the property would hold trivially.
  for (const kind of ['firing', 'resolved', 'too few calls', 'rule removed']) {
    expect(kinds.get(kind), kind).toBeGreaterThan(runs(10))
  }
})

test('the notifications and instances of alerts are the same with and without restarts', () => {
  fc.assert(
    fc.property(timing, steps, (variant, taken) => {
      const rules = RULES.map((rule) => ({ ...rule, ...variant }))
      const [restarted, undisturbed] = [evaluatedTarget([]), evaluatedTarget([])]
      walk(restarted, { rules, steps: taken }, () => undefined)
      walk(undisturbed, { rules, steps: taken.map((step) => ({ ...step, restart: false })) }, () => undefined)
      expect(restarted.notifications).toEqual(undisturbed.notifications)
      expect(restarted.instances).toEqual(undisturbed.instances)
    }),
    { numRuns: runs(500) },
  )
})

/** Seconds between successive polls, each from once to three times as long as the shortest. */
const paces = fc.tuple(fc.integer({ min: 1, max: 7200 }), fc.array(fc.nat(1000), { minLength: 60, maxLength: 60 }))
const lasting = { for: 600, keepFiringFor: 600 }

test('the time of `for`, `keep_firing_for` and too few calls counts, however rarely polls succeed', () => {
  fc.assert(
    fc.property(paces, ([pace, draws]) => {
      const rule = { ...RATIO, ...lasting }
      const target = evaluatedTarget([rule])
      const gaps = draws.map((draw) => pace + Math.floor((2 * pace * draw) / 1000))
      let now = START
      const next = () => {
        const previousSuccess = now
        now += gaps.shift() ?? pace
        return { at: now, previousSuccess }
      }
      /** Polls with so many failures of so many calls, until the state is another one, and for how many seconds that took. */
      const until = (state: string, failed: number, total: number) => {
        const { at: from, previousSuccess } = next()
        target.poll(from, failed, total, previousSuccess)
        for (let polls = 0; target.state() !== state && polls < 2000; polls++) {
          const poll = next()
          target.poll(poll.at, failed, total, poll.previousSuccess)
        }
        return { state: target.state(), seconds: now - from }
      }
      // It takes one poll longer than the time at most; a new alert another one, which proves how rarely polls succeed.
      for (const [state, failed, total, needed, more] of [
        ['firing', 10, 20, rule.for, 2],
        ['inactive', 0, 20, rule.keepFiringFor, 1],
        ['firing', 10, 20, rule.for, 2],
        ['inactive', 1, 3, rule.signal.window, 1],
      ] as const) {
        const reached = until(state, failed, total)
        expect(reached.state).toBe(state)
        expect(reached.seconds).toBeLessThanOrEqual(needed + more * 3 * pace)
      }
    }),
    { numRuns: runs(100) },
  )
})

test('a time without polls counts only if it is at most three times the smaller of the two before it, or the interval', () => {
  const seconds = (max: number) => fc.integer({ min: 1, max })
  fc.assert(
    fc.property(seconds(3600), fc.array(seconds(100_000), { maxLength: 2 }), fc.boolean(), (pace, beyond, isNew) => {
      const target = evaluatedTarget([{ ...RATIO, for: 1_000_000 }])
      let now = START
      const credited = (gap: number) => {
        const before = target.instances.get(RATIO.name)?.credited ?? 0
        target.poll(now + gap, 10, 20, now)
        now += gap
        return target.instances.get(RATIO.name)!.credited - before
      }
      // A new alert has the gap before it, known or not.
      if (isNew) target.poll(now, 10, 20)
      else for (let i = 0; i < 3; i++) credited(pace)
      // One outage, or two in a row, each of any length.
      for (const each of beyond) expect(credited(3 * Math.max(isNew ? 0 : pace, INTERVAL) + each)).toBe(0)
      // As soon as polls come as before they count, however long the outages were.
      expect(credited(INTERVAL)).toBe(INTERVAL)
    }),
  )
})
