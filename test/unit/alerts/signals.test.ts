import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatIn } from '../../../src/alerts/signal.ts'
import { describe, expect, test } from 'vitest'
import { evidenceOf, reachOf } from '../../../src/alerts/evidence.ts'
import { couldBreach, ruleValues, type RuleValue } from '../../../src/alerts/rule-value.ts'
import type { Trigger } from '../../../src/alerts/trigger.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { signals, type Signal } from '../../../src/alerts/signals.ts'
import type { Finish } from '../../../src/ledger/tracked-call.ts'
import { usedSince, type Used } from '../../../src/ledger/usage.ts'
import { summaryOf } from '../../../src/alerts/text/alert-text.ts'
import { labelled, openSince, times } from './sample-calls.ts'
import { finishAt, firingOf, ruleOn } from '../../kit/alerts/sample-rules.ts'
import { at, finishedAt, poll, pollAt, type PartOfPoll } from './evaluated-target.ts'

const WINDOW = { window: 900 }
const NOW = at(0)

/** What a rule without groups reads. */
function ruleValueOf(rule: Rule, trigger: Trigger): RuleValue | undefined {
  const values = ruleValues(rule, trigger, [])
  if (values !== undefined) expect([...values.keys()]).toEqual([rule.name])
  const value = values?.get(rule.name)
  return value && { calls: undefined, ...value }
}

/** The value and the number of calls that a signal reads from a poll. */
function valueOf(signal: Signal, differing: PartOfPoll) {
  const ruleValue = ruleValueOf(ruleOn(signal), pollAt(NOW, differing))
  return [ruleValue?.value, ruleValue?.calls]
}

test('every file of signals/ is in the list of signals, and every signal in docs/alerting.md', () => {
  const root = join(import.meta.dirname, '../../..')
  const files = globSync('*.ts', { cwd: join(root, 'src/alerts/signals') })
  const asFile = (name: string) => `${name.replaceAll('_', '-')}.ts`
  expect(signals.map(({ name }) => asFile(name)).toSorted()).toEqual(files.toSorted())
  const doc = readFileSync(join(root, 'docs/alerting.md'), 'utf8')
  const rows = [...doc.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect(rows).toEqual(['signal', ...signals.map(({ name }) => name)])
})

test('the page shows the values of each signal in its unit', async () => {
  // The page has no definitions of signals, and a table of its own.
  const { valueOf: shown } = await import(join(import.meta.dirname, '../../../src/web/page/model/format.ts'))
  const units = { calls: '45', share: '4,500%', seconds: '45s', minutes: '45' }
  for (const { name, unit } of signals) expect([name, shown({ signal: name }, 45)]).toEqual([name, units[unit]])
})

test('a notification of a signal that only a later version has is still readable', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it comes from a store
  const signal = { name: 'later', window: 900 } as unknown as Signal
  const notification = firingOf(ruleOn(signal), 'production', at(0))
  expect(summaryOf({ ...notification, kind: 'resolved' })).toMatch(/^later is 0\.5, back at or below 0\.3; peak 0\.5/)
})

