import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  encodeRollup,
  newRollup,
  readRollup,
  WIDTHS,
  updateRollups,
  type RollupPosition,
} from '../../../src/history/rollups.ts'
import { STEPS } from '../../../src/history/series.ts'
import { seriesOf } from '../../kit/history/as-shown.ts'
import type { SeriesPoint } from '../../../src/views/series.ts'
import { add, histogram, KEYS, sumCall, type Sums, type AddToSum } from '../../../src/history/sums.ts'
import { USAGE_KEYS } from '../../../src/history/usage-keys.ts'
import { usageOf } from '../../kit/history/as-shown.ts'
import { applyDelta } from '../../../src/ledger/state.ts'
import { computeDelta, possiblyEvicted } from '../../../src/ledger/delta/compute-delta.ts'
import { COUNTERS, INVITED, sumOf } from '../../../src/ledger/series.ts'
import { quarterHourOf } from '../../../src/ledger/usage.ts'
import { MODES, TYPES } from '../../../src/ledger/call.ts'
import type { Store } from '../../../src/store/store.ts'
import { userMinutesSince } from '../../../src/store/user-minutes.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { anyObservations } from '../../kit/store/any-observations.ts'
import type { HistoryRow } from '../../kit/store/read-call-history.ts'
import { A, B, commitOf, DAY, openIn, OPTIONS, type NewPlace, type OpenTarget } from '../../kit/store/place.ts'
import { runs } from '../../kit/runs.ts'

const LATER = CREATED + 1e6

/** Adds up all that is stale. @returns how many quarters of an hour that was */
async function updateAll(store: Store, now = LATER): Promise<number> {
  let quarters = 0
  for (let after: RollupPosition | undefined; ; quarters++) {
    after = await updateRollups(store, now, after)
    if (after === undefined) return quarters
  }
}

const staleIn = async (store: Store) => (await store.rows('SELECT 1 FROM callwatch.stale_rollups', [])).length

/** What polls saw of a target, as the daemon commits it: calls that were evicted resume from their rows. */
async function observe({ store, ledger }: OpenTarget, name: string, observation: Parameters<OpenTarget['see']>[0]) {
  const evicted = await store.evictedCalls(name, possiblyEvicted(ledger, observation, OPTIONS))
  const delta = computeDelta(ledger, observation, OPTIONS, evicted)
  if (delta === undefined) return
  await store.commit(name, commitOf(delta))
  applyDelta(ledger, delta, DAY)
}

type Expected = { calls: number; lost: number; audio: number; participantVideo: number; user: number; late: number }
const NONE: Expected = { calls: 0, lost: 0, audio: 0, participantVideo: 0, user: 0, late: 0 }

/** Calls of call_history, added up by a key. */
function summed(rows: readonly HistoryRow[], keyOf: (row: HistoryRow) => string): Record<string, Expected> {
  const sums: Record<string, Expected> = {}
  for (const row of rows) {
    const sum = (sums[keyOf(row)] ??= { ...NONE })
    sum[row['status'] === 'lost' ? 'lost' : 'calls'] += 1
    sum.audio += Number(row['audio_minutes'])
    sum.participantVideo += Number(row['participant_video_minutes'])
    sum.user += (Number(row['duration_seconds']) / 60) * Number(row['participants'])
    sum.late += Number(row['noticed']) - Number(row['finished']) > 300 ? 1 : 0
  }
  return sums
}

/** The same of a report or a series. */
function sumsOf({
  calls: { lost, ...calls },
  minutes,
  participant_minutes: participants,
  user_minutes: user,
}: Awaited<ReturnType<typeof usageOf>>[number] | SeriesPoint): Expected {
  const finished = Object.values(calls).reduce((sum, n) => sum + n, 0)
  return { calls: finished, lost, audio: minutes.audio, participantVideo: participants.video, user, late: 0 }
}

