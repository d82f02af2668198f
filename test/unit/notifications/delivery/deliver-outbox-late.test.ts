import { describe, expect, test } from 'vitest'
import { isoTime } from '../../../../src/clock/times.ts'
import { alertHistory } from '../../../kit/history/as-shown.ts'
import { DeliveryError } from '../../../../src/network/delivery-error.ts'
import type { Inhibition, Mute } from '../../../../src/notifications/delivery/suppress.ts'
import { partsOf } from '../../../../src/notifications/text/message-parts.ts'
import { AT, sending, type Named } from '../../../kit/notifications/delivery/outbox-sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }
const C = { name: 'C', severity: 'critical' as const }
const OTHER = { name: 'Other', target: 'staging' }
/** For so long the receiver takes no message (seconds). */
const AWAY = 1800

/** A quarter of an hour, from 30 s after the start on. */
const MUTE: Mute = { start: '16 8 * * *', duration: 900, timezone: 'UTC', match: { alert: 'A' } }
const BY_OTHER: Inhibition = { sourceMatch: { alert: 'Other' }, targetMatch: { alert: 'A' }, equal: [] }

type Late = ReturnType<typeof late>

/** A receiver that is in back-off from the first second on, for half an hour. */
function late(options: { mutes?: Mute[]; inhibit?: Inhibition[] } = {}) {
  let isAway = true
  const sent = sending({
    ...options,
    groupWait: 10,
    receive: () => (isAway ? new DeliveryError('busy', { retryable: true, retryAfter: AWAY }) : undefined),
  })
  /** Happens so many seconds after the start. */
  const at = async (second: number, happen: () => Promise<unknown>) => {
    await sent.clock.advance(second - sent.clock.monotonic())
    await happen()
  }
  return {
    ...sent,
    begin: async () => {
      await sent.put({ kind: 'digest', digest: { kind: 'digest', day: '2026-11-19', timezone: 'UTC', targets: [] } })
      await sent.clock.advance(1)
    },
    at,
    fires: (alert: Named, from: number, to: number) => [
      { second: from, happen: () => sent.fire(alert) },
      { second: to, happen: () => sent.resolve(alert) },
    ],
    silence: async (match: { alert?: string }, from: number, to: number) =>
      sent.store.addSilence({ match, since: AT + from, until: AT + to, reason: 'deploy' }),
    /** What the receiver gets from when it answers again, for so many seconds, but for the digest. */
    back: async (seconds = 700) => {
      isAway = false
      const before = sent.received.length
      await sent.clock.advance(AWAY - sent.clock.monotonic() + seconds)
      return sent.received.slice(before).flatMap(([, text]) => (text.startsWith('digest') ? [] : text))
    },
  }
}

/** What happens, by its second. */
async function play(run: Late, ...happenings: readonly { second: number; happen: () => Promise<unknown> }[]) {
  await run.begin()
  for (const { second, happen } of happenings.toSorted((a, b) => a.second - b.second)) await run.at(second, happen)
}