describe('each signal', () => {
  const finished = [
    ...finishedAt(at(-100), { ended: 3, unanswered: 2, rejected: 1, canceled: 1, other: 1 }),
    finishAt(at(-50), 'ended', {
      answerDelay: 4,
      duration: 120,
      audio: 1.5,
      video: 0.5,
      invited: { joined: 2, absent: 2 },
    }),
    finishAt(at(-40), 'ended', { answerDelay: 8, duration: 60, audio: 2, video: 0, invited: { joined: 1, absent: 0 } }),
  ]
  const open = [openSince(at(-20_000)), openSince(at(-10)), openSince(at(-5))]

  test.each<[string, Signal, number, number | undefined]>([
    ['failure_ratio', { name: 'failure_ratio', reason: 'any', minCalls: 1, ...WINDOW }, 0.4, 10],
    ['calls', { name: 'calls_finished', ...WINDOW }, 10, 10],
    ['calls_started', { name: 'calls_started', ...WINDOW }, 12, 12],
    ['minutes', { name: 'minutes', media: 'both', ...WINDOW }, 4, 10],
    ['in_progress', { name: 'in_progress' }, 3, 3],
    ['answer_delay_p95', { name: 'answer_delay_p95', minCalls: 1, ...WINDOW }, 8, 2],
    ['duration_mean', { name: 'duration_mean', minCalls: 1, ...WINDOW }, 90, 2],
    ['short_calls', { name: 'short_calls', shorterThan: 90, minCalls: 1, ...WINDOW }, 0.5, 2],
    ['not_joined', { name: 'not_joined', minCalls: 1, ...WINDOW }, 0.4, 2],
    ['stuck_calls', { name: 'stuck_calls', longerThan: 10_800 }, 1, 1],
    ['poll_age', { name: 'poll_age' }, 0, undefined],
    [
      'budget_minutes',
      { name: 'budget_minutes', limit: 200_000, of: 'participants', timezone: 'UTC', cycleDay: 1 },
      0.25,
      undefined,
    ],
  ])('%s reads its value and its number of calls from a successful poll', (_, signal, value, calls) => {
    expect(valueOf(signal, { finished, open, usedSince: () => 50_000 })).toEqual([value, calls])
  })

  test.each<[Signal, number]>([
    [{ name: 'calls_finished', ...WINDOW }, 0],
    [{ name: 'calls_started', ...WINDOW }, 0],
    [{ name: 'minutes', media: 'both', ...WINDOW }, 0],
    [{ name: 'in_progress' }, 0],
    [{ name: 'stuck_calls', longerThan: 10_800 }, 0],
  ])(
    '$name of no calls is a value, 0, and no lack of calls: a successful poll without calls is data',
    (signal, value) => {
      expect(ruleValueOf(ruleOn(signal), pollAt(NOW, {}))).toMatchObject({ value, calls: 0, tooFew: false })
    },
  )

  test.each<Signal>([
    { name: 'failure_ratio', reason: 'any', minCalls: 0, ...WINDOW },
    { name: 'answer_delay_p95', minCalls: 0, ...WINDOW },
    { name: 'duration_mean', minCalls: 0, ...WINDOW },
    { name: 'short_calls', shorterThan: 10, minCalls: 0, ...WINDOW },
    { name: 'recorded', offset: 0, minCalls: 0, ...WINDOW },
    { name: 'not_joined', minCalls: 0, ...WINDOW },
  ])('$name of no calls has too few of them, whatever the rule asks for', (signal) => {
    expect(ruleValueOf(ruleOn(signal), pollAt(NOW, {}))).toMatchObject({ value: NaN, calls: 0, tooFew: true })
  })

  test('is evaluated at a tick only if it is poll_age or request_errors', () => {
    const some = (seconds: number) => ({ all: seconds / 10, wrong: seconds / 20 })
    const tick = { kind: 'tick', pollAge: 42, recent: { requests: some } } as const
    const errors = { name: 'request_errors', window: 300, minRequests: 30 } as const
    expect(ruleValueOf(ruleOn(errors), tick)).toMatchObject({ value: 0.5, tooFew: false })
    expect(ruleValueOf(ruleOn({ ...errors, minRequests: 31 }), tick)).toMatchObject({ value: NaN, tooFew: true })
    expect(ruleValueOf(ruleOn(errors), pollAt(NOW, {}))).toBeUndefined()
    expect(ruleValueOf(ruleOn({ name: 'poll_age' }), tick)).toMatchObject({ value: 42, tooFew: false })
    expect([ruleValueOf(ruleOn({ name: 'poll_age' }), pollAt(NOW, {}))!].filter(couldBreach)).toHaveLength(1)
    expect(ruleValueOf(ruleOn({ name: 'in_progress' }), tick)).toBeUndefined()
    expect(
      ruleValueOf(ruleOn({ name: 'budget_minutes', limit: 1, of: 'participants', timezone: 'UTC', cycleDay: 1 }), tick),
    ).toBeUndefined()
  })
})

