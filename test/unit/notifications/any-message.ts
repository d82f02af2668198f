import * as fc from 'fast-check'
import type { Notification } from '../../../src/alerts/notification.ts'
import { SEVERITIES } from '../../../src/alerts/match-keys.ts'
import type { Signal } from '../../../src/alerts/signals.ts'
import { KINDS } from '../../../src/notifications/delivery/due.ts'
import type { AlertMessage, Message } from '../../../src/notifications/message.ts'
import type { Report } from '../../../src/views/report.ts'
import type { AlertLinks } from '../../../src/notifications/text/links.ts'
import { AT, incidentOf, SIGNALS } from '../../kit/notifications/sample.ts'
import { REPORT, REPORT_ROW } from '../../kit/history/sample-report.ts'
import { anyCharacter } from '../../kit/any-character.ts'

const NASTY = [
  '<!channel>',
  '@here',
  '&',
  '<https://evil.test|here>',
  '"',
  '\\',
  '`',
  '*',
  ':fire:',
  '\n',
  '\r\n',
  '\u0000',
  '\u202E',
  'מרכז',
  '😀',
  '\uD83D',
  '\uDC00',
  ' ',
  'x',
]

/** Text as a configuration could hold it, and worse; some of it very long. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc
    .tuple(fc.array(fc.constantFrom(...NASTY), { minLength: 1, maxLength: 6 }), fc.constantFrom(1, 30, 300))
    .map(([parts, times]) => parts.join('').repeat(times)),
)

const PLAIN = { noNullPrototype: true } as const
const anyNumber = fc.oneof(
  fc.double({ min: 0, max: 1 }),
  fc.integer({ min: 0, max: 1_000_000 }),
  fc.constantFrom(0, 1, NaN, Infinity, 1e300),
)
const anyTime = fc.integer({ min: AT - 1e7, max: AT + 1e7 })
const anyCount = fc.integer({ min: 0, max: 1_000_000_000 })
const anyCounts = fc.record(
  {
    ended: anyCount,
    unanswered: anyCount,
    rejected: anyCount,
    canceled: anyCount,
    other: anyCount,
    total: anyCount,
  },
  PLAIN,
)
const anyUrl = fc.oneof(
  fc.domain().map((domain) => `https://${domain}/runbook?of=alert#first`),
  anyText,
  anyText.map((text) => `https://runbooks.test/${text}`),
  fc.constantFrom(1000, 2950, 3500).map((length) => `https://runbooks.test/${'x'.repeat(length)}`),
)
const anyLabels: fc.Arbitrary<Notification['labels']> = fc.record(
  { type: anyText, mode: anyText, receiver_type: anyText },
  { requiredKeys: [], ...PLAIN },
)
const anySignal: fc.Arbitrary<Signal> = fc.constantFrom(...Object.values(SIGNALS).map(({ signal }) => signal))

const anyNotification: fc.Arbitrary<Notification> = fc
  .tuple(
    fc.record(
      {
        kind: fc.constantFrom('firing', 'resolved', 'expired'),
        target: anyText,
        key: anyText,
        alert: anyText,
        severity: fc.constantFrom(...SEVERITIES),
        labels: anyLabels,
        signal: anySignal,
        match: anyLabels,
        breach: fc.constantFrom('above', 'below'),
        value: anyNumber,
        threshold: anyNumber,
        clear: anyNumber,
        since: anyTime,
        firingSince: anyTime,
        peak: anyNumber,
        at: anyTime,
      },
      PLAIN,
    ),
    fc.record(
      {
        expiredBecause: fc.constantFrom('too few calls', 'rule removed', 'target removed'),
        calls: anyCount,
        counts: anyCounts,
        contributor: fc.record(
          {
            label: fc.constantFrom('type', 'mode', 'receiver_type'),
            value: anyText,
            failures: anyCount,
            ofFailures: anyCount,
            calls: anyCount,
            ofCalls: anyCount,
          },
          PLAIN,
        ),
        cause: anyText,
        trend: fc.array(fc.option(anyNumber), { maxLength: 8 }),
        forecast: anyNumber,
        runbookUrl: anyUrl,
        description: anyText,
      },
      { ...PLAIN, requiredKeys: [] },
    ),
  )
  .map(([always, sometimes]) => ({ ...always, ...sometimes, by: [], for: 0, keepFiringFor: 0, repeat: 0 }))

/** Many from a few, so that long messages are not slow to make. */
function many<T>(one: fc.Arbitrary<T>, maximum: number): fc.Arbitrary<T[]> {
  return fc
    .tuple(fc.array(one, { minLength: 1, maxLength: 4 }), fc.oneof(fc.nat({ max: 6 }), fc.nat({ max: maximum })))
    .map(([some, length]) => Array.from({ length }, (_, index) => some[index % some.length]!))
}

