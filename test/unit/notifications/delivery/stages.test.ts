import { describe, expect, test } from 'vitest'
import type { LiveAlert } from '../../../../src/alerts/alert.ts'
import type { Notification } from '../../../../src/alerts/notification.ts'
import { incidentsOf } from '../../../../src/alerts/incidents.ts'
import { momentOf } from '../../../../src/notifications/delivery/moment.ts'
import { compose } from '../../../../src/notifications/delivery/compose.ts'
import { due } from '../../../../src/notifications/delivery/deliver.ts'
import { group, type ReadyAlert } from '../../../../src/notifications/delivery/waiting-alert.ts'
import { inhibition } from '../../../../src/notifications/delivery/suppress.ts'
import type { OutboxEntry, OutboxContent } from '../../../../src/store/store.ts'
import { grouping } from '../../../../src/notifications/grouping.ts'
import { GROUPED } from '../../../kit/notifications/sample.ts'
import { waitingOf } from './waiting-alert.ts'
import { AT, changeOf, inShort, liveAlert, QUIET, type Named } from '../../../kit/notifications/delivery/sending.ts'

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

/** What the first batch comes to that need not wait, just before it is claimed. */
async function next(waiting: readonly OutboxEntry[], alerts: readonly LiveAlert[] = []) {
  const incidents = () => incidentsOf(moment.alerts, groupOf, 1)
  const moment = momentOf({ ...QUIET, now: AT, incidents, alerts }, inhibition([]))
  for (const batch of group(waiting, groupOf)) {
    const end = 'message' in batch ? batch : await due(batch, moment)
    if (end === undefined) continue
    return { ids: end.entries.map(({ id }) => id), message: end.message, text: inShort(end.message) }
  }
  return undefined
}

describe('the next message', () => {
  test('is the last of several digests', async () => {
    const days = ['2026-11-17', '2026-11-18', '2026-11-19'].map(digest)
    expect(await next(entries(...days))).toMatchObject({ ids: [1, 2, 3], text: 'digest of 2026-11-19' })
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
    const delivery = await next(entries({ ...notification, kind }), [live])
    const now = { value: 0.8, peak: 0.9, calls: 10, counts }
    expect(delivery?.message).toMatchObject({ alerts: [{ notification: { ...notification, ...now, kind } }] })
  })

  test.each([
    ['of another target', { ...live, target: 'staging' }],
    ['of another name', { ...live, instance: { ...live.instance, key: 'B' } }],
    ['that only may fire again', { ...live, instance: { ...live.instance, state: 'pending' as const } }],
  ])('is not mistaken for one %s', async (_case, other) => {
    expect((await next(entries(notification), [other]))?.message).toMatchObject({
      alerts: [{ notification: notification }],
    })
  })

  test('that has ended keeps the value that ended it, whatever fires again', async () => {
    const end = { ...notification, kind: 'resolved' as const, value: 0.1 }
    expect((await next(entries(end), [live]))?.message).toMatchObject({ alerts: [{ notification: end }] })
  })
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