describe('calls_started', () => {
  const started: Signal = { name: 'calls_started', ...WINDOW }
  const finishedAfter = (seconds: number, began: number) => finishAt(at(seconds), 'ended', { began: at(began) })

  test('counts an open or finished call once, by when it began', () => {
    const finished = [finishedAfter(-800, -1000), finishedAfter(-600, -700), finishedAfter(-5, -2000)]
    const open = [openSince(at(-1200)), openSince(at(-100))]
    expect(valueOf(started, { finished, open })).toEqual([2, 2])
  })

  test('counts a call in the window in which it began, also after it finished', () => {
    const rule = ruleOn(started, { onlyIf: { offset: 3600, atLeast: 1 } })
    const began = at(-3600 - 100)
    const finished = [finishAt(at(-60), 'ended', { began })]
    expect(ruleValueOf(rule, pollAt(NOW, { finished }))).toMatchObject({ value: 0, mayBreach: true })
    expect(ruleValueOf(rule, pollAt(NOW, { open: [openSince(began)] }))).toMatchObject({ value: 0, mayBreach: true })
    expect(ruleValueOf(rule, pollAt(NOW, {}))).toMatchObject({ value: 0, mayBreach: false })
  })
})

describe('answer_delay_p95 is the nearest rank', () => {
  test.each([
    [1, 1],
    [2, 2],
    [19, 19],
    [20, 19],
    [21, 20],
    [40, 38],
    [100, 95],
    [101, 96],
  ])('of the delays 1 to %d: %d', (n, p95) => {
    // In an order that is neither theirs nor that of their digits.
    const delays = Array.from({ length: n }, (_, i) => n - i)
    const finished = delays.map((answerDelay) => finishAt(at(-1), 'ended', { answerDelay }))
    expect(valueOf({ name: 'answer_delay_p95', minCalls: 1, ...WINDOW }, { finished })).toEqual([p95, n])
  })

  test('counts only answered calls, also for min_calls', () => {
    const signal: Signal = { name: 'answer_delay_p95', minCalls: 3, ...WINDOW }
    const two = [...times(50, at(-1), 'unanswered'), ...times(2, at(-1), 'ended', { answerDelay: 7 })]
    expect(ruleValueOf(ruleOn(signal), pollAt(NOW, { finished: two }))).toMatchObject({ calls: 2, tooFew: true })
    const three = [...two, finishAt(at(-1), 'ended', { answerDelay: 7 })]
    expect(ruleValueOf(ruleOn(signal), pollAt(NOW, { finished: three }))).toMatchObject({ value: 7, tooFew: false })
  })
})

test('duration_mean counts only calls that have a duration, also for min_calls', () => {
  const signal: Signal = { name: 'duration_mean', minCalls: 2, ...WINDOW }
  const one = [...times(50, at(-1), 'rejected'), finishAt(at(-1), 'ended', { duration: 30 })]
  expect(ruleValueOf(ruleOn(signal), pollAt(NOW, { finished: one }))).toMatchObject({
    value: 30,
    calls: 1,
    tooFew: true,
  })
  const two = [...one, finishAt(at(-1), 'ended', { duration: 0 })]
  expect(ruleValueOf(ruleOn(signal), pollAt(NOW, { finished: two }))).toMatchObject({
    value: 15,
    calls: 2,
    tooFew: false,
  })
})

test.each([
  ['audio', 4],
  ['video', 10],
  ['both', 14],
] as const)('minutes of %s are %d, by the medium and not by the type of the call', (media, minutes) => {
  const finished = [
    finishAt(at(-2), 'ended', { ...labelled('video'), audio: 3, video: 10 }),
    finishAt(at(-1), 'ended', { audio: 1 }),
  ]
  expect(valueOf({ name: 'minutes', media, ...WINDOW }, { finished })).toEqual([minutes, 2])
})

