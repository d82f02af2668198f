import { describe, expect, test } from 'vitest'
import { isoTime } from '../../../../src/clock/times.ts'
import { alertHistory } from '../../../kit/history/as-shown.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import type { Inhibition, Mute } from '../../../../src/notifications/delivery/suppress.ts'
import { partsOf } from '../../../../src/notifications/text/message-parts.ts'
import { AT, sending, type Named } from '../../../kit/notifications/delivery/sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }
const C = { name: 'C', severity: 'critical' as const }
const OTHER = { name: 'Other', target: 'staging' }
/** Its message is the one that the receiver does not take. */
const BEFORE = { name: 'Before', target: 'before' }
const GROUP_WAIT = 10
/** For so long the receiver takes no message (seconds). */
const AWAY = 1800

/** A quarter of an hour, from 30 s after the start on. */
const MUTE: Mute = { start: '16 8 * * *', duration: 900, timezone: 'UTC', match: { alert: 'A' } }
const BY_OTHER: Inhibition = { sourceMatch: { alert: 'Other' }, targetMatch: { alert: 'A' }, equal: [] }

type Late = ReturnType<typeof late>

/** A receiver that is in back-off from the first second on, for half an hour. */
function late(options: Suppressing = {}) {
  let isAway = true
  const sent = sending({
    ...options,
    groupWait: GROUP_WAIT,
    receive: () => (isAway ? new DeliveryError('busy', { retryable: true, retryAfter: AWAY }) : undefined),
  })
  return {
    ...sent,
    begin: async () => {
      await sent.fire(BEFORE)
      await sent.clock.advance(GROUP_WAIT)
      await sent.resolve(BEFORE)
      await sent.clock.advance(1)
    },
    /** What the receiver gets from when it answers again, for so many seconds, but for what it was told before. */
    back: async (seconds = 700) => {
      isAway = false
      const before = sent.received.length
      await sent.clock.advance(AWAY - sent.clock.monotonic() + seconds)
      return sent.received.slice(before).flatMap(([, text]) => (text.includes(BEFORE.name) ? [] : text))
    },
  }
}

type Suppressing = { mutes?: Mute[]; inhibit?: Inhibition[] }

/** What happens so many seconds after the start. */
type Happening = { second: number; happen: (run: Late) => Promise<unknown> }

const fires = (alert: Named, from: number, to: number): Happening[] => [
  { second: from, happen: (run) => run.fire(alert) },
  { second: to, happen: (run) => run.resolve(alert) },
]

/** Known from the first second on; the first one has the id 1. */
const silenced = (from: number, until: number): Happening => ({
  second: 1,
  happen: ({ store }) =>
    store.addSilence({ match: { alert: 'A' }, since: AT + from, until: AT + until, reason: 'deploy' }),
})
const edited = (second: number, to: Parameters<Late['store']['editSilence']>[1]): Happening => ({
  second,
  happen: ({ store }) => store.editSilence(1, to, AT + second),
})
const ended = (second: number): Happening => ({
  second,
  happen: ({ store }) => store.expireSilence(1, AT + second),
})

/** What happens, by its second. */
async function play(run: Late, happenings: readonly (Happening | Happening[])[]) {
  await run.begin()
  for (const { second, happen } of happenings.flat().toSorted((a, b) => a.second - b.second)) {
    await run.clock.advance(second - run.clock.monotonic())
    await happen(run)
  }
}

