import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../../src/alerts/notification.ts'
import type { Silence } from '../../../../src/alerts/match.ts'
import { incidentsOf } from '../../../../src/alerts/incidents.ts'
import { momentOf, type Read, type Past } from '../../../../src/notifications/delivery/moment.ts'
import { compose } from '../../../../src/notifications/delivery/compose.ts'
import { due } from '../../../../src/notifications/delivery/deliver.ts'
import { group, type ReadyAlert } from '../../../../src/notifications/delivery/waiting-alert.ts'
import { inhibition } from '../../../../src/notifications/delivery/suppress.ts'
import type { OutboxEntry, OutboxContent } from '../../../../src/store/store.ts'
import { POLL_AGE } from '../../../kit/alerts/sample-rules.ts'
import { grouping } from '../../../../src/notifications/grouping.ts'
import { GROUPED } from '../../../kit/notifications/sample.ts'
import { waitingOf } from './waiting-alert.ts'
import {
  AT,
  changeOf,
  inShort,
  liveAlert,
  NO_PAST,
  QUIET,
  type Named,
} from '../../../kit/notifications/delivery/outbox-sending.ts'

const A = { name: 'A' }
const B = { name: 'B' }

const entries = (...contents: OutboxContent[]): OutboxEntry[] =>
  contents.map((content, i) => ({ id: i + 1, content, claimed: false }))

const firing = (alert: Named, at = AT - 60, differing: Partial<Notification> = {}) =>
  changeOf(alert, 'firing', at, undefined, differing)

const resolved = (alert: Named, at = AT) =>
  changeOf(alert, 'resolved', at, { since: AT - 60, firingSince: AT - 60, peak: 0.5 })

const digest = (day: string): OutboxContent => ({
  kind: 'digest',
  digest: { kind: 'digest', day, timezone: 'UTC', targets: [] },
})

const groupOf = grouping({ ...GROUPED, groupWait: 10 })

/** What the first batch comes to that need not wait, just before it is claimed, and what is discarded by then. */
async function next(waiting: readonly OutboxEntry[], differing: Partial<Read> = {}) {
  const incidents = () => incidentsOf(moment.alerts, groupOf, 1)
  const past = async (): Promise<Past> => ({ ...NO_PAST, silences: moment.silences })
  const moment = momentOf({ ...QUIET, now: AT, incidents, past, ...differing }, inhibition([]))
  for (const batch of group(waiting, groupOf)) {
    const end = 'message' in batch ? batch : await due(batch, moment)
    if (end === undefined) continue
    const discarded = moment.discarded.map(({ id }) => id)
    return { ids: end.entries.map(({ id }) => id), discarded, message: end.message, text: inShort(end.message) }
  }
  return undefined
}

test('an empty outbox has no next message', async () => {
  expect(await next([])).toBeUndefined()
})