test.each([
  [10_799, 0],
  [10_800, 0],
  [10_801, 1],
])('of a call that began %d s ago, %d has been open for longer than three hours', (seconds, stuck) => {
  const open = [openSince(at(-seconds))]
  expect(valueOf({ name: 'stuck_calls', longerThan: 10_800 }, { open })).toEqual([stuck, stuck])
})

test.each([
  [9.9, 0],
  [10, 0.5],
  [10.1, 1],
])('short_calls counts the ended calls that lasted less than %d s of 9.9 and 10 s', (shorterThan, share) => {
  const signal: Signal = { name: 'short_calls', shorterThan, minCalls: 1, ...WINDOW }
  const finished = [
    ...[9.9, 10].map((duration) => finishAt(at(-1), 'ended', { duration })),
    ...times(5, at(-1), 'rejected'),
  ]
  expect(valueOf(signal, { finished })).toEqual([share, 2])
})

test('not_joined counts people, and calls of which it is known who was invited, and that invited somebody', () => {
  const invited = (joined: number, absent: number, differing: Partial<Finish> = {}) =>
    finishAt(at(-1), 'ended', { invited: { joined, absent }, ...differing })
  const finished = [
    invited(9, 1),
    invited(0, 6, labelled('video', 'meet', 'group')),
    invited(0, 0),
    ...times(5, at(-1)),
  ]
  const signal: Signal = { name: 'not_joined', minCalls: 1, ...WINDOW }
  expect(valueOf(signal, { finished })).toEqual([7 / 16, 2])
  const ofGroups = ruleOn(signal, { match: { receiver_type: 'group' } })
  expect(ruleValueOf(ofGroups, pollAt(NOW, { finished }))).toMatchObject({ value: 1, calls: 1 })
})

describe('recorded', () => {
  const signal: Signal = { name: 'recorded', offset: 0, minCalls: 1, ...WINDOW }
  const finished = [
    ...times(4, at(-1)),
    finishAt(at(-2)),
    ...times(3, at(-1), 'unanswered'),
    finishAt(at(-5), 'ended', labelled('video')),
  ]

  test('is the share of the ended calls of which a recording was seen', () => {
    const seen = (...recorded: Finish[]) => valueOf(signal, { finished, recorded })
    expect([seen(), seen(finishAt(at(-2))), seen(...times(4, at(-1)))]).toEqual([[0, 6], [1 / 6, 6], [4 / 6, 6]]) // oxfmt-ignore
    expect(seen(...finished.filter(({ status }) => status === 'ended'))).toEqual([1, 6])
  })

  test('counts calls of the labels of its rule', () => {
    const rule = ruleOn(signal, { match: { type: 'video' } })
    const recorded = [finishAt(at(-5), 'ended', labelled('video'))]
    expect(ruleValueOf(rule, pollAt(NOW, { finished, recorded }))).toMatchObject({ value: 1, calls: 1 })
  })

  test('has a window that ends earlier by its offset, as the times of the calls behind its alert say', () => {
    const rule = ruleOn({ ...signal, offset: 600 }, { breach: 'below' })
    const counted = [-1500.001, -1500, -600, -599.999].map(
      (seconds) => ruleValueOf(rule, pollAt(NOW, { finished: [finishAt(at(seconds))] }))?.calls,
    )
    expect(counted).toEqual([0, 1, 1, 0])
    const late = pollAt(NOW, { finished: [], previousSuccess: at(-5000) })
    const windows = [pollAt(NOW, { finished }), late].map(
      (each) => evidenceOf(rule, { labels: {}, value: 0 }, each).window,
    )
    expect(windows).toEqual([
      { from: at(-1500), to: at(-600) },
      { from: at(-5600), to: at(-600) },
    ])
    expect(reachOf(rule)).toBe(8 * 900 + 600)
  })
})

test('with a status, only calls with it are stuck', () => {
  const open = [openSince(at(-600)), { ...openSince(at(-600)), status: 'initiated' as const }, openSince(at(-60))]
  const stuck = (only: { status?: 'initiated' | 'ongoing' }) =>
    valueOf({ name: 'stuck_calls', longerThan: 300, ...only }, { open })
  expect([stuck({ status: 'initiated' }), stuck({ status: 'ongoing' }), stuck({})]).toEqual([[1, 1], [1, 1], [2, 2]]) // oxfmt-ignore
})