describe('after a back-off, an alert that fired and resolved meanwhile', () => {
  test.each<[string, { mutes?: Mute[]; inhibit?: Inhibition[] }, (run: Late) => Promise<void>, string[]]>([
    [
      'is not notified where it was silenced all the time',
      {},
      async (run) => {
        await run.silence({ alert: 'A' }, 60, 660)
        await play(run, ...run.fires(A, 120, 300))
      },
      [],
    ],
    [
      'is not notified where it was muted all the time',
      { mutes: [MUTE] },
      (run) => play(run, ...run.fires(A, 30, 930)),
      [],
    ],
    [
      'is not notified where it was inhibited all the time, by an alert that has ended since',
      {},
      (run) => play(run, ...run.fires(C, 60, 300), ...run.fires(A, 120, 200)),
      ['flapped C ×1'],
    ],
    [
      'is not notified where it fired and resolved in the same evaluations as the alert that inhibits it',
      {},
      (run) => play(run, ...run.fires(C, 60, 300), ...run.fires(A, 60, 300)),
      ['flapped C ×1'],
    ],
    [
      'is not notified where an alert inhibited it that a rule names, of another target',
      { inhibit: [BY_OTHER] },
      (run) => play(run, ...run.fires(OTHER, 60, 300), ...run.fires(A, 60, 200)),
      ['flapped Other ×1'],
    ],
    [
      'is not notified where one thing suppressed it after the other, without a gap',
      { mutes: [{ ...MUTE, duration: 60 }] },
      async (run) => {
        await run.silence({ alert: 'A' }, 80, 120)
        await play(run, ...run.fires(C, 110, 400), ...run.fires(A, 40, 400))
      },
      ['flapped C ×1'],
    ],
    [
      'is notified where two silences left a gap',
      {},
      async (run) => {
        await run.silence({ alert: 'A' }, 60, 200)
        await run.silence({ alert: 'A' }, 220, 400)
        await play(run, ...run.fires(A, 120, 300))
      },
      ['flapped A ×1'],
    ],
    [
      'is notified where it fired before the silence began',
      {},
      async (run) => {
        await run.silence({ alert: 'A' }, 60, 660)
        await play(run, ...run.fires(A, 30, 300))
      },
      ['flapped A ×1'],
    ],
    [
      'is notified where it still fired when the silence had expired',
      {},
      async (run) => {
        await run.silence({ alert: 'A' }, 60, 200)
        await play(run, ...run.fires(A, 120, 300))
      },
      ['flapped A ×1'],
    ],
    [
      'is notified where it still fired when what inhibited it had ended',
      {},
      (run) => play(run, ...run.fires(C, 60, 200), ...run.fires(A, 120, 300)),
      ['flapped C ×1', 'flapped A ×1'],
    ],
    [
      'is not notified where the silence was ended early, but after it',
      {},
      async (run) => {
        const { id } = await run.silence({ alert: 'A' }, 60, 3600)
        await play(run, ...run.fires(A, 120, 200), { second: 200, happen: () => run.store.expireSilence(id, AT + 200) })
      },
      [],
    ],
    [
      'is notified where the silence was ended early, before it',
      {},
      async (run) => {
        const { id } = await run.silence({ alert: 'A' }, 60, 3600)
        await play(run, ...run.fires(A, 120, 200), { second: 150, happen: () => run.store.expireSilence(id, AT + 150) })
      },
      ['flapped A ×1'],
    ],
    [
      'is notified by what the silence matched at that time, if it was edited later',
      {},
      async (run) => {
        const silence = await run.silence({ alert: 'A' }, 60, 3600)
        await play(
          run,
          ...run.fires(A, 120, 200),
          ...run.fires(B, 120, 200),
          { second: 250, happen: () => run.store.editSilence(silence.id, { match: { alert: 'B' } }, AT + 250) },
          { second: 260, happen: () => run.store.editSilence(silence.id, { reason: 'still' }, AT + 260) },
          ...run.fires({ name: 'B', target: 'staging' }, 300, 400),
          ...run.fires({ name: 'A', target: 'staging' }, 300, 400),
          { second: 450, happen: () => run.store.expireSilence(silence.id, AT + 450) },
        )
      },
      ['flapped B ×1', 'flapped A ×1'],
    ],
    [
      'counts only those times that it was not suppressed',
      {},
      async (run) => {
        await run.silence({ alert: 'A' }, 200, 500)
        await play(run, ...run.fires(A, 60, 120), ...run.fires(A, 210, 300), ...run.fires(A, 310, 499))
      },
      ['flapped A ×1'],
    ],
    [
      'is not notified to a receiver whose beginning was a reminder, where it was silenced since that',
      {},
      async (run) => {
        await run.silence({ alert: 'A' }, 60, 660)
        const [, end] = run.fires(A, 120, 300)
        await play(run, { second: 120, happen: () => run.fire(A, { firingSince: AT + 20 }) }, end!)
      },
      [],
    ],
    [
      'is not notified by another process either',
      {},
      async (run) => {
        await run.silence({ alert: 'A' }, 60, 660)
        await play(run, ...run.fires(A, 120, 300), { second: 690, happen: async () => run.restart() })
      },
      [],
    ],
  ])('%s', async (_case, options, happen, expected) => {
    const run = late(options)
    await happen(run)
    expect(await run.back()).toEqual(expected)
    expect(await run.waiting()).toEqual([])
  })

  test('is noted as discarded, with what suppressed it', async () => {
    const run = late()
    const { id } = await run.silence({ alert: 'A' }, 60, 660)
    await play(run, ...run.fires(C, 100, 300), ...run.fires(A, 120, 300))
    await run.back()
    const { alerts } = await alertHistory(run.store, { from: 0, to: AT + 9999 }, { configured: [], now: AT + 9999 })
    const at = isoTime(AT + 120)
    const discarded = { receiver: 'slack', at: isoTime(AT + AWAY + 1), outcome: 'discarded' }
    expect(alerts.find(({ key }) => key === 'A')).toMatchObject({
      notified: [
        { ...discarded, kind: 'firing' },
        { ...discarded, kind: 'resolved' },
      ],
      suppressed: [
        { by: 'silence', at, until: isoTime(AT + 660), silence: id, reason: 'deploy' },
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
  const { fire, resolve, clock, received, waiting } = sending({ groupWait: 10 })
  await fire(C)
  await fire(A)
  await clock.advance(60)
  await resolve(C)
  await resolve(A)
  await clock.advance(60)
  expect(received.map(([, text]) => text)).toEqual(['firing C', 'resolved C'])
  expect(await waiting()).toEqual([])
})

describe('an alert that fired before a silence that is active when its receiver answers again', () => {
  test.each([
    ['is notified when that expires, if it still fires', false, ['firing A']],
    ['is notified when that expires, if it has ended, too', true, ['flapped A ×1']],
  ])('%s', async (_case, ends, expected) => {
    const run = late()
    await run.silence({ alert: 'A' }, 60, AWAY + 300)
    const [fired, ended] = run.fires(A, 30, 120)
    await play(run, fired!, ...(ends ? [ended!] : []))
    expect(await run.back(290)).toEqual([])
    const before = run.received.length
    await run.clock.advance(60)
    expect(run.received.slice(before).map(([, text]) => text)).toEqual(expected)
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
    expect(lateIn(sent)).toContainEqual(expect.stringMatching(/^made .*, delivered 11m/))
    expect(lateIn(sent).join()).not.toContain('silenced')
  })
})
