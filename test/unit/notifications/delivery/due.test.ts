import { describe, expect, test } from 'vitest'
import type { Severity } from '../../../../src/alerts/match-keys.ts'
import { due, type Heard, type Kind, type Situation } from '../../../../src/notifications/delivery/due.ts'

const [WAIT, SPREADING, GROWTH, INTERVAL, REPEAT] = [20, 30, 60, 300, 3600]
const LONG = 1e6
/** By the monotonic clock. */
const NOW = 1e7

type Is = { on?: string; severity?: Severity }
type Waiting = Situation['firing'][number] & { waited: number }
type Given = Partial<Omit<Situation, 'heard' | 'firing'>> & { firing?: readonly Waiting[]; heard?: Heard[] }

/** An alert on a target of its own, a warning, unless said otherwise. */
const named = (name: string, { on = name, severity = 'warning' }: Is = {}) => ({ name, target: on, severity })
const fires = (name: string, waited: number, is?: Is): Waiting => ({ ...named(name, is), waited })
/** Notified so many seconds ago, and where it is over its end as well. */
const heard = (name: string, ago: number, is?: Is): Heard => {
  return { ...named(name, is), episode: `${name} 1`, heardAt: NOW - ago, endedAt: undefined }
}
const over = (name: string, ago: number, is?: Is): Heard => ({ ...heard(name, ago, is), endedAt: NOW - ago })
const many = <T>(n: number, make: (name: string) => T): T[] => Array.from({ length: n }, (_, i) => make(`A${i}`))
const unanswered = ({ begun = [], ended = [] }: { begun?: Heard[]; ended?: Heard[] }) => [{ begun, ended }]

/** What is due of a group, and in how many seconds at the earliest something may be. */
function next(given: Given) {
  const { firing = [] } = given
  const waited = Math.max(0, ...firing.map((one) => one.waited))
  const empty = { firing, waited, now: NOW, quiet: [], heard: [], unanswered: [], was: 0, isSpreading: false }
  const times = { wait: WAIT, interval: INTERVAL, repeat: REPEAT, targets: 100 }
  const left: number[] = []
  const kind = due({ ...empty, ...times, ...given }, (age, limit) => {
    if (age < limit) left.push(limit - age)
    return age >= limit
  })
  return { kind, soonest: Math.min(...left) }
}

const CRITICAL = { severity: 'critical' } as const
const INFO = { severity: 'info' } as const