describe('the next message', () => {
  test.each<[string, OutboxContent, string]>([
    ['of another target', firing({ ...B, target: 'staging' }), 'firing A'],
    ['of another severity', firing({ ...B, severity: 'critical' }), 'firing B'],
    ['of the same target and severity', firing(B), 'firing A, firing B'],
    ['a digest', digest('2026-11-19'), 'firing A'],
  ])('is the most urgent, the oldest of these, together with what belongs to it: %s', async (_case, other, text) => {
    expect(await next(entries(firing(A), other))).toMatchObject({ text })
  })

  test('is a digest, if no alert waits', async () => {
    const all = entries(digest('2026-11-19'), resolved(A), firing(A))
    expect(await next(all)).toMatchObject({ ids: [2, 3] })
    expect(await next(all.slice(0, 1))).toMatchObject({ text: 'digest of 2026-11-19' })
  })

  test('is of alerts that fire, before those that have ended', async () => {
    const all = entries(resolved({ ...A, severity: 'critical' }), firing(B))
    expect(await next(all)).toMatchObject({ text: 'firing B' })
  })

  test('is one that is ready, if the oldest still waits', async () => {
    expect(await next(entries(firing(A, AT - 1), firing({ ...B, severity: 'critical' })))).toMatchObject({
      text: 'firing B',
    })
    expect(await next(entries(firing(A, AT - 1), digest('2026-11-19')))).toMatchObject({ ids: [2] })
  })

  test('is the last of several digests', async () => {
    const days = ['2026-11-17', '2026-11-18', '2026-11-19'].map(digest)
    expect(await next(entries(...days))).toMatchObject({ ids: [1, 2, 3], text: 'digest of 2026-11-19' })
  })

  test('does not mix alerts of the same name of different targets', async () => {
    const all = entries(firing(A), firing({ ...A, target: 'staging' }), resolved({ ...A, target: 'staging' }))
    expect(await next(all)).toMatchObject({ ids: [1], text: 'firing A' })
    expect(await next(all.slice(1))).toMatchObject({ ids: [2, 3], text: 'flapped A ×1' })
  })

  test('counts an alert by its severity now: an end never overtakes the firing that it ends', async () => {
    const all = entries(firing(A), firing(B), resolved({ ...A, severity: 'critical' }))
    expect(await next(all)).toMatchObject({ text: 'firing B', message: { severity: 'warning' } })
    const rest = [all[0]!, all[2]!]
    expect(await next(rest)).toMatchObject({ ids: [1, 3], text: 'flapped A ×1', message: { severity: 'critical' } })
  })
})

describe('an alert that still fires', () => {
  const counts = { ended: 5, unanswered: 5, rejected: 0, canceled: 0, other: 0, total: 10 }
  const notification = firing(A, AT - 3600, { value: 0.4, calls: 40 })
  const live = liveAlert(A, { ...notification, value: 0.8, peak: 0.9, calls: 10, counts })

  test.each(['firing', 'reminder'] as const)('is notified with its value as it is now: %s', async (kind) => {
    const delivery = await next(entries({ ...notification, kind }), { alerts: [live] })
    const now = { value: 0.8, peak: 0.9, calls: 10, counts }
    expect(delivery?.message).toMatchObject({ alerts: [{ notification: { ...notification, ...now, kind } }] })
  })

  test.each([
    ['of another target', { ...live, target: 'staging' }],
    ['of another name', { ...live, instance: { ...live.instance, key: 'B' } }],
    ['that only may fire again', { ...live, instance: { ...live.instance, state: 'pending' as const } }],
  ])('is not mistaken for one %s', async (_case, other) => {
    expect((await next(entries(notification), { alerts: [other] }))?.message).toMatchObject({
      alerts: [{ notification: notification }],
    })
  })

  test('that has ended keeps the value that ended it, whatever fires again', async () => {
    const end = { ...notification, kind: 'resolved' as const, value: 0.1 }
    expect((await next(entries(end), { alerts: [live] }))?.message).toMatchObject({ alerts: [{ notification: end }] })
  })
})

const silenceOf = (alert: string): Silence => ({
  id: 1,
  match: { alert },
  since: AT - 60,
  until: AT + 60,
  reason: 'deploy',
})

describe('a silenced alert', () => {
  const silences = [silenceOf('A')]

  test('waits, and others do not', async () => {
    expect(await next(entries(firing(A), firing(B)), { silences })).toMatchObject({ ids: [2], text: 'firing B' })
    expect(await next(entries(firing(A)), { silences })).toBeUndefined()
  })

  test('that flapped is removed without a message, and another of its group is sent in the same round', async () => {
    const all = entries(firing(A), firing(B), resolved(A))
    expect(await next(all, { silences })).toMatchObject({ ids: [2], discarded: [1, 3], text: 'firing B' })
  })

  test('that resolved waits if its firing was notified, or may have been', async () => {
    expect(await next(entries(resolved(A)), { silences })).toBeUndefined()
    const all = entries(firing(A), resolved(A)).map((entry) => ({ ...entry, claimed: entry.id === 1 }))
    expect(await next(all, { silences })).toBeUndefined()
  })
})