/** A report with names of any kind, and numbers of any size. */
const anyReport: fc.Arbitrary<Report> = fc
  .tuple(many(anyText, 100), many(anyText, 30), anyCount)
  .map(([names, rules, total]) => {
    const calls = { ...REPORT_ROW.calls, total, rejected: total }
    const blind = names.map((target) => ({ ...REPORT.coverage.blind[0]!, target }))
    return {
      ...REPORT,
      rows: names.map((target) => ({ ...REPORT_ROW, target, calls })),
      fired: rules.map((alert) => ({ ...REPORT.fired[0]!, alert, times: total })),
      coverage: { ...REPORT.coverage, blind },
    }
  })

/** A link to the page of an alert as Slack has it. */
export const SLACK_ALERT_LINK = /<https:\/\/callwatch\.test\/x*\|[^<>|]*>/g
/** The longest one is too long for a list. */
const anyLinks: fc.Arbitrary<AlertLinks> = fc
  .constantFrom(0, 100, 400)
  .map((length) => `https://callwatch.test/${'x'.repeat(length)}`)
  .map((page) => ({ alert: page, silence: page }))

/** What of its alerts fires is its incident. */
function withIncident(message: Omit<AlertMessage, 'incident'>): AlertMessage {
  const { alerts, unchanged, targets } = message
  return {
    ...message,
    incident: incidentOf(
      [...alerts, ...unchanged].map(({ notification }) => notification),
      targets,
    ),
  }
}

/** Any message, with up to 100 alerts. */
export const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        kind: fc.constant('alerts' as const),
        group: fc.record({ alert: anyText, severity: anyText }, PLAIN),
        target: fc.option(anyText, { nil: undefined }),
        severity: fc.constantFrom(...SEVERITIES),
        route: fc.option(fc.record({ alert: anyText }, PLAIN), { nil: undefined }),
        id: fc.uuid(),
        about: fc.constantFrom(...KINDS, 'edit' as const, 'unrouted' as const),
        thread: fc.option(anyText, { nil: undefined }),
        unanswered: fc.constant([]),
        failingSince: fc.option(anyTime, { nil: undefined }),
        elsewhere: many(anyNotification, 100),
        targets: fc.nat(),
        links: fc.record({ overview: anyUrl, silence: anyUrl }, PLAIN),
        unchanged: many(
          fc.record({ notification: anyNotification, flaps: fc.constant(0), links: anyLinks }, PLAIN),
          100,
        ),
        alerts: many(fc.record({ notification: anyNotification, flaps: fc.nat(), links: anyLinks }, PLAIN), 100),
        flapped: many(
          fc.record(
            {
              notification: anyNotification,
              times: fc.integer({ min: 1 }),
              peak: anyNumber,
              endedAt: anyTime,
              links: anyLinks,
            },
            PLAIN,
          ),
          100,
        ),
        inhibited: many(
          fc.record({ alert: anyText, target: anyText, severity: fc.constantFrom(...SEVERITIES) }, PLAIN),
          100,
        ),
        silenced: many(fc.record({ alert: anyText, target: anyText, until: anyTime, reason: anyText }, PLAIN), 100),
      })
      .map(withIncident),
  },
  fc.record({
    kind: fc.constant('report' as const),
    report: anyReport,
    every: fc.constantFrom('day' as const, 'month' as const),
  }),
  fc.record(
    {
      kind: fc.constant('store' as const),
      state: fc.constantFrom('failing' as const, 'recovered' as const),
      problem: anyText,
      since: anyTime,
      at: anyTime,
    },
    PLAIN,
  ),
)