describe.each<[Kind, [what: string, seconds: number, at: (t: number) => Given][]]>([
  [
    'begins',
    [
      ['an alert has waited', WAIT, (t) => ({ firing: [fires('A', t)] })],
      ['one of several has', WAIT, (t) => ({ firing: [fires('A', 0), fires('B', t), fires('C', 1)] })],
      ['an outage that spreads', WAIT + SPREADING, (t) => ({ firing: [fires('A', t)], isSpreading: true })],
      ['the wait is over', WAIT, (t) => ({ firing: [fires('A', t)], heard: [over('A', INTERVAL)] })],
      ['soon after an end', INTERVAL, (t) => ({ firing: [fires('A', LONG)], heard: [over('B', t)] })],
      [
        'soon after an end that an edit told',
        INTERVAL,
        (t) => ({ firing: [fires('A', LONG)], heard: [{ ...heard('B', t), endedAt: NOW - 1 }] }),
      ],
      [
        'soon after an end, more severe',
        WAIT,
        (t) => ({ firing: [fires('A', t), fires('B', t, CRITICAL)], heard: [over('B', 1)] }),
      ],
      [
        'soon after an end, as severe as the worst that ended',
        INTERVAL,
        (t) => ({ firing: [fires('A', LONG, CRITICAL)], heard: [over('B', t, CRITICAL), over('C', t)] }),
      ],
      [
        'soon after an end, on four times the targets',
        WAIT,
        (t) => ({ firing: many(4, (name) => fires(name, t)), heard: [over('A', 1)] }),
      ],
      [
        'soon after an end, on three times the targets',
        INTERVAL,
        (t) => ({ firing: many(3, (name) => fires(name, LONG)), heard: [over('A', t)] }),
      ],
      [
        'soon after an end, on four times the targets of the last message',
        WAIT,
        (t) => ({
          firing: many(4, (name) => fires(name, t)),
          heard: [over('B', 100), ...many(10, (name) => over(name, 200))],
        }),
      ],
      [
        'an attempt to tell it got no answer',
        WAIT,
        (t) => ({ firing: [fires('A', t)], unanswered: unanswered({ begun: [heard('A', 0)] }) }),
      ],
    ],
  ],
  [
    'worse',
    [
      ['an alert is more severe now', 0, () => ({ firing: [fires('A', 0, CRITICAL)], heard: [heard('A', 0)] })],
      [
        'a more severe one fires, too',
        0,
        () => ({ firing: [fires('A', LONG), fires('B', 0)], heard: [heard('A', 0, INFO), heard('C', 0, INFO)] }),
      ],
      [
        'it is on more targets as well',
        0,
        () => ({ firing: many(9, (name) => fires(name, 0, CRITICAL)), heard: [heard('A0', LONG)] }),
      ],
    ],
  ],
  [
    'more',
    [
      [
        'on four times the targets',
        GROWTH,
        (t) => ({ firing: many(4, (name) => fires(name, 0)), heard: [heard('A0', t)] }),
      ],
      [
        'on all targets',
        GROWTH,
        (t) => ({ firing: many(3, (name) => fires(name, 0)), heard: [heard('A0', t), heard('A1', t)], targets: 3 }),
      ],
      [
        'on four times the targets, of which one that was told is suppressed',
        GROWTH,
        (t) => ({
          firing: many(7, (name) => fires(name, 0)),
          quiet: [named('B')],
          heard: [heard('A0', t), heard('B', LONG)],
        }),
      ],
      [
        'on four times the targets that still counted as firing',
        GROWTH,
        (t) => ({ firing: many(4, (name) => fires(name, 0)), heard: [heard('A0', t), over('B', 100), over('C', 100)] }),
      ],
    ],
  ],
  [
    'changed',
    [
      ['another one fires', INTERVAL, (t) => ({ firing: [fires('A', 0), fires('B', 0)], heard: [heard('A', t)] })],
      [
        'on three times the targets',
        INTERVAL,
        (t) => ({ firing: many(3, (name) => fires(name, 0)), heard: [heard('A0', t)] }),
      ],
      [
        'four more on one target',
        INTERVAL,
        (t) => ({ firing: many(5, (name) => fires(name, 0, { on: 'a' })), heard: [heard('A0', t, { on: 'a' })] }),
      ],
      [
        'another one on the only target',
        INTERVAL,
        (t) => ({
          firing: [fires('A', 0, { on: 'a' }), fires('B', 0, { on: 'a' })],
          heard: [heard('A', t, { on: 'a' })],
          targets: 1,
        }),
      ],
      ['one has ended', INTERVAL, (t) => ({ firing: [fires('A', 0)], heard: [heard('A', t), heard('B', LONG)] })],
      [
        'a less severe one fires instead',
        INTERVAL,
        (t) => ({ firing: [fires('B', 0)], heard: [heard('A', t, CRITICAL)] }),
      ],
      [
        'one has ended, and the other one is suppressed',
        INTERVAL,
        (t) => ({ quiet: [named('A')], heard: [heard('A', t), heard('B', t)] }),
      ],
      [
        'one fires again whose end may have arrived',
        INTERVAL,
        (t) => ({
          firing: [fires('A', 0)],
          heard: [heard('A', t)],
          unanswered: unanswered({ ended: [heard('A', 0)] }),
        }),
      ],
      [
        'one of two fires again whose end may have arrived',
        INTERVAL,
        (t) => ({
          firing: [fires('A', 0), fires('B', 0)],
          heard: [heard('A', t), heard('B', t)],
          unanswered: unanswered({ ended: [heard('A', 0)] }),
        }),
      ],
      [
        'one fires that may have been told',
        INTERVAL,
        (t) => ({
          firing: [fires('A', 0), fires('B', 0)],
          heard: [heard('A', t)],
          unanswered: unanswered({ begun: [heard('B', 0)] }),
        }),
      ],
      [
        'one has ended that may have been told',
        INTERVAL,
        (t) => ({
          firing: [fires('A', 0)],
          heard: [heard('A', t)],
          unanswered: unanswered({ begun: [heard('B', 0)] }),
        }),
      ],
      [
        'only one that may have been told has ended, and another one has not waited yet',
        0,
        () => ({ firing: [fires('A', 0)], unanswered: unanswered({ begun: [heard('B', 0)] }) }),
      ],
    ],
  ],
  [
    'reminder',
    [
      ['all is the same', REPEAT, (t) => ({ firing: [fires('A', 0)], heard: [heard('A', t)] })],
      [
        'one that was told is suppressed',
        REPEAT,
        (t) => ({ firing: [fires('A', 0)], quiet: [named('B')], heard: [heard('A', t), heard('B', t)] }),
      ],
      [
        'one that was not told is suppressed',
        REPEAT,
        (t) => ({ firing: [fires('A', 0)], quiet: [named('B')], heard: [heard('A', t)] }),
      ],
      [
        'one is told to fire, and an earlier attempt may have told it, too',
        REPEAT,
        (t) => ({
          firing: [fires('A', 0)],
          heard: [heard('A', t)],
          unanswered: unanswered({ begun: [heard('A', 0)] }),
        }),
      ],
    ],
  ],
  [
    'ended',
    [
      ['nothing fires any more', 0, () => ({ heard: [heard('A', 0), heard('B', 0)] })],
      ['what fires is suppressed and was not told', 0, () => ({ quiet: [named('B')], heard: [heard('A', 0)] })],
      ['it may have been told', 0, () => ({ unanswered: unanswered({ begun: [heard('A', 0)] }) })],
      [
        'its end may have been told',
        0,
        () => ({ heard: [heard('A', 0)], unanswered: unanswered({ ended: [heard('A', 0)] }) }),
      ],
    ],
  ],
  [
    'was',
    [
      ['nothing was told', 0, () => ({ was: 1 })],
      ['what was told still fires', INTERVAL, (t) => ({ firing: [fires('A', 0)], heard: [heard('A', t)], was: 1 })],
      ['something was told', INTERVAL, (t) => ({ was: 1, heard: [over('A', t), over('B', LONG)] })],
      ['something else is suppressed', INTERVAL, (t) => ({ was: 1, heard: [over('A', t)], quiet: [named('B')] })],
    ],
  ],
])('%s is due where', (kind, rows) => {
  test.each(rows)('%s, after %i s', (_what, seconds, at) => {
    for (const t of [seconds, seconds + 1, seconds === 0 ? LONG : seconds + 50]) expect(next(at(t)).kind).toBe(kind)
    if (seconds > 0) expect(next(at(seconds - 1))).toEqual({ kind: undefined, soonest: 1 })
  })
})

