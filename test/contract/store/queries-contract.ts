import { idsFor } from '../../../src/ledger/session-id.ts'
import { describe, expect, test } from 'vitest'
import { coverageOf, readServiceNow } from '../../../src/history/coverage.ts'
import type { CallFilter } from '../../../src/history/call-filter.ts'
import { listCalls, oneCall, type CallsPage } from '../../../src/history/list-calls.ts'
import { seriesOf } from '../../kit/history/as-shown.ts'
import { updateRollups, type RollupPosition } from '../../../src/history/rollups.ts'
import { USAGE_KEYS } from '../../../src/history/usage-keys.ts'
import { reportShown, usageOf } from '../../kit/history/as-shown.ts'
import { isoTime } from '../../../src/clock/times.ts'
import { imbalancesOf } from '../../../src/ledger/balance.ts'
import { MODES, RECEIVER_TYPES, TYPES, type SeenCall } from '../../../src/ledger/call.ts'
import { random, type Random } from '../../../src/simulator/random.ts'
import type { Store } from '../../../src/store/store.ts'
import { asked, completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { reportProblems } from '../../kit/store/report-problems.ts'
import { A, B, commitOf, filled, openIn, type NewPlace, type Place } from '../../kit/store/place.ts'

const STATUSES = ['ended', 'ended', 'ended', 'unanswered', 'rejected', 'canceled', 'other', 'ongoing', 'lost'] as const
type Drawn = SeenCall & { target: string; outcome: (typeof STATUSES)[number]; finished: number; noticed: number }

const pick = <T>(draw: Random, values: readonly T[]): T => values[Math.floor(draw() * values.length)]!

/** Calls of two targets over some days, as they are in the end. */
function drawnCalls(draw: Random): Drawn[] {
  return Array.from({ length: 240 }, (_, i) => {
    const outcome = pick(draw, STATUSES)
    // Some at the very same moment.
    const began = CREATED + (draw() < 0.5 ? Math.floor(draw() * 60) * 5000 : Math.floor(draw() * 300_000))
    const answered = outcome === 'ended' && draw() < 0.9
    const endedAt = began + 30 + Math.floor(draw() * 100)
    const isOpen = outcome === 'ongoing' || outcome === 'lost'
    const own = `${pick(draw, ['v1', 'w', 'Ω'])}.${i}`
    const [id, session] = draw() < 0.3 ? [`cw:${i}`, `v1.${pick(draw, ['room', 'Ω'])}`] : [own, own]
    const media = { audio: Math.floor(draw() * 8) / 4, video: Math.floor(draw() * 8) / 4, total: undefined }
    return {
      ...seen(id, outcome === 'lost' ? 'ongoing' : outcome, {
        session,
        type: pick(draw, TYPES),
        mode: pick(draw, MODES),
        receiverType: pick(draw, RECEIVER_TYPES),
        initiatedAt: began,
        ...(answered && { startedAt: began + 5 }),
        ...(!isOpen && { endedAt }),
        hasRecording: draw() < 0.3,
        callMinutes: media,
        participantMinutes: { ...media, audio: media.audio * 2 },
        totalParticipants: 2,
      }),
      target: pick(draw, ['a', 'b']),
      outcome,
      finished: outcome === 'lost' ? CREATED + 400_002 : endedAt,
      noticed: outcome === 'lost' ? CREATED + 400_002 : endedAt + (draw() < 0.5 ? 10 : 400),
    }
  })
}

/** A store in which these calls were seen. */
async function filledWith(calls: readonly Drawn[], newPlace: NewPlace): Promise<{ store: Store; place: Place }> {
  const place = await newPlace()
  const store = await place.open()
  for (const identity of [A, B]) {
    const { see } = await openIn(store, identity)
    const own = calls.filter(({ target }) => target === identity.name)
    for (const call of own.toSorted((a, b) => a.noticed - b.noticed))
      await see({
        answers: completePoll(call.outcome === 'lost' ? 400_000 : call.noticed - CREATED, { ...call }).answers,
      })
    const lost = own.flatMap(({ outcome, id }) => (outcome === 'lost' ? id : []))
    for (const seconds of [400_001, 400_002]) await see({ answers: [asked(CREATED + seconds, undefined, lost)] })
  }
  return { store, place }
}

const newestFirst = (calls: readonly Drawn[]) =>
  calls
    .filter(({ outcome }) => outcome !== 'ongoing')
    .toSorted((a, b) => b.finished - a.finished || bytewise(a.target, b.target) || bytewise(a.id, b.id))

const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

function isWanted(
  { targets, type, mode, receiverType, statuses, hasRecording, sessionIds, began }: CallFilter,
  call: Drawn,
) {
  return (
    (began === undefined || (call.initiatedAt! >= began.since && call.initiatedAt! < began.until)) &&
    (targets ?? [call.target]).includes(call.target) &&
    (type ?? call.type) === call.type &&
    (mode ?? call.mode) === call.mode &&
    (receiverType ?? call.receiverType) === call.receiverType &&
    (statuses ?? [call.outcome]).some((status) => status === call.outcome) &&
    (hasRecording ?? call.hasRecording) === call.hasRecording &&
    (sessionIds === undefined || idsFor(call.target, sessionIds).some((id) => call.session.startsWith(id)))
  )
}

/** Both targets are of one app. */
const APP_OF = (_target: string) => 'shop'

/** A report, computed the plain way. */
function plainUsage(calls: readonly Drawn[], by: readonly (typeof USAGE_KEYS)[number][]) {
  const keysOf = (call: Drawn) => {
    const keys = {
      day: new Date(call.finished * 1000).toISOString().slice(0, 10),
      app: APP_OF(call.target),
      target: call.target,
      type: call.type,
      mode: call.mode,
      receiver_type: call.receiverType,
    }
    return by.map((key) => keys[key]).join(' ')
  }
  return Object.fromEntries(
    [...Map.groupBy(calls, keysOf)].map(([key, own]) => {
      const sum = (value: (call: Drawn) => number) => own.reduce((total, call) => total + value(call), 0)
      const durations = own
        .flatMap(({ startedAt, endedAt }) => (startedAt === undefined ? [] : endedAt! - startedAt))
        .toSorted((a, b) => a - b)
      return [
        key,
        {
          outcomes: [...new Set(STATUSES)].map((status) => own.filter(({ outcome }) => outcome === status).length),
          audio: sum(({ callMinutes }) => callMinutes.audio!),
          participantAudio: sum(({ participantMinutes }) => participantMinutes.audio!),
          late: own.filter(({ finished, noticed }) => noticed - finished > 300).length,
          p95: durations[Math.ceil(durations.length * 0.95) - 1],
        },
      ]
    }),
  )
}

function reported(rows: Awaited<ReturnType<typeof usageOf>>, by: readonly (typeof USAGE_KEYS)[number][]) {
  return Object.fromEntries(
    rows.map((row) => [
      by.map((key) => row[key]).join(' '),
      {
        outcomes: [...new Set(STATUSES)].map((status) => (status === 'ongoing' ? 0 : row.calls[status])),
        audio: row.minutes.audio,
        participantAudio: row.participant_minutes.audio,
        late: row.noticed_late,
        p95: row.duration_seconds.p95 ?? undefined,
      },
    ]),
  )
}

/** What every store answers to the queries of the history. */
export function queriesContract(newPlace: NewPlace, seeds = [1, 2, 3]): void {
  describe('queries of the history', () => {
    const EVER = { since: 0, until: CREATED + 1e7 }

    test.each(seeds)('select and page as a plain reading of all calls does (seed %i)', async (seed) => {
      const draw = random(seed, 'queries')
      const calls = drawnCalls(draw)
      const { store } = await filledWith(calls, newPlace)
      const all = newestFirst(calls)
      for (let round = 0; round < 25; round++) {
        const maybe = <T>(values: readonly T[], share = 0.3) => (draw() < share ? pick(draw, values) : undefined)
        const filter: CallFilter = {
          targets: maybe([['a'], ['b'], ['b', 'a'], ['c']]),
          type: maybe(TYPES),
          mode: maybe(MODES, 0.1),
          receiverType: maybe(RECEIVER_TYPES, 0.1),
          statuses: maybe([['ended'], ['rejected', 'canceled', 'unanswered'], ['lost'], ['other', 'lost']] as const),
          hasRecording: maybe([true, false]),
          ...(draw() < 0.2 && { began: { since: CREATED + 5000, until: CREATED + 150_000 } }),
          sessionIds: maybe(
            ['v', 'v1.1', 'v1.room', 'Ω', 'Ω.2', 'none', 'cw:'].map((given, i) => ({
              given,
              others: new Map(
                i % 2 === 0
                  ? []
                  : [
                      ['a', 'v1.2'],
                      ['b', 'Ω.1'],
                    ],
              ),
            })),
          ),
        }
        const since = maybe([0, CREATED + 50_000.5], 0.5) ?? 0
        const until = maybe([CREATED + 200_000, EVER.until], 0.5) ?? EVER.until
        const expected = all.filter((call) => call.finished >= since && call.finished < until && isWanted(filter, call))
        const limit = pick(draw, [1, 3, 50, 1000])
        const paged: string[] = []
        let after: CallsPage['next']
        do {
          // With no time to search, a page ends after each part of the history.
          const page = await listCalls(
            store,
            { ...filter, since, until },
            { limit, after, searchSeconds: pick(draw, [0, 60]) },
          )
          expect(page.calls.length).toBeLessThanOrEqual(limit)
          paged.push(...page.calls.map(({ target, call }) => `${target} ${call.id}`))
          after = page.next
        } while (after !== undefined)
        expect(paged).toEqual(expected.map(({ target, id }) => `${target} ${id}`))
      }
    })

    test('find a call by its id', async () => {
      const calls = drawnCalls(random(4, 'queries'))
      const { store } = await filledWith(calls, newPlace)
      const open = calls.find(({ outcome }) => outcome === 'ongoing')!
      expect(await oneCall(store, open.target, open.id)).toMatchObject({ id: open.id, phase: 'open' })
      expect(await oneCall(store, open.target === 'a' ? 'b' : 'a', open.id)).toBeUndefined()
    })

    test.each(['calls', 'rollups'])(
      'report what finished, from %s, by any keys, as a plain sum over all calls does',
      async (of) => {
        const calls = drawnCalls(random(5, 'queries'))
        const { store } = await filledWith(calls, newPlace)
        let after: RollupPosition | undefined
        if (of === 'rollups') do after = await updateRollups(store, CREATED + 1e6, after); while (after !== undefined) // oxfmt-ignore
        const period = { from: CREATED + 20_000, to: CREATED + 500_000, zone: 'UTC' }
        const inPeriod = newestFirst(calls).filter(({ finished }) => finished >= period.from && finished < period.to)
        for (const by of [
          [],
          ['day'],
          ['app'],
          ['target', 'type'],
          [...USAGE_KEYS],
        ] as (typeof USAGE_KEYS)[number][][]) {
          const rows = await usageOf(store, { ...period, by, appOf: APP_OF })
          const expected = plainUsage(inPeriod, by)
          const found = reported(rows, by)
          expect(Object.keys(found).toSorted()).toEqual(Object.keys(expected).toSorted())
          for (const [key, { p95, ...sums }] of Object.entries(expected)) {
            const { p95: percentile, ...rest } = found[key]!
            expect(rest, key).toEqual(sums)
            // Two percent are promised.
            if (p95 === undefined) expect(percentile).toBeUndefined()
            else expect(Math.abs(percentile! / p95 - 1), `${key} ${percentile} ${p95}`).toBeLessThanOrEqual(0.02)
          }
        }
      },
    )

    test('report, over all of the history, what was counted less corrections, open calls and deleted rows', async () => {
      const calls = drawnCalls(random(6, 'queries'))
      const { store, place } = await filledWith(calls, newPlace)
      await store.deleteExpired(CREATED + 100_000)
      const reader = await place.reader()
      for (const target of ['a', 'b']) {
        expect(imbalancesOf(await reader.balance(target))).toEqual([])
        expect(await reportProblems(reader, target)).toEqual([])
      }
      const [row] = await usageOf(reader, { from: 0, to: EVER.until, zone: 'UTC', by: [] })
      expect(row!.calls.ended).toBeGreaterThan(10)
      await reader.close()
    })

    test('report when a target was not seen', async () => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      await see(completePoll(5))
      await see(completePoll(100), { gap: { from: CREATED + 5, to: CREATED + 100 } })
      await see(completePoll(200), { gap: { from: CREATED + 100, to: CREATED + 200 } })
      // Not later than now.
      const seenBy = { configured: ['a', 'b'], now: CREATED + 600 }
      const at = (from: number, to: number) => ({ from: CREATED + from, to: CREATED + to })
      expect(await coverageOf(store, at(-10, 700), seenBy)).toEqual({
        blindSeconds: 10 + 95 + 100 + 400,
        blind: [
          { target: 'a', kind: 'before', ...at(-10, 0) },
          { target: 'a', kind: 'ended', ...at(5, 100) },
          { target: 'a', kind: 'ended', ...at(100, 200) },
          { target: 'a', kind: 'now', ...at(200, 600) },
        ],
      })
      // It was polled less than three intervals ago.
      expect(
        (await coverageOf(store, at(150, 700), { ...seenBy, now: CREATED + 500 })).blind.map(({ kind }) => kind),
      ).toEqual(['ended'])
      expect(await coverageOf(store, at(50, 60), seenBy)).toEqual({
        blindSeconds: 10,
        blind: [{ target: 'a', kind: 'ended', ...at(50, 60) }],
      })
      expect(await coverageOf(store, at(50, 60), { ...seenBy, configured: ['other'] })).toEqual({
        blindSeconds: 0,
        blind: [],
      })
      await store.deleteExpired(CREATED + 150)
      expect((await coverageOf(store, at(0, 600), seenBy)).blind.map(({ from }) => from - CREATED)).toEqual([100, 200])
    })

    test('last until the newest call where no end is asked for and the clock of the service is ahead, charts and reports alike', async () => {
      const store = await (await newPlace()).open()
      const { see } = await openIn(store)
      const endedAt = CREATED + 3700
      await see(completePoll(3710, seen('ahead', 'ended', { initiatedAt: endedAt - 60, endedAt })))
      const [from, now] = [CREATED, CREATED + 100]
      const series = await seriesOf(store, { from, to: undefined, step: 60 }, now)
      expect(series.points.reduce((sum, { calls }) => sum + calls.ended, 0)).toBe(1)
      expect(Date.parse(series.until) / 1000).toBeGreaterThan(endedAt)
      const period = { from, to: undefined, by: [], zone: 'UTC' } as const
      const report = await reportShown(store, period, { configured: ['a'], now })
      expect(report.rows.map(({ calls }) => calls.ended)).toEqual([1])
      expect(Date.parse(report.until) / 1000).toBeGreaterThan(endedAt)
      const unheard = await seriesOf(store, { from, to: undefined, targets: ['b'], step: 60 }, now)
      expect(unheard.until).toBe(isoTime(CREATED + 120 - (CREATED % 60)))
    })

    test('know the time by the clock of the service, of several targets the earliest, without removed ones', async () => {
      const store = await (await newPlace()).open()
      for (const [name, clockSkew] of [
        ['a', 7200],
        ['b', -60],
        ['gone', -7200],
      ] as const)
        // oxfmt-ignore
        await (await openIn(store, { name, fingerprint: name })).see({ ...completePoll(5), clockSkew })
      await openIn(store, { name: 'unseen', fingerprint: 'unseen' })
      await store.expireAlerts('gone', [], undefined, CREATED + 10)
      const at = async (targets?: string[], which?: typeof Math.max) =>
        (await readServiceNow(store, targets, CREATED, which)) - CREATED
      expect(await Promise.all([at(), at(['a']), at(['a', 'unseen']), at(['unseen']), at(['gone'])])).toEqual([
        -60, 7200, 7200, 0, 0,
      ])
      expect(await at(undefined, Math.max)).toBe(7200)
    })

    test('report up to when calls were deleted, also of a target that is not configured any more', async () => {
      const store = await (await newPlace()).open()
      await filled(store, A, { old: 10, older: 5, young: 60 })
      await filled(store, B, { last: 30 })
      const kinds = async (from: number, to: number, asked: { targets?: string[] } = {}) => {
        const period = { from: CREATED + from, to: CREATED + to }
        const { blindSeconds, blind } = await coverageOf(store, period, {
          ...asked,
          configured: ['a'],
          now: CREATED + 3000,
        })
        return [blindSeconds, ...blind.map((time) => [time.target, time.kind, time.from - CREATED, time.to - CREATED])]
      }
      expect(await kinds(0, 100)).toEqual([0])
      await store.deleteExpired(CREATED + 50)
      // The whole second in which the newest of them finished is not complete any more.
      expect(await kinds(4, 100)).toEqual([27, ['a', 'expired', 4, 11], ['b', 'expired', 4, 31]])
      expect(await kinds(10, 100, { targets: ['a'] })).toEqual([1, ['a', 'expired', 10, 11]])
      expect(await kinds(31, 100)).toEqual([0])
      // What is deleted later has not finished later.
      await store.deleteExpired(CREATED + 20)
      expect(await kinds(0, 100, { targets: ['a'] })).toEqual([11, ['a', 'expired', 0, 11]])
    })

    test('know the times in which a target was not seen for as long as they have calls from before their end', async () => {
      const store = await (await newPlace()).open()
      const { see, deltaOf, ledger } = await openIn(store)
      await see(completePoll(5))
      const late = seen('late', 'ended', { endedAt: CREATED + 50 })
      await see(completePoll(100, late), { gap: { from: CREATED + 5, to: CREATED + 100 } })
      const kinds = async () => {
        const period = { from: CREATED, to: CREATED + 120 }
        return (await coverageOf(store, period, { configured: ['a'], now: CREATED + 120 })).blind.map(
          ({ kind }) => kind,
        )
      }
      // Its lookback is longer than the history: it is still tracked.
      await store.deleteExpired(CREATED + 200)
      expect(await kinds()).toEqual(['ended'])
      const delta = { ...deltaOf(completePoll(101, late)), evicted: [ledger.calls.get('late')!] }
      await store.commit('a', commitOf(delta))
      await store.deleteExpired(CREATED + 200)
      await store.deleteExpired(CREATED + 200)
      expect(await kinds()).toEqual(['expired'])
    })
  })
}