/** Minutes are added up in another order. */
const close = (sums: Record<string, Expected>) =>
  Object.fromEntries(
    Object.entries(sums).map(([key, { audio, participantVideo, user, ...counts }]) => [
      key,
      {
        ...counts,
        audio: expect.closeTo(audio, 6),
        participantVideo: expect.closeTo(participantVideo, 6),
        user: expect.closeTo(user, 6),
      },
    ]),
  )

const finishedIn = (rows: readonly HistoryRow[], from: number, to: number) =>
  rows.filter(({ finished }) => finished !== null && Number(finished) >= from && Number(finished) < to)

/** What every store promises of rollups: whatever is added up, they say what the calls' rows say. */
export function rollupsContract(newPlace: NewPlace, numRuns = runs(25)): void {
  describe('rollups', () => {
    test('say what the rows say, whatever was observed and whenever they are added up', async () => {
      const place = await newPlace()
      const store = await place.open()
      let targets = 0
      const anyMoment = fc.integer({ min: -14_000, max: 16_000 }).map((seconds) => CREATED + seconds)
      const asked = fc.record({
        times: fc.tuple(anyMoment, anyMoment).filter(([from, to]) => from < to),
        by: fc.subarray([...USAGE_KEYS]),
        zone: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/St_Johns'),
        step: fc.constantFrom(...STEPS),
        type: fc.option(fc.constantFrom(...TYPES), { nil: undefined }),
        mode: fc.option(fc.constantFrom(...MODES), { nil: undefined }),
        isAll: fc.boolean(),
      })
      const run = fc.record({
        observations: fc.tuple(anyObservations, anyObservations),
        update: fc.func(fc.constantFrom('nothing', 'one', 'all')),
        questions: fc.array(asked, { minLength: 2, maxLength: 2 }),
      })
      await fc.assert(
        fc.asyncProperty(run, async ({ observations, update, questions }) => {
          const names = [`target ${++targets}`, `target ${++targets}`]
          for (const [i, name] of names.entries()) {
            const target = await openIn(store, { ...A, name })
            for (const [n, observation] of observations[i]!.entries()) {
              await observe(target, name, observation)
              const wanted = update(i, n)
              if (wanted === 'one') await updateRollups(store, LATER)
              if (wanted === 'all') await updateAll(store)
            }
          }
          const all = (await place.callHistory()).filter(({ status }) => status !== 'baseline')
          for (const { times, by, zone, step, type, mode, isAll } of questions) {
            const [from, to] = times
            const own = isAll ? all : all.filter(({ target }) => names.includes(String(target)))
            const wanted = isAll ? undefined : names
            const dayOf = (row: HistoryRow) =>
              Temporal.Instant.fromEpochMilliseconds(Math.floor(Number(row['finished']) * 1000))
                .toZonedDateTimeISO(zone)
                .toPlainDate()
                .toString()
            const keyOf = (row: HistoryRow) => by.map((key) => (key === 'day' ? dayOf(row) : row[key === 'app' ? 'target' : key])).join(' ') // oxfmt-ignore
            const expected = summed(finishedIn(own, from, to), keyOf)
            const rows = await usageOf(store, { from, to, zone, by, targets: wanted })
            const reported = rows.map((row) => [by.map((key) => row[key]).join(' '), { ...sumsOf(row), late: row.noticed_late }]) // oxfmt-ignore
            if (by.length === 0) expected[''] ??= NONE
            expect(Object.fromEntries(reported)).toEqual(close(expected))

            const series = await seriesOf(store, { from, to, step, targets: wanted, type, mode }, LATER)
            const [since, until] = [Date.parse(series.since) / 1000, Date.parse(series.until) / 1000]
            const selected = own.filter((row) => (type ?? row['type']) === row['type'] && (mode ?? row['mode']) === row['mode']) // oxfmt-ignore
            const points = summed(finishedIn(selected, since, until), ({ finished }) =>
              String(Math.floor(Number(finished) / step) * step),
            )
            for (const point of series.points) {
              const at = Date.parse(point.at) / 1000
              const { late: _late, ...sums } = { ...NONE, ...points[String(at)] }
              expect(sumsOf(point), point.at).toMatchObject(Object.values(close({ sums: { ...sums, late: 0 } }))[0]!)
              const inProgress = selected.filter(
                ({ began, finished }) => Number(began) < at && (finished === null || Number(finished) >= at),
              )
              expect(point.in_progress, point.at).toBe(inProgress.length)
            }
          }
        }),
        { numRuns },
      )
    })

    test('user minutes by when the end was noticed are those that the commits have added up, whatever was observed', async () => {
      const store = await (await newPlace()).open()
      let targets = 0
      await fc.assert(
        fc.asyncProperty(anyObservations, async (observations) => {
          const name = `target ${++targets}`
          const target = await openIn(store, { ...A, name })
          target.ledger.userMinutes = new Map()
          for (const observation of observations) await observe(target, name, observation)
          const stored = await userMinutesSince(store, name, CREATED - 1, 0)
          const quarters = new Set([...stored!.keys(), ...target.ledger.userMinutes.keys()])
          for (const quarter of quarters)
            expect(stored!.get(quarter) ?? 0).toBeCloseTo(target.ledger.userMinutes.get(quarter) ?? 0, 6)
        }),
        { numRuns },
      )
      expect(await userMinutesSince(store, 'target 1', LATER, 0)).toEqual(new Map())
    })

    test('invited people are those that the commits have counted, less corrections, whatever was observed', async () => {
      const store = await (await newPlace()).open()
      let targets = 0
      await fc.assert(
        fc.asyncProperty(anyObservations, fc.boolean(), async (observations, addsUp) => {
          const name = `target ${++targets}`
          const target = await openIn(store, { ...A, name })
          for (const observation of observations) {
            await observe(target, name, observation)
            if (addsUp) await updateAll(store)
          }
          const counted = (outcome: string) =>
            sumOf(target.ledger, COUNTERS.invited, (labels) => labels.at(-1) === outcome) -
            sumOf(target.ledger, COUNTERS.invitedCorrections, ([of]) => of === outcome)
          const [row] = await usageOf(store, { from: 0, to: 4e9, zone: 'UTC', by: [], targets: [name] })
          expect(row!.invited).toEqual(Object.fromEntries(INVITED.map((outcome) => [outcome, counted(outcome)])))
        }),
        { numRuns },
      )
    })

    test('are of quarters that are over, and are read instead of the calls', async () => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      const quarter = Math.ceil(CREATED / 900) * 900
      const ended = (id: string, endedAt: number) => seen(id, 'ended', { startedAt: endedAt - 60, endedAt })
      await see(completePoll(quarter + 950 - CREATED, ended('first', quarter + 100), ended('second', quarter + 920)))
      // The quarter is over for less than five minutes.
      expect(await updateAll(store, quarter + 1199)).toBe(0)
      expect(await updateAll(store, quarter + 1200)).toBe(1)
      expect(await staleIn(store)).toBe(1)
      expect(await updateAll(store)).toBe(1)
      expect(await staleIn(store)).toBe(0)
      const reads: string[] = []
      const reading: Pick<Store, 'rows'> = { rows: (text, args) => (reads.push(text), store.rows(text, args)) }
      const [row] = await usageOf(reading, { from: quarter, to: quarter + 3600, zone: 'UTC', by: [] })
      expect(row!.calls.ended).toBe(2)
      expect(reads.filter((text) => text.includes('answer_delay'))).toEqual([])
    })

    test('of calls that have changed meanwhile are not saved', async () => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      const ended = (id: string) => seen(id, 'ended', { endedAt: CREATED + 10 })
      await see(completePoll(20, ended('first')))
      let isRead = false
      const meanwhile: Pick<Store, 'rows' | 'saveRollups' | 'staleRollups'> = {
        rows: async (text, args) => {
          const rows = await store.rows(text, args)
          if (text.includes('answer_delay') && !isRead) {
            isRead = true
            await see(completePoll(30, ended('first'), ended('second')))
          }
          return rows
        },
        saveRollups: store.saveRollups,
        staleRollups: store.staleRollups,
      }
      await updateRollups(meanwhile, LATER)
      expect(isRead).toBe(true)
      expect(await staleIn(store)).toBe(1)
      const count = async () =>
        (await usageOf(store, { from: CREATED - 7200, to: CREATED + 7200, zone: 'UTC', by: [] }))[0]!.calls.ended
      expect(await count()).toBe(2)
      await updateAll(store)
      expect(await staleIn(store)).toBe(0)
      expect(await count()).toBe(2)
    })

    test('of calls that are deleted meanwhile with their target are not saved, nor are those that others have saved since', async () => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      const ended = (id: string, seconds: number) => seen(id, 'ended', { endedAt: CREATED + seconds })
      await see(completePoll(1200, ended('first', 10), ended('second', 1100)))
      const whenSaving = (work: () => Promise<unknown>): Pick<Store, 'rows' | 'saveRollups' | 'staleRollups'> => ({
        rows: store.rows,
        staleRollups: store.staleRollups,
        saveRollups: async (update) => {
          await work()
          await store.saveRollups(update)
        },
      })
      // Another leader saves the other quarter of the hour, which this one has read before.
      const [first, second] = [quarterHourOf(CREATED + 10), quarterHourOf(CREATED + 1100)]
      expect(Math.floor(first / 3600)).toBe(Math.floor(second / 3600))
      const other = () => updateRollups(store, LATER, { quarter: second - 1, target: 0 })
      await updateRollups(whenSaving(other), LATER)
      expect(await staleIn(store)).toBe(1)
      await updateAll(store)
      const ever = { from: CREATED - 86_400, to: CREATED + 86_400 }
      const all = async () =>
        (await seriesOf(store, { ...ever, step: 3600 }, LATER)).points.reduce((sum, { calls }) => sum + calls.ended, 0)
      expect(await all()).toBe(2)
      // Of a quarter of an hour that was never added up.
      await see(completePoll(5000))
      await see(completePoll(5000, ended('first', 10), ended('second', 1100), ended('third', 4500)))
      await updateRollups(
        whenSaving(() => store.resetTarget('a', [])),
        LATER,
      )
      const { see: seeOther } = await openIn(store, { name: 'z', fingerprint: '' })
      await seeOther(completePoll(9000))
      await seeOther(completePoll(9000, ended('earlier', 20), ended('later', 8500)))
      await updateAll(store)
      expect([await all(), await staleIn(store)]).toEqual([2, 0])
    })

    test('of calls of days have them in progress all the time', async () => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      const began = CREATED + 100
      const endedAt = began + 20 * DAY
      await see(
        completePoll(endedAt - CREATED, seen('long', 'ended', { initiatedAt: began, startedAt: began, endedAt })),
      )
      const inProgress = async (from: number, step: 60 | 3600) => {
        const { points } = await seriesOf(store, { from, to: from + 10 * step, step }, endedAt)
        return new Set(points.map((point) => point.in_progress))
      }
      for (const from of [began + 7200, endedAt - 86_400])
        for (const step of [60, 3600] as const) expect(await inProgress(from, step)).toEqual(new Set([1]))
      await updateAll(store, endedAt + 10_000)
      expect(await staleIn(store)).toBe(0)
      expect(await inProgress(began + 7200, 3600)).toEqual(new Set([1]))
    })

    test('follow calls that are deleted, of targets that stay and of those that are reset', async () => {
      const store = await (await newPlace()).open()
      const period = { from: CREATED - 7200, to: CREATED + 72_000 }
      const ended = (id: string, seconds: number) => seen(id, 'ended', { endedAt: CREATED + seconds })
      for (const identity of [A, B]) {
        const { see } = await openIn(store, identity)
        await see(completePoll(20_000, ended('old', 10), ended('new', 15_000)))
        await see(completePoll(40_000))
        await see(completePoll(40_000))
      }
      const counted = async () => {
        const [sum] = await usageOf(store, { ...period, zone: 'UTC', by: [] })
        const series = await seriesOf(store, { ...period, step: 3600 }, LATER)
        return [sum!.calls.ended, series.points.reduce((all, { calls }) => all + calls.ended, 0)]
      }
      await updateAll(store)
      expect(await counted()).toEqual([4, 4])
      await store.deleteExpired(CREATED + 10_000)
      expect(await counted()).toEqual([2, 2])
      await updateAll(store)
      expect(await counted()).toEqual([2, 2])
      await store.resetTarget('b', [])
      expect(await counted()).toEqual([1, 1])
      await updateAll(store)
      expect(await counted()).toEqual([1, 1])
      const { see } = await openIn(store, { ...B, name: 'c' })
      await see(completePoll(20_000))
      await see(completePoll(20_000, ended('new', 15_000)))
      await updateAll(store)
      expect(await counted()).toEqual([2, 2])
      expect(await store.rows('SELECT 1 FROM callwatch.rollups WHERE target = 0', [])).toHaveLength(WIDTHS.length)
    })

    test('have what was added to them, by all labels or by some, and their totals have it without', () => {
      // Of which the sums are exact in any order.
      const n = fc.tuple(fc.integer({ min: 1, max: 2 ** 40 }), fc.constantFrom(1, 8)).map(([a, b]) => a / b)
      const given = fc.tuple(fc.constantFrom(0, 1, 35), fc.nat(KEYS.began + 2 ** 22), n)
      fc.assert(
        fc.property(fc.array(given, { minLength: 1 }), (all) => {
          const rollup = newRollup(900 * 2 ** 23)
          for (const each of all) rollup.addToSum(...each)
          const { byLabels, withoutLabels } = encodeRollup(rollup)!
          expect(takenFrom((take) => readRollup(take, byLabels))).toEqual(added(all))
          const some = [35, 7]
          expect(takenFrom((take) => readRollup(take, byLabels, new Set(some)))).toEqual(
            added(all.filter(([labels]) => some.includes(labels))),
          )
          const total = added(all.map(([, ...rest]) => [0, ...rest]))
          expect(takenFrom((take) => readRollup(take, withoutLabels))).toEqual(total)
        }),
      )
    })

    test('have the calls that were in progress when they began, not those that began within them', () => {
      const rollup = newRollup(10_800)
      const call = { finished: 12_600, status: 2, labels: 0, duration: null, answer_delay: null }
      for (const began of [9000, 10_799, 10_800, 11_700]) sumCall(rollup.addToSum, { ...call, began })
      const begins = [...rollup.groups.get(0)!.keys()].filter((key) => key >= KEYS.began)
      expect(begins.map((key) => key - KEYS.began)).toEqual([10, 11])
    })

    test('have percentiles that are exact to 2%', () => {
      fc.assert(
        fc.property(
          fc.array(fc.double({ min: 0.011, max: 3e6, noNaN: true }), { minLength: 1 }),
          fc.constantFrom(['p50', 0.5] as const, ['p95', 0.95] as const),
          (durations, [percentile, share]) => {
            const rollup = newRollup(900)
            for (const duration of durations)
              sumCall(rollup.addToSum, { finished: 900, began: 900, status: 2, labels: 35, duration, answer_delay: 1e9 }) // oxfmt-ignore
            const sums: Sums = new Map()
            readRollup((_labels, key, n) => add(sums, key, n), encodeRollup(rollup)!.byLabels)
            const exact = durations.toSorted((a, b) => a - b)[Math.ceil(durations.length * share) - 1]!
            expect(Math.abs(histogram(sums, 'duration').percentiles[percentile]! / exact - 1)).toBeLessThanOrEqual(0.02)
          },
        ),
      )
    })
  })
}

/** What was given, added up by labels and key. */
function takenFrom(give: (take: AddToSum) => void): Record<string, number> {
  const sums: Record<string, number> = {}
  give((labels, key, n) => (sums[`${labels} ${key}`] = (sums[`${labels} ${key}`] ?? 0) + n))
  return sums
}

function added(all: readonly Parameters<AddToSum>[]): Record<string, number> {
  return takenFrom((take) => all.forEach((each) => take(...each)))
}