test.each([
  ['UTC', 0.1],
  ['Europe/Berlin', 0.3],
  ['America/New_York', 0.7],
])('budget_minutes in %s are those since the month began there, as a share of the limit: %d', (timezone, share) => {
  const november = Date.UTC(2026, 10, 1) / 1000
  const usage = new Map([
    [november - 86_400, 40],
    [november - 3600, 20],
    [november, 10],
  ])
  const trigger = pollAt(november + 900, { usedSince: (time) => usedSince({ usage }, time, 'participants') })
  const rule = ruleOn({ name: 'budget_minutes', limit: 100, of: 'participants', timezone, cycleDay: 1 })
  expect(ruleValueOf(rule, trigger)).toMatchObject({ value: share, calls: undefined, tooFew: false, mayBreach: true })
})

test('budget_minutes are those since the day on which the vendor begins a month', () => {
  const day = (of: number) => Date.UTC(2026, 10, of) / 1000
  const usage = new Map([8, 9, 10].map((of) => [day(of), of]))
  const trigger = pollAt(day(20), { usedSince: (time) => usedSince({ usage }, time, 'participants') })
  const rule = ruleOn({ name: 'budget_minutes', limit: 100, of: 'participants', timezone: 'UTC', cycleDay: 9 })
  expect(ruleValueOf(rule, trigger)).toMatchObject({ value: 0.19 })
})

test('budget_minutes of the duration are user minutes, and have no value while these are not known', () => {
  const rule = ruleOn({ name: 'budget_minutes', limit: 100, of: 'duration', timezone: 'UTC', cycleDay: 1 })
  const usage = new Map([[at(0), 40]])
  const used = { usage, userMinutes: new Map([[at(0), 50]]) }
  const trigger = (of: Used) => pollAt(at(900), { usedSince: (...given) => usedSince(of, ...given) })
  expect(ruleValueOf(rule, trigger(used))).toMatchObject({ value: 0.5, calls: undefined })
  expect(ruleValueOf(rule, trigger({ usage }))).toBeUndefined()
})

describe('min_calls', () => {
  test.each([
    [3, 3, true],
    [19, 19, true],
    [20, 20, false],
  ])('a ratio over %d calls, of which %d failed, is noise below 20: too few is %s', (total, failed, tooFew) => {
    const rule = ruleOn({ name: 'failure_ratio', reason: 'any', minCalls: 20, ...WINDOW })
    expect(ruleValueOf(rule, poll(NOW, failed, total))).toMatchObject({ value: 1, calls: total, tooFew })
  })

  test.each([
    ['above', 0.3, 10, true],
    ['above', 0.33, 10, false],
    ['below', 0.7, 10, true],
    ['below', 0.67, 10, false],
  ] as const)('with a confidence of 0.95 a ratio is surely %s %d at %d failures in 20: %s', (...given) => {
    // One-sided Wilson bounds of 10 in 20: 0.3274038 and 0.6725962 (see wilson.test.ts).
    const [breach, threshold, failed, isSure] = given
    const signal = { name: 'failure_ratio', reason: 'any', minCalls: 20, confidence: 0.95, ...WINDOW } as const
    const rule = ruleOn(signal, { breach, threshold })
    const value = ruleValueOf(rule, poll(NOW, failed, 20))!
    expect([value.value, value.isSure]).toEqual([0.5, isSure])
    // It is shown in either case.
    expect(couldBreach(value)).toBe(true)
  })
})

test('seconds below ten have a decimal, so that a value beyond its threshold is another number', () => {
  expect([0.4, 1.4, 2.5, 9.96, 12.4].map((value) => formatIn('seconds', value))).toEqual([
    '0.4s',
    '1.4s',
    '2.5s',
    '10s',
    '12s',
  ])
})
