import { describe, expect, test } from 'vitest'
import { momentOf, type WaitingAlert } from '../../../src/notifications/delivery/batch.ts'
import { compose } from '../../../src/notifications/delivery/compose.ts'
import { pass } from '../../../src/notifications/delivery/deliver-outbox.ts'
import { inhibition } from '../../../src/notifications/delivery/inhibition.ts'
import { wait, type SentGroups } from '../../../src/notifications/delivery/wait.ts'
import { grouping } from '../../../src/notifications/grouping.ts'
import { virtualClock } from '../../clock/virtual-clock.ts'
import { FIRING, GROUPED } from '../sample.ts'
import { AT, NO_PAST } from './outbox-sending.ts'
import { waiting } from './waiting-alert.ts'

const GROUP_WAIT = 10
const groupOf = grouping({ ...GROUPED, groupWait: GROUP_WAIT })
const group = groupOf(FIRING)

describe('the group wait of a message', () => {
  const young = (name: string) => waiting('f', { name, seconds: 1 })
  const old = (name: string) => waiting('f', { name, seconds: GROUP_WAIT })

  const momentNow = (now = AT) => momentOf({ now, silences: [], alerts: [], past: async () => NO_PAST }, inhibition([]))
  const waited = (alerts: WaitingAlert[], moment = momentNow(), sent: SentGroups = new Map()) =>
    pass(
      { kind: 'alerts', group, alerts },
      [wait(sent, virtualClock()), compose({ groupOf, targets: () => 1 })],
      moment,
    )

  /** What sentNow out now of these. */
  const sentNow = async (all: WaitingAlert[], now = AT) => {
    const batch = await waited(all, momentNow(now))
    if (batch?.kind !== 'message' || batch.message.kind !== 'alerts') return undefined
    return batch.message.alerts.map(({ notification: { kind, key } }) => `${kind} ${key}`)
  }

  test('waits for siblings of a new firing', async () => {
    expect(await waited([young('A')])).toBeUndefined()
    expect(await waited([])).toBeUndefined()
  })

  test('includes later siblings', async () => {
    expect(await sentNow([old('A'), young('B')])).toEqual(['firing A', 'firing B'])
  })

  test('about something else is sent at once, without new firings', async () => {
    expect(await sentNow([young('A'), waiting('r', { name: 'B', seconds: 1 })])).toEqual(['resolved B'])
    expect(await sentNow([young('A'), waiting('m', { name: 'B', seconds: 1 })])).toEqual(['reminder B'])
  })

  test('names what fires first', async () => {
    const all = [waiting('r', { name: 'A' }), old('B'), waiting('c', { name: 'C' }), waiting('m', { name: 'D' })]
    expect(await sentNow(all)).toEqual(['firing B', 'reminder D', 'resolved A', 'expired C'])
  })

  test('acknowledges all entries of its alerts', async () => {
    const entries = waiting('frf').entries.map((entry) => ({ ...entry, id: entry.id + 10 }))
    const all = [{ ...waiting('frf'), entries }, waiting('fr', { name: 'B' })]
    expect(await waited(all)).toMatchObject({
      kind: 'message',
      entries: [11, 12, 13, 1, 2].map((id) => ({ id })),
      message: { flapped: [{ times: 1 }] },
    })
  })

  test('does not wait for the removal of entries that need none', async () => {
    const brief = waiting('fr', { name: 'B', seconds: 1 })
    const [own, ownMoment] = [old('A'), momentNow()]
    expect(await waited([own, brief], ownMoment)).toMatchObject({ kind: 'message', entries: own.entries })
    expect(ownMoment.discarded).toEqual(brief.entries)
  })

  test('does not begin earlier because of an alert that needs none', async () => {
    const sent = new Map([[group.key, { at: -60, firing: new Set<string>() }]])
    const brief = waiting('fr', { name: 'B', seconds: 6 })
    expect(await waited([young('A'), brief], momentNow(), sent)).toBeUndefined()
  })

  test('is not delayed by a clock that was set back', async () => {
    expect(await sentNow([young('A')], AT - 86_400)).toEqual(['firing A'])
  })
})
