import { describe, expect, test } from 'vitest'
import type { Notification } from '../../src/alerts/notification.ts'
import { nextDelivery, type NextDeliveryOptions } from '../../src/notify/next-delivery.ts'
import type { OutboxEntry, Outgoing } from '../../src/store/store.ts'
import { AT, changeOf, inShort, liveAlert, type Named } from './outbox-sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }

const entries = (...contents: Outgoing[]): OutboxEntry[] =>
  contents.map((content, i) => ({ id: i + 1, content, claimed: false }))

const firing = (alert: Named, at = AT - 60, differing: Partial<Notification> = {}) =>
  changeOf(alert, 'firing', at, undefined, differing)

const resolved = (alert: Named, at = AT) =>
  changeOf(alert, 'resolved', at, { since: AT - 60, firingSince: AT - 60, peak: 0.5 })

const digest = (day: string): Outgoing => ({
  kind: 'digest',
  digest: { kind: 'digest', day, timezone: 'UTC', targets: [] },
})

function next(waiting: readonly OutboxEntry[], differing: Partial<NextDeliveryOptions> = {}) {
  const nothing = { isSuppressed: () => false, isUnwanted: () => false, alerts: [], silences: [] }
  const options = { now: AT, groupWait: 10, ...nothing, ...differing }
  const delivery = nextDelivery(waiting, options)
  return delivery && { ...delivery, said: delivery.message && inShort(delivery.message) }
}

test('nothing is to be done where nothing waits', () => {
  expect(next([])).toBeUndefined()
})

describe('what goes next', () => {
  test.each<[string, Outgoing, string]>([
    ['of another target', firing({ ...B, target: 'staging' }), 'firing A'],
    ['of another severity', firing({ ...B, severity: 'critical' }), 'firing A'],
    ['of the same target and severity', firing(B), 'firing A, firing B'],
    ['a digest', digest('2026-11-19'), 'firing A'],
  ])('is the oldest, together with what belongs to it: %s', (_case, other, said) => {
    expect(next(entries(firing(A), other))).toMatchObject({ said })
  })

  test('is a digest, where that is the oldest', () => {
    expect(next(entries(digest('2026-11-19'), firing(A)))).toMatchObject({ ids: [1], said: 'digest of 2026-11-19' })
  })

  test('is what is ready, where the oldest still waits', () => {
    expect(next(entries(firing(A, AT - 1), firing({ ...B, severity: 'critical' })))).toMatchObject({ said: 'firing B' })
    expect(next(entries(firing(A, AT - 1), digest('2026-11-19')))).toMatchObject({ ids: [2] })
  })

  test('is the last of several digests; those of the days before are no news', () => {
    const days = ['2026-11-17', '2026-11-18', '2026-11-19'].map(digest)
    expect(next(entries(...days))).toMatchObject({ ids: [1, 2, 3], said: 'digest of 2026-11-19' })
  })

  test('keeps alerts apart that are called the same but for their target', () => {
    const all = entries(firing(A), firing({ ...A, target: 'staging' }), resolved({ ...A, target: 'staging' }))
    expect(next(all)).toMatchObject({ ids: [1], said: 'firing A' })
    expect(next(all.slice(1))).toMatchObject({ ids: [2, 3], said: 'passed A ×1' })
  })

  test('counts an alert by its severity now: an end never overtakes the firing that it ends', () => {
    const all = entries(firing(A), firing(B), resolved({ ...A, severity: 'critical' }))
    expect(next(all)).toMatchObject({ ids: [1, 3], said: 'passed A ×1', message: { severity: 'critical' } })
    expect(next(all.slice(1, 2))).toMatchObject({ said: 'firing B', message: { severity: 'warning' } })
  })
})

describe('an alert that still fires', () => {
  const counts = { ended: 5, unanswered: 5, rejected: 0, canceled: 0, other: 0, total: 10 }
  const told = firing(A, AT - 3600, { value: 0.4, calls: 40 })
  const live = liveAlert(A, { ...told, value: 0.8, peak: 0.9, calls: 10, counts })

  test.each(['firing', 'reminder'] as const)('is told with its value as it is now: %s', (kind) => {
    const delivery = next(entries({ ...told, kind }), { alerts: [live] })
    const now = { value: 0.8, peak: 0.9, calls: 10, counts }
    expect(delivery?.message).toMatchObject({ alerts: [{ notification: { ...told, ...now, kind } }] })
  })

  test.each([
    ['of another target', { ...live, target: 'staging' }],
    ['of another name', { ...live, instance: { ...live.instance, key: 'B' } }],
    ['that only may fire again', { ...live, instance: { ...live.instance, state: 'pending' as const } }],
  ])('is not taken for one %s', (_case, other) => {
    expect(next(entries(told), { alerts: [other] })?.message).toMatchObject({ alerts: [{ notification: told }] })
  })

  test('that is over keeps the value that ended it, whatever begins anew', () => {
    const end = { ...told, kind: 'resolved' as const, value: 0.1 }
    expect(next(entries(end), { alerts: [live] })?.message).toMatchObject({ alerts: [{ notification: end }] })
  })
})

describe('what is suppressed', () => {
  const isSuppressed = ({ key }: Notification) => key === 'A'

  test('waits, and others go', () => {
    expect(next(entries(firing(A), firing(B)), { isSuppressed })).toMatchObject({ ids: [2], said: 'firing B' })
    expect(next(entries(firing(A)), { isSuppressed })).toBeUndefined()
  })

  test('because nobody wants to hear of it, and came and went, is taken out and not told', () => {
    const all = entries(firing(A), firing(B), resolved(A))
    const unwanted = { isSuppressed, isUnwanted: isSuppressed }
    expect(next(all, unwanted)).toEqual({ ids: [1, 3], message: undefined, said: undefined })
  })

  test('because its target cannot be read, and came and went, waits until that is over', () => {
    expect(next(entries(firing(A), resolved(A)), { isSuppressed })).toBeUndefined()
  })

  test('and is over waits where its firing was told, or may have been', () => {
    const unwanted = { isSuppressed, isUnwanted: isSuppressed }
    expect(next(entries(resolved(A)), unwanted)).toBeUndefined()
    const all = entries(firing(A), resolved(A)).map((entry) => ({ ...entry, claimed: entry.id === 1 }))
    expect(next(all, unwanted)).toBeUndefined()
  })
})

test('silenced alerts are named beside what is told: those that fire, of this target and severity', () => {
  const silence = { id: 1, match: { target: 'production' }, since: AT, until: AT + 60, reason: 'deploy' }
  const alerts = [
    liveAlert(A, firing(A)),
    liveAlert({ ...A, target: 'staging' }, firing({ ...A, target: 'staging' })),
    liveAlert({ name: 'Critical', severity: 'critical' }, firing({ name: 'Critical' })),
  ]
  const pending = liveAlert({ name: 'Pending' }, firing({ name: 'Pending' }))
  alerts.push({ ...pending, instance: { ...pending.instance, state: 'pending' } })
  const delivery = next(entries(firing(B)), { alerts, silences: [silence] })
  expect(delivery?.message).toMatchObject({ silenced: [{ alert: 'A', until: AT + 60, reason: 'deploy' }] })
  expect(next(entries(firing(B)), { alerts })?.message).toMatchObject({ silenced: [] })
})