test.each<[string, Given]>([
  ['nothing fires', {}],
  ['nothing fires, which need not wait', { wait: 0 }],
  ['what fires is suppressed', { quiet: [named('A')] }],
  ['all that was told is suppressed', { quiet: [named('A')], heard: [heard('A', LONG)] }],
  [
    'what fires is suppressed, and its end may have been told',
    { quiet: [named('A')], heard: [heard('A', LONG)], unanswered: unanswered({ ended: [heard('A', 0)] }) },
  ],
  [
    'what may have been told is suppressed',
    {
      quiet: [named('A'), named('B')],
      heard: [heard('A', LONG)],
      unanswered: unanswered({ begun: [heard('B', 0)] }),
      targets: 2,
    },
  ],
  [
    'what may have been told is suppressed',
    { quiet: [named('A')], unanswered: unanswered({ begun: [heard('A', 0)] }) },
  ],
  ['its rule has no reminders', { firing: [fires('A', LONG)], heard: [heard('A', LONG)], repeat: Infinity }],
  ['all was told to have ended', { heard: [over('A', LONG)] }],
  [
    'a more severe one is suppressed',
    { firing: [fires('A', LONG)], quiet: [named('B', CRITICAL)], heard: [heard('A', 0)] },
  ],
  ['something came and went, and what fires has not waited', { firing: [fires('A', 0)], was: 1 }],
])('nothing is due where %s', (_what, given) => {
  expect(next(given).kind).toBeUndefined()
})
