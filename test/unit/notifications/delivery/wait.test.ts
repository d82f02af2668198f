import { describe, expect, test } from 'vitest'
import type { LiveAlert } from '../../../../src/alerts/alert.ts'
import { incidentsOf } from '../../../../src/alerts/incidents.ts'
import type { WaitingAlert } from '../../../../src/notifications/delivery/waiting-alert.ts'
import { due } from '../../../../src/notifications/delivery/deliver.ts'
import { inhibition } from '../../../../src/notifications/delivery/suppress.ts'
import { momentOf, type Read } from '../../../../src/notifications/delivery/moment.ts'
import { newAges } from '../../../../src/notifications/delivery/wait.ts'
import { grouping } from '../../../../src/notifications/grouping.ts'
import { FIRING, GROUPED } from '../../../kit/notifications/sample.ts'
import { AT, changeOf, ERRORS, liveAlert, QUIET } from '../../../kit/notifications/delivery/sending.ts'
import { waiting } from './waiting-alert.ts'

const GROUP_WAIT = 10
const groupOf = grouping({ ...GROUPED, groupWait: GROUP_WAIT, groupInterval: 300 })
const group = groupOf(FIRING)

describe('the group wait of a message', () => {
  const young = (name: string) => waiting('f', { name, seconds: 1 })
  const old = (name: string) => waiting('f', { name, seconds: GROUP_WAIT })

  /** With ids of its own. */
  const other = ({ entries, ...alert }: WaitingAlert): WaitingAlert => ({
    ...alert,
    entries: entries.map((entry) => ({ ...entry, id: entry.id + 100 })),
  })

  const told = (sinceLast: number, messages = 1) =>
    new Map([
      [
        group.key,
        {
          at: AT - sinceLast,
          begun: AT - 3600,
          interval: AT - sinceLast,
          hasGrown: messages > 1,
          begunAgain: 0,
          targets: 1,
          severity: 'critical' as const,
        },
      ],
    ])
  const live = (n: number): LiveAlert[] =>
    Array.from({ length: n }, (_, i) =>
      liveAlert({ name: 'L', target: `${i}` }, changeOf({ name: 'L', target: `${i}` }, 'firing', AT - 7200)),
    )
  const momentNow = (now = AT, differing: Partial<Read> = {}) =>
    momentOf(
      {
        ...QUIET,
        now,
        age: newAges({ wall: () => now, monotonic: () => now })(),
        ...differing,
      },
      inhibition([]),
    )
  const firingOn = (n: number) => incidentsOf(live(n), () => group, 300)
  const waited = (alerts: WaitingAlert[], moment = momentNow()) => due({ group, alerts }, moment)

  /** What sentNow out now of these. */
  const sentNow = async (all: WaitingAlert[], now = AT) => {
    const batch = await waited(all, momentNow(now))
    if (batch?.message.kind !== 'alerts') return undefined
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
      entries: [11, 12, 13, 1, 2].map((id) => ({ id })),
      message: { flapped: [{ times: 1 }] },
    })
  })

  test('does not wait for the removal of entries that need none', async () => {
    const brief = waiting('fr', { name: ERRORS, seconds: 1 })
    const [own, ownMoment] = [old('A'), momentNow()]
    expect(await waited([own, brief], ownMoment)).toMatchObject({ entries: own.entries })
    expect(ownMoment.discarded).toEqual(brief.entries)
  })

  test('does not begin earlier because of an alert that needs none', async () => {
    const brief = waiting('fr', { name: ERRORS, seconds: 6 })
    const moment = momentNow(AT, { told: told(60), incidents: () => firingOn(1) })
    expect(await waited([young('A'), brief], moment)).toBeUndefined()
  })

  test('begins again when the clock was set back', async () => {
    let monotonic = 1000
    const ages = newAges({ wall: () => AT - 86_400, monotonic: () => monotonic })
    const now = () => momentNow(AT - 86_400, { age: ages() })
    expect(await waited([young('A')], now())).toBeUndefined()
    monotonic += GROUP_WAIT - 1
    expect(await waited([young('A')], now())).toBeUndefined()
    monotonic += 1
    expect(await waited([young('A')], now())).toBeDefined()
  })

  test('begins with the less severe alert that an alert inhibits', async () => {
    const at = (inhibited: WaitingAlert) => waited([{ ...young('A'), inhibits: [other(inhibited)] }])
    expect(await at(young('B'))).toBeUndefined()
    expect(await at(old('B'))).toBeDefined()
  })

  describe('while the group fires', () => {
    const sent = async (firing: number, sinceLast: number, all = [young('A')]) =>
      (await waited(all, momentNow(AT, { told: told(sinceLast), incidents: () => firingOn(firing) }))) !== undefined

    test('is the interval since the last message', async () => {
      expect(await sent(1, 299, [old('A')])).toBe(false)
      expect(await sent(1, 300, [old('A')])).toBe(true)
      expect(await sent(1, 300)).toBe(false)
    })

    test('is the interval since the message before those that told of growth', async () => {
      const grown = (interval: number) =>
        new Map([...told(30)].map(([key, one]) => [key, { ...one, interval: AT - interval, hasGrown: true }]))
      const at = async (interval: number) =>
        waited([old('A')], momentNow(AT, { told: grown(interval), incidents: () => firingOn(2) }))
      expect(await at(299)).toBeUndefined()
      expect(await at(300)).toMatchObject({ told: { at: AT, interval: AT } })
      const early = await waited([young('A')], momentNow(AT, { told: told(60), incidents: () => firingOn(2) }))
      expect(early).toMatchObject({ told: { at: AT, interval: AT - 60, hasGrown: true } })
    })

    test('is longer on several targets if an alert only came and went, or ended and fires again', async () => {
      const on = (targets: number) => new Map([...told(300)].map(([key, one]) => [key, { ...one, targets }]))
      const at = async (targets: number, all: WaitingAlert[]) =>
        (await waited(all, momentNow(AT, { told: on(targets), incidents: () => firingOn(3) }))) !== undefined
      const [again, over] = [waiting('rf'), waiting('fr')]
      expect(await at(3, [again])).toBe(false)
      expect(await at(3, [over])).toBe(false)
      expect(await at(1, [again])).toBe(true)
      expect(await at(3, [again, other(old('B'))])).toBe(true)
      expect(await at(3, [again, other(waiting('r', { name: 'B' }))])).toBe(true)
    })

    test('is after the interval the wait since the last change, if alerts end that flapped or were inhibited', async () => {
      const on = (seconds: number) => [
        waiting('r', { name: 'A', seconds: 200 }),
        other(waiting('r', { name: 'B', seconds })),
      ]
      const at = async (seconds: number) =>
        (await waited(on(seconds), momentNow(AT, { told: told(300), incidents: () => firingOn(3) }))) !== undefined
      expect(await at(GROUP_WAIT - 1)).toBe(false)
      expect(await at(GROUP_WAIT)).toBe(true)
    })

    test('after a message that told of growth ends when eight times as many targets fire', async () => {
      const at = (firing: number) =>
        waited([young('A')], momentNow(AT, { told: told(60, 2), incidents: () => firingOn(firing) }))
      expect(await at(7)).toBeUndefined()
      expect(await at(8)).toBeDefined()
    })

    test('ends at once when nothing fires any more', async () => {
      expect(await sent(0, 1, [waiting('r', { name: 'B', seconds: 1 })])).toBe(true)
    })

    test('ends at once when a more severe alert fires', async () => {
      const warned = new Map([...told(1)].map(([key, one]) => [key, { ...one, severity: 'warning' as const }]))
      const critical = {
        ...young('A'),
        entries: young('A').entries.map((one) => ({
          ...one,
          content: { ...one.content, severity: 'critical' as const },
        })),
      }
      const at = (alerts: WaitingAlert[]) =>
        waited(alerts, momentNow(AT, { told: warned, incidents: () => firingOn(1) }))
      expect(await at([critical])).toBeDefined()
      expect(await at([young('A')])).toBeUndefined()
    })
  })

  test.each([
    [[5], 20],
    [[15], 20],
    [[20, 15], 25],
    [[300], 30],
  ])('is by default for the polls of the targets: gaps of %j s, %i s', async (lastGaps, seconds) => {
    const change = waiting('f', { name: 'A', seconds: 1 }).entries[0]!.content
    const one = liveAlert({ name: 'A' }, change)
    const alerts = [{ ...one, instance: { ...one.instance, lastGaps } }]
    const at = (age: number) =>
      due({ group: { ...group, wait: undefined }, alerts: [young('A')] }, momentNow(AT, { alerts, age: () => age }))
    expect(await at(seconds - 1)).toBeUndefined()
    expect(await at(seconds)).toBeDefined()
  })
})
