import { expect, test } from 'vitest'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { notificationOf } from '../../../src/alerts/notification.ts'
import { RATIO } from '../../kit/alerts/sample-rules.ts'
import { reportShown, alertHistory } from '../../kit/history/as-shown.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { commitOf, DAY, openIn, instance, NO_ALERTS } from '../../kit/store/place.ts'

const HOUR = 3600
test('a report that ends before the oldest call does not begin after its end', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  const { see } = await openIn(store)
  await see(completePoll(3600, seen('a', 'ended', { endedAt: CREATED + 1800 })))
  const found = await reportShown(
    store,
    { from: undefined, to: CREATED - 30 * DAY, by: [], zone: 'UTC' },
    { configured: ['a'], now: CREATED + 4000 },
  )
  expect(Date.parse(found.since)).toBeLessThanOrEqual(Date.parse(found.until))
})

test('past alerts are blind when the target was not seen, by the same clock', async () => {
  const SKEW = -3 * HOUR
  const blind = async (skew: number) => {
    const store = openSqliteStore({ path: ':memory:' })
    const { see, deltaOf } = await openIn(store)
    await see(completePoll(10))
    const delta = deltaOf(completePoll(10 * HOUR))
    // The service's clock is behind: its times, as of gaps and of the last success, are shifted.
    const sync = {
      ...delta.sync,
      created: CREATED - 2 * DAY,
      clockSkew: skew,
      lastSuccess: CREATED + 10 * HOUR + skew,
      previousSuccess: CREATED + 10 * HOUR + skew - 15,
    }
    const of = { ...instance, rule: RATIO, key: RATIO.name, firingSince: CREATED + 4 * HOUR }
    await store.commit(
      'a',
      commitOf(
        { ...delta, sync },
        {
          gap: { from: CREATED + 5 * HOUR + skew, to: CREATED + 6 * HOUR + skew },
          alerts: { ...NO_ALERTS, changed: [of] },
          changes: [notificationOf({ kind: 'firing' }, { target: 'a', instance: of }, of.firingSince)],
        },
      ),
    )
    const { alerts } = await alertHistory(
      store,
      { from: 0, to: CREATED + 1e6 },
      { configured: ['a'], now: CREATED + 10 * HOUR },
    )
    return alerts[0]!.blind
  }
  const [right, skewed] = [await blind(0), await blind(SKEW)]
  expect(skewed).toEqual(right)
})

test('a severity finds alerts behind many others that fire', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  const { see } = await openIn(store)
  await see(completePoll(10))
  const make = (key: string, severity: 'critical' | 'warning', at: number) => {
    const of = { ...instance, rule: { ...RATIO, severity }, key, firingSince: CREATED + at }
    return { of, change: notificationOf({ kind: 'firing' }, { target: 'a', instance: of }, of.firingSince) }
  }
  const all = [make('Crit', 'critical', 1), ...Array.from({ length: 5 }, (_, i) => make(`W${i}`, 'warning', 10 + i))]
  await see(completePoll(30), {
    alerts: { ...NO_ALERTS, changed: all.map(({ of }) => of) },
    changes: all.map(({ change }) => change),
  })
  const found = await alertHistory(
    store,
    { from: 0, to: CREATED + 1e6, severity: 'critical' },
    { configured: ['a'], now: CREATED + 100 },
    3,
  )
  expect(found.alerts.map(({ key }) => key)).toEqual(['Crit'])
})
