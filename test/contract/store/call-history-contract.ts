import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyDelta } from '../../../src/ledger/state.ts'
import { sessionOf } from '../../../src/ledger/identity.ts'
import { computeDelta, possiblyEvicted } from '../../../src/ledger/delta/compute-delta.ts'
import { callOf, valuesOf } from '../../../src/store/call-columns.ts'
import { MARK, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { asked, completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { anyObservations } from '../../kit/store/any-observations.ts'
import { keyOf, type HistoryRow } from '../../kit/store/read-call-history.ts'
import { A, commitOf, DAY, openAt, openIn, OPTIONS, type NewPlace, type OpenTarget } from '../../kit/store/place.ts'
import { runs } from '../../kit/runs.ts'

/** What `call_history` says of a call, by its record. */
function shownOf(target: string, call: TrackedCall): HistoryRow {
  const { initiatedAt, startedAt, endedAt, minutes, finish } = callOf(valuesOf(call))
  // A timestamptz has microseconds.
  const time = (seconds: number | undefined) => (seconds === undefined ? null : expect.closeTo(seconds, 5))
  const between = (from = Infinity, to = -Infinity) => (finish?.status === 'ended' && to >= from ? to - from : null)
  const lostAt = call.phase === 'lost' ? call.retainUntil : undefined
  const { type, mode, receiverType } = finish?.labels ?? call.labels
  const participants = finish === undefined ? call.joined : call.totalParticipants
  return {
    target,
    session_id: sessionOf(call),
    type,
    mode,
    receiver_type: receiverType,
    status: call.phase === 'lost' ? 'lost' : (finish?.status ?? call.status),
    began: time(initiatedAt ?? startedAt ?? endedAt ?? call.firstSeen),
    finished: time(lostAt ?? finish?.at),
    duration_seconds: between(startedAt, endedAt),
    answer_delay_seconds: between(initiatedAt, startedAt),
    participants: participants === undefined ? null : Math.floor(participants),
    audio_minutes: minutes[0]!,
    video_minutes: minutes[1]!,
    participant_audio_minutes: minutes[2]!,
    participant_video_minutes: minutes[3]!,
    has_recording: (call.marks & MARK.recordingSeen) !== 0,
    noticed: time(lostAt ?? finish?.known),
    call_id: call.id,
  }
}

/** What the records of these calls say, those that are not counted left out. */
const shownOfAll = (target: string, calls: Iterable<TrackedCall>): HistoryRow[] =>
  Array.from(calls)
    .filter(({ phase }) => phase !== 'baseline')
    .map((call) => shownOf(target, call))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

/** Observes as the daemon does: calls that were evicted resume from their rows. */
async function observeAll(
  { store, ledger }: OpenTarget,
  name: string,
  observations: Parameters<OpenTarget['see']>[0][],
) {
  const sessions = new Set<string>()
  for (const observation of observations) {
    const evicted = await store.evictedCalls(name, possiblyEvicted(ledger, observation, OPTIONS))
    const delta = computeDelta(ledger, observation, OPTIONS, evicted)
    if (delta === undefined) continue
    await store.commit(name, commitOf(delta))
    applyDelta(ledger, delta, DAY)
    for (const call of delta.calls.values()) sessions.add(sessionOf(call))
  }
  return sessions
}

/** What every store's relation for users shows (docs/sql.md). */
export function callHistoryContract(newPlace: NewPlace, numRuns = runs(30)): void {
  describe('call_history', () => {
    test('shows calls that are open, finished, corrected, lost and evicted, and none that are not counted', async () => {
      const { see, ledger, place } = await openAt(newPlace)
      const minutes = (audio: number, video: number) => ({
        callMinutes: { audio, video, total: undefined },
        participantMinutes: { audio: 2 * audio, video: 2 * video, total: undefined },
      })
      const open = seen('open', 'ongoing', { initiatedAt: CREATED + 0.123456, joined: 3, totalParticipants: 5, ...minutes(0.5, 0) }) // oxfmt-ignore
      const lost = seen('lost', 'initiated', { type: 'other', mode: 'meet', receiverType: 'group', joined: 1 })
      const times = { initiatedAt: CREATED + 1, startedAt: CREATED + 1.5, endedAt: CREATED + 3.25 }
      const over = (audio: number) => seen('over', 'ended', { ...times, totalParticipants: 2.75, ...minutes(audio, 2) })
      const missed = seen('missed', 'unanswered', { type: 'video', mode: 'presenter', receiverType: 'other', ...times })
      const before = seen('before', 'ended', { endedAt: CREATED - 5 })
      await see(completePoll(5, open, lost, over(1.5), missed, before))
      await see(completePoll(10, open, { ...over(1.25), hasRecording: true }, missed, before))
      for (const seconds of [11, 12]) await see({ answers: [asked(CREATED + seconds, undefined, ['lost'])] })
      const expected = {
        missed: ['video', 'presenter', 'other', 'unanswered', 1, 3.25, null, null, null, 0, 0, 0, 0, false, 5],
        open: ['audio', 'call', 'user', 'ongoing', 0.123456, null, null, null, 3, 0.5, 0, 1, 0, false, null],
        over: ['audio', 'call', 'user', 'ended', 1, 3.25, 1.75, 0.5, 2, 1.25, 2, 2.5, 4, true, 5],
        lost: ['other', 'meet', 'group', 'lost', 5, 12, null, null, 1, 0, 0, 0, 0, false, 12],
      }
      const shown = async () => {
        const rows = await place.callHistory()
        const after = (time: unknown) => (time === null ? null : Math.round((Number(time) - CREATED) * 1e6) / 1e6)
        return Object.fromEntries(
          rows.map(({ target, session_id, call_id, ...row }) => {
            expect([target, call_id]).toEqual(['a', session_id])
            const { began, finished, noticed } = row
            const times = { began: after(began), finished: after(finished), noticed: after(noticed) }
            return [session_id, Object.values({ ...row, ...times })]
          }),
        )
      }
      expect(await shown()).toEqual(expected)
      await see(completePoll(5000))
      await see(completePoll(5000, open))
      expect([...ledger.calls.values()].map(({ id }) => id)).toEqual(['open'])
      expect(await shown()).toEqual(expected)
    })

    test('says what the records say, whatever was observed', async () => {
      const place = await newPlace()
      const store = await place.open()
      let targets = 0
      await fc.assert(
        fc.asyncProperty(anyObservations, async (observations) => {
          const name = `target ${++targets}`
          const target = await openIn(store, { ...A, name })
          const sessions = await observeAll(target, name, observations)
          const evicted = await store.evictedCalls(name, [...sessions])
          const calls = [...target.ledger.calls.values(), ...[...evicted.values()].flat()]
          const rows = (await place.callHistory()).filter((row) => row['target'] === name)
          expect(rows).toEqual(shownOfAll(name, calls))
        }),
        { numRuns },
      )
    })

    test('is of all targets, without those that were reset', async () => {
      const { store, place, see } = await openAt(newPlace)
      await see(completePoll(5, seen('same', 'ongoing')))
      const other = await openIn(store, { ...A, name: 'b "é' })
      await other.see(completePoll(5, seen('same', 'ongoing')))
      const found = async () => (await place.callHistory()).map(keyOf)
      expect(await found()).toEqual(['["a","same"]', '["b \\"é","same"]'])
      await store.resetTarget('a', [])
      expect(await found()).toEqual(['["b \\"é","same"]'])
    })
  })
}
