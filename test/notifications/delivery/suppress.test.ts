import { describe, expect, test } from 'vitest'
import type { LiveAlert } from '../../../src/alerts/alert-instance.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import type { Silence } from '../../../src/alerts/match.ts'
import type { Batch } from '../../../src/notifications/delivery/batch.ts'
import { suppress, type Mute } from '../../../src/notifications/delivery/suppress.ts'
import { POLL_AGE } from '../../alerts/sample-rules.ts'
import { AT, changeOf, liveAlert } from './outbox-sending.ts'

const A = { name: 'A' }
const FIRED = changeOf(A, 'firing', AT)
const utc = (text: string) => Date.parse(text) / 1000

type Setting = { mutes?: Mute[]; silences?: Silence[]; alerts?: LiveAlert[]; change?: Notification }

/** Whether an alert waits that fires. */
async function waits(
  now: string | number,
  { mutes = [], silences = [], alerts = [], change = FIRED }: Setting = {},
): Promise<boolean> {
  const batch: Batch = { kind: 'alerts', alerts: [{ entries: [], changes: [change] }] }
  const at = typeof now === 'string' ? utc(now) : now
  const next = await suppress(mutes, async () => undefined)(batch, { now: at, silences, alerts })
  if (next !== undefined) expect(next).toEqual(batch)
  return next === undefined
}

describe('a mute applies from its start on, and for its duration', () => {
  const nightly: Mute = { start: '0 22 * * *', duration: 8 * 3600, timezone: 'UTC', match: {} }
  const berlin = { ...nightly, timezone: 'Europe/Berlin' }
  const saturday: Mute = { start: '0 0 * * 6', duration: 2 * 86_400, timezone: 'Europe/Berlin', match: {} }
  const early: Mute = { start: '30 2 * * *', duration: 3600, timezone: 'Europe/Berlin', match: {} }
  const often: Mute = { start: '*/15 * * * *', duration: 3600, timezone: 'UTC', match: {} }

  test.each<[string, Mute, string, boolean]>([
    ['before it', nightly, '2026-11-20T21:59:59Z', false],
    ['at its start', nightly, '2026-11-20T22:00:00Z', true],
    ['over midnight', nightly, '2026-11-21T02:00:00Z', true],
    ['in its last second', nightly, '2026-11-21T05:59:59Z', true],
    ['at its end', nightly, '2026-11-21T06:00:00Z', false],
    ['in its time zone: before it', berlin, '2026-11-20T20:59:59Z', false],
    ['in its time zone: at its start', berlin, '2026-11-20T21:00:00Z', true],
    ['in its time zone in summer: at its start', berlin, '2026-07-20T20:00:00Z', true],
    ['in its time zone in summer: at its end', berlin, '2026-07-21T04:00:00Z', false],
    ['in the night in which the clocks go back it lasts as long: before its end', berlin, '2026-10-25T03:59:59Z', true],
    ['in the night in which the clocks go back it lasts as long: at its end', berlin, '2026-10-25T04:00:00Z', false],
    ['over a weekend: on Friday', saturday, '2026-11-20T22:59:59Z', false],
    ['over a weekend: on Sunday', saturday, '2026-11-22T22:59:59Z', true],
    ['over a weekend: on Monday', saturday, '2026-11-22T23:00:00Z', false],
    ['at a time that comes twice: the first', early, '2026-10-25T00:30:00Z', true],
    ['at a time that comes twice: not the second', early, '2026-10-25T01:30:00Z', false],
    ['at a time that the clocks leave out: not before they are set', early, '2026-03-29T00:59:59Z', false],
    ['at a time that the clocks leave out: when they are set', early, '2026-03-29T01:00:00Z', true],
    ['that starts again before its end: without a gap', often, '2026-11-20T08:59:59Z', true],
  ])('%s', async (_case, mute, now, holds) => {
    expect(await waits(now, { mutes: [mute] })).toBe(holds)
  })

  test('for what it matches only', async () => {
    const ofCritical = { ...nightly, match: { severity: 'critical' } }
    const now = '2026-11-20T23:00:00Z'
    expect(await waits(now, { mutes: [ofCritical] })).toBe(false)
    expect(await waits(now, { mutes: [ofCritical], change: { ...FIRED, severity: 'critical' } })).toBe(true)
    expect(await waits(now, { mutes: [ofCritical, nightly] })).toBe(true)
  })
})

describe('a silence applies to', () => {
  test.each([
    ['everything, where it names nothing', {}, true],
    ['an alert by its name', { alert: 'A' }, true],
    ['an alert by target, severity and label', { target: 'production', severity: 'warning', type: 'video' }, true],
    ['what its rule matches', { mode: 'call' }, true],
    ['no other alert', { alert: 'B' }, false],
    ['no other label', { alert: 'A', type: 'audio' }, false],
    ['nothing without that label', { receiver_type: 'user' }, false],
  ])('%s', async (_case, match, holds) => {
    const silences = [{ id: 1, match, since: AT, until: AT + 60, reason: 'known' }]
    const change = { ...FIRED, labels: { type: 'video' }, match: { mode: 'call' } }
    expect(await waits(AT, { silences, change })).toBe(holds)
  })
})

describe('a target that cannot be polled', () => {
  const noPoll = { name: POLL_AGE.name }
  const change = changeOf(noPoll, 'firing', AT)
  const live = liveAlert(noPoll, change)
  const inState = (state: 'pending' | 'firing' | 'recovering') => [{ ...live, instance: { ...live.instance, state } }]

  test.each([
    ['firing', true],
    ['recovering', true],
    ['pending', false],
  ] as const)('suppresses its other alerts while that is %s: %s', async (state, holds) => {
    expect(await waits(AT, { alerts: inState(state) })).toBe(holds)
  })

  test('suppresses neither the alert on poll_age nor other targets', async () => {
    expect(await waits(AT, { alerts: inState('firing'), change })).toBe(false)
    expect(await waits(AT, { alerts: inState('firing'), change: { ...FIRED, target: 'staging' } })).toBe(false)
  })

  test('is not shown by other alerts', async () => {
    expect(await waits(AT, { alerts: [liveAlert(A, FIRED)] })).toBe(false)
  })
})