describe('after a back-off, an alert that fired and resolved meanwhile', () => {
  test.each<[string, (Happening | Happening[])[], string[], Suppressing?]>([
    ['is not notified where it was silenced all the time', [silenced(60, 660), fires(A, 120, 300)], []],
    ['is not notified where it was muted all the time', [fires(A, 30, 930)], [], { mutes: [MUTE] }],
    [
      'is not notified where it was inhibited all the time, by an alert that has ended since',
      [fires(C, 60, 300), fires(A, 120, 200)],
      ['flapped C ×1'],
    ],
    [
      'is not notified where it fired and resolved in the same evaluations as the alert that inhibits it',
      [fires(C, 60, 300), fires(A, 60, 300)],
      ['flapped C ×1'],
    ],
    [
      'is not notified where an alert inhibited it that a rule names, of another target',
      [fires(OTHER, 60, 300), fires(A, 60, 200)],
      ['flapped Other ×1'],
      { inhibit: [BY_OTHER] },
    ],
    [
      'is not notified where one thing suppressed it after the other, without a gap',
      [silenced(80, 120), fires(C, 110, 400), fires(A, 40, 400)],
      ['flapped C ×1'],
      { mutes: [{ ...MUTE, duration: 60 }] },
    ],
    [
      'is notified where two silences left a gap',
      [silenced(60, 200), silenced(220, 400), fires(A, 120, 300)],
      ['flapped A ×1'],
    ],
    ['is notified where it fired before the silence began', [silenced(60, 660), fires(A, 30, 300)], ['flapped A ×1']],
    [
      'is notified where it still fired when the silence had expired',
      [silenced(60, 200), fires(A, 120, 300)],
      ['flapped A ×1'],
    ],
    [
      'is notified where it still fired when what inhibited it had ended',
      [fires(C, 60, 200), fires(A, 120, 300)],
      ['flapped C ×1', 'flapped A ×1'],
    ],
    [
      'is not notified where the silence was ended early, but after it',
      [silenced(60, 3600), fires(A, 120, 200), ended(200)],
      [],
    ],
    [
      'is notified where the silence was ended early, before it',
      [silenced(60, 3600), fires(A, 120, 200), ended(150)],
      ['flapped A ×1'],
    ],
    [
      'is notified by what the silence matched at that time, if it was edited later',
      [
        silenced(60, 3600),
        fires(A, 120, 200),
        fires(B, 120, 200),
        edited(250, { match: { alert: 'B' } }),
        edited(260, { reason: 'still' }),
        fires({ name: 'B', target: 'staging' }, 300, 400),
        fires({ name: 'A', target: 'staging' }, 300, 400),
        ended(450),
      ],
      ['flapped B ×1', 'flapped A ×1'],
    ],
    [
      'counts only those times that it was not suppressed',
      [silenced(200, 500), fires(A, 60, 120), fires(A, 210, 300), fires(A, 310, 499)],
      ['flapped A ×1'],
    ],
    [
      'is not notified by another process either',
      [silenced(60, 660), fires(A, 120, 300), { second: 690, happen: async (run) => run.restart() }],
      [],
    ],
  ])('%s', async (_case, happenings, expected, suppressing) => {
    const run = late(suppressing)
    await play(run, happenings)
    expect(await run.back()).toEqual(expected)
  })

  test('is noted with what suppressed it, and nobody was notified of it', async () => {
    const run = late()
    await play(run, [silenced(60, 660), fires(C, 100, 300), fires(A, 120, 300)])
    await run.back()
    const { alerts } = await alertHistory(run.store, { from: 0, to: AT + 9999 }, { configured: [], now: AT + 9999 })
    const at = isoTime(AT + 121)
    expect(alerts.find(({ key }) => key === 'A')).toMatchObject({
      notified: [],
      suppressed: [
        { by: 'silence', at, until: isoTime(AT + 660), silence: 1, reason: 'deploy' },
        { by: 'inhibition', at, alert: 'C' },
      ],
    })
  })
})

test('the end of a known alert is not counted with times that were silenced', async () => {
  const { fire, resolve, clock, messages, store, received } = sending({
    groupWait: 10,
    receive: (message, attempt) =>
      attempt === 2 ? new DeliveryError('busy', { retryable: true, retryAfter: 600 }) : undefined,
  })
  await fire(A)
  await clock.advance(12)
  await resolve(A)
  await clock.advance(2)
  await store.addSilence({ match: { alert: 'A' }, since: clock.wall(), until: clock.wall() + 100, reason: '' })
  await fire(A)
  await clock.advance(30)
  await resolve(A)
  await clock.advance(700)
  expect(received.map(([, text]) => text)).toEqual(['firing A', 'resolved A', 'resolved A'])
  expect(messages.at(-1)).toMatchObject({ alerts: [{ flaps: 0, notification: { at: AT + 12 } }] })
})

test('what inhibits and what it inhibits resolve in one evaluation: only the first is notified, also without a back-off', async () => {
  const { fire, resolve, clock, received } = sending({ groupWait: 10 })
  await fire(C)
  await fire(A)
  await clock.advance(60)
  await resolve(C)
  await resolve(A)
  await clock.advance(60)
  expect(received.map(([, text]) => text)).toEqual(['firing C', 'resolved C'])
})

describe('an alert that fired before a silence that is active when its receiver answers again', () => {
  test('is notified when that expires, if it still fires', async () => {
    const run = late()
    await play(run, [silenced(60, AWAY + 300), fires(A, 30, 120).slice(0, 1)])
    expect(await run.back(290)).toEqual([])
    const before = run.received.length
    await run.clock.advance(60)
    expect(run.received.slice(before).map(([, text]) => text)).toEqual(['firing A'])
  })

  test('is notified at once, if it has ended', async () => {
    const run = late()
    await play(run, [silenced(60, AWAY + 300), fires(A, 30, 120)])
    expect(await run.back(290)).toEqual(['flapped A ×1'])
  })
})

describe('a message says that it is late', () => {
  const lateIn = ({ messages }: ReturnType<typeof sending>) =>
    messages.flatMap((message) => (message.kind === 'alerts' ? partsOf(message, AT + 700).notes : []))

  test('from when nothing suppressed its alert: not if the alert was silenced for as long as it waited', async () => {
    const sent = sending()
    await sent.clock.advance(1)
    await sent.store.addSilence({ match: { alert: 'A' }, since: AT, until: AT + 690, reason: 'deploy' })
    await sent.fire(A)
    await sent.clock.advance(699)
    expect([sent.received.length, lateIn(sent)]).toEqual([
      1,
      ['no longer silenced since 2026-11-20 08:27:00 UTC: 1 alert'],
    ])
  })

  test('if the receiver took nothing meanwhile', async () => {
    let isAway = true
    const sent = sending({ receive: () => (isAway ? new DeliveryError('busy', { retryable: true }) : undefined) })
    await sent.clock.advance(1)
    await sent.fire(A)
    await sent.clock.advance(600)
    isAway = false
    await sent.clock.advance(99)
    expect(lateIn(sent)).toContainEqual(expect.stringMatching(/^first tried .*, delivered 11m/))
    expect(lateIn(sent).join()).not.toContain('silenced')
  })
})