test('an alert that flapped while its target cannot be polled waits until it can be', async () => {
  const noPoll = { name: POLL_AGE.name }
  const alerts = [liveAlert(noPoll, firing(noPoll))]
  expect(await next(entries(firing(A), resolved(A)), { alerts })).toBeUndefined()
  expect(await next(entries(firing(A), resolved(A)))).toMatchObject({ text: 'flapped A ×1' })
})

test('a message names the silenced alerts that fire, of its target and severity', async () => {
  const alerts = [
    liveAlert(A, firing(A)),
    liveAlert({ ...A, target: 'staging' }, firing({ ...A, target: 'staging' })),
    liveAlert(
      { name: 'Critical', severity: 'critical' },
      { ...firing({ name: 'Critical' }), labels: { type: 'video' } },
    ),
  ]
  const pending = liveAlert({ name: 'Pending' }, firing({ name: 'Pending' }))
  alerts.push({ ...pending, instance: { ...pending.instance, state: 'pending' } })
  const delivery = await next(entries(firing(B)), { alerts, silences: ['A', 'Critical', 'Pending'].map(silenceOf) })
  expect(delivery?.message).toMatchObject({ silenced: [{ alert: 'A', until: AT + 60, reason: 'deploy' }] })
  expect((await next(entries(firing(B)), { alerts }))?.message).toMatchObject({ silenced: [] })
})

test('a message has what explains the value of each alert now, and links where it is known how users reach the page', () => {
  const contributor = { label: 'type', value: 'video', failures: 9, ofFailures: 9, calls: 9, ofCalls: 20 } as const
  const [before, after] = [
    { from: AT - 960, to: AT - 60 },
    { from: AT - 900, to: AT },
  ]
  const change = { ...firing(A), contributor, trend: [0.1, 0.5], window: before }
  const live = liveAlert(A, change)
  const now = { ...live.instance, value: 0.9, evidence: { trend: [0.5, 0.9], window: after } }
  const update = { notification: change, flaps: 0 }
  const alerts = [{ ...live, instance: now }]
  const composed = (merged: ReadyAlert['merged'] = update, publicUrl?: string) => {
    const moment = momentOf({ ...QUIET, now: AT, alerts, publicUrl }, inhibition([]))
    const { message } = compose(groupOf(change), [{ ...waitingOf(change), merged }], moment)
    if (message.kind !== 'alerts') throw new Error('no message about alerts')
    return message
  }
  const [{ notification, links } = { notification: undefined, links: undefined }] = composed(
    update,
    'https://callwatch.test',
  ).alerts
  expect(notification).toMatchObject({ value: 0.9, trend: [0.5, 0.9], window: after })
  expect(notification).not.toHaveProperty('contributor')
  expect(links?.calls).toContain(`until=${encodeURIComponent(new Date(AT * 1000 + 1).toISOString())}`)
  const flapped = { notification: change, times: 2, peak: 0.9, endedAt: AT }
  const over = composed(flapped, 'https://callwatch.test')
  expect(over).toMatchObject({ flapped: [{ links: { alert: links?.alert } }] })
  expect(composed().alerts[0]).not.toHaveProperty('links')
  const fires = momentOf(
    {
      ...QUIET,
      now: AT,
      alerts,
      incidents: () => incidentsOf(alerts, groupOf, 1),
      publicUrl: 'https://callwatch.test',
    },
    inhibition([]),
  )
  const { message } = compose(groupOf(change), [{ ...waitingOf(firing(B)), merged: update }], fires)
  expect(message).toMatchObject({ unchanged: [{ notification: { alert: 'A' }, links: { alert: links?.alert } }] })
})
