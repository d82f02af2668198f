import { describe, expect, test } from 'vitest'
import { identify, isAmbiguous, type Answer, type KnownCall } from '../../../src/ledger/identity.ts'

/** A quarter of an hour and an hour after ten o'clock, in seconds since ten o'clock. */
const [QUARTER, HOUR] = [900, 3600]
const TEN = 1_760_000_400
const at = (seconds: number | undefined) => (seconds === undefined ? undefined : TEN + seconds)

type Given = {
  mid?: number
  rings?: number
  starts?: number
  ends?: number
  status?: 'initiated' | 'ongoing' | 'ended' | 'unanswered'
}

function row({ mid, rings, starts, ends, status = ends === undefined ? 'ongoing' : 'ended' }: Given) {
  return {
    session: 'room',
    mid,
    status,
    initiatedAt: at(rings),
    startedAt: at(starts),
    endedAt: at(ends),
  }
}

/** A call that polls have shown until a time, by default until its end. */
function call(
  id: string,
  given: Given & { shownUntil?: number; firstSeen?: number; isInReading?: boolean },
): KnownCall {
  const {
    shownUntil = given.ends ?? QUARTER,
    firstSeen = given.rings ?? given.starts ?? 0,
    isInReading = false,
  } = given
  return { ...row(given), id, firstSeen: at(firstSeen)!, shownUntil: at(shownUntil)!, isInReading }
}

const ANSWER: Answer = { now: at(2 * HOUR)!, isTooOld: () => false, isReused: false }

/** The ids of rows, where `new` stands for an id that callwatch derives. */
function idsOf(rows: readonly Given[], known: readonly KnownCall[], answer: Partial<Answer> = {}) {
  const ids = identify(rows.map(row), known, { ...ANSWER, ...answer })
  return ids.map((id) => (/^cw:[\w-]{22}$/.test(id) ? 'new' : id))
}

const first = call('first', { mid: 1, starts: 0, ends: 180 })
const second = call('second', { mid: 2, starts: 600, ends: 720 })
const ringing = call('ringing', { rings: 0, shownUntil: 30, status: 'initiated' })
const failed = call('failed', { rings: 0, ends: 45, status: 'unanswered' })
const open = call('open', { starts: 0, shownUntil: QUARTER })

describe('A row is the call', () => {
  test.each<[why: string, rows: Given[], known: KnownCall[], ids: string[], answer?: Partial<Answer>]>([
    ['of its session, if the session has one call', [{ starts: 0 }], [], ['room']],
    ['that has its mid', [{ mid: 1, starts: 0, ends: 180 }], [first, second], ['first']],
    ['that has its mid, though its times are shifted to those of another one', [{ mid: 2, starts: 0 }], [first, second], ['second']],
    ['that has its start, also where a media server gave it another mid', [{ mid: 9, starts: 1, ends: 180 }], [first], ['first']],
    ['that has its start, and no mid yet', [{ mid: 7, rings: 0, starts: 40 }], [ringing], ['ringing']],
    ['that rang, though it is shown as begun a minute after it was answered', [{ rings: 100, starts: 40, ends: 200 }], [ringing], ['ringing']],
    ['that began and ended in the second in which it rang, though it is shown as rung a minute later', [{ rings: 60, starts: 0, ends: 0 }], [call('open', { rings: 0, shownUntil: 0, status: 'initiated', isInReading: true })], ['open']],
    ['the same, with a mid', [{ mid: 1, rings: 60, starts: 0, ends: 0 }], [call('open', { mid: 1, rings: 0, shownUntil: 0, status: 'initiated', isInReading: true })], ['open']],
    ['that ended at the same time, if its start was missing and the clock of the answer was behind', [{ rings: 13, ends: 13, status: 'unanswered' }], [call('over', { ends: 13, firstSeen: 12, shownUntil: 12, status: 'unanswered' })], ['over']],
    ['that rang when it began, where the service sends the start alone', [{ starts: 0 }], [ringing], ['ringing']],
    ['that is open, if the service has moved its times back', [{ starts: -20 }], [open], ['open']],
    ['that is open, if it ends with times of another zone', [{ starts: -HOUR, ends: -390 }], [open], ['open']],
    ['that is open, if a shift moves it to a time when it was shown', [{ starts: 600 }], [open], ['open']],
    ['that is open, if its times are shifted beyond the time of the answer', [{ starts: HOUR }], [open], ['open'], { now: at(960)! }],
    ['that is final, if all its times are shifted alike', [{ rings: HOUR, ends: HOUR + 45, status: 'unanswered' }], [failed], ['failed']],
    ['that rings, if its start is corrected by seconds', [{ rings: 3, status: 'initiated' }], [call('ringing', { rings: 0, shownUntil: 2, status: 'initiated' })], ['ringing']],
    ['that is known without times', [{ starts: 0 }], [call('bare', { firstSeen: 20, shownUntil: 20 })], ['bare']],
    ['that is nearest, if the row has no start', [{ ends: 690 }], [failed, call('near', { rings: 600, ends: 690, status: 'unanswered' })], ['near']],
    ['of another row with the same start', [{ starts: 0 }, { starts: 0 }], [], ['room', 'room']],
  ])('%s', (_why, rows, known, ids, answer) => {
    expect(idsOf(rows, known, answer)).toEqual(ids)
  })
}) // oxfmt-ignore

describe('A row is a new call', () => {
  test.each<[why: string, rows: Given[], known: KnownCall[], ids: string[], answer?: Partial<Answer>]>([
    ['if mid and start differ', [{ mid: 2, starts: 600 }], [first], ['new']],
    ['if it began before the known one, and has another mid', [{ mid: 0, starts: -600, ends: -300 }], [first], ['new']],
    ['if the same answer shows the known one', [{ starts: 0 }, { starts: -600, ends: -300 }], [open], ['open', 'new']],
    ['if the same answer shows another new one', [{ starts: 600 }, { starts: 0, ends: 180 }], [], ['room', 'new']],
    ['if another page of the same reading shows the known one', [{ starts: -600, ends: -300 }], [{ ...open, isInReading: true }], ['new']],
    ['if it was over before an open one began', [{ starts: -566, ends: -390 }], [open], ['new']],
    ['if it began after the known one was shown last', [{ starts: QUARTER }], [open], ['new']],
    ['if it began a second after the known one ended', [{ rings: 46, status: 'initiated' }], [failed], ['new']],
    ['if it has the mid of a room, which the same answer shows', [{ mid: 1, starts: 0, ends: 180 }, { mid: 1, starts: 600 }], [first], ['first', 'new']],
    ['if it has the mid of a room that known calls share', [{ mid: 1, starts: HOUR }], [first, call('again', { mid: 1, starts: 600, ends: 720 })], ['new']],
    ['if it has the mid of a call that had ended before', [{ mid: 1, starts: 600 }], [first], ['new']],
    ['if it is too old to be counted', [{ starts: -600, ends: -300 }], [open], ['new'], { isTooOld: () => true }],
  ])('%s', (_why, rows, known, ids, answer) => {
    expect(idsOf(rows, known, answer)).toEqual(ids)
  })
}) // oxfmt-ignore

describe('The id of a new call', () => {
  test('is the session id, until the target has shown a session that was used again', () => {
    expect(idsOf([{ mid: 1, starts: 0 }], [])).toEqual(['room'])
    expect(idsOf([{ mid: 1, starts: 0 }], [], { isReused: true })).toEqual(['new'])
    expect(idsOf([{ starts: 0 }], [], { isReused: true })).toEqual(['room'])
  })
  test('is always derived if the session id looks like a derived one', () => {
    const [id] = identify([{ ...row({ starts: 0 }), session: 'cw:room' }], [], ANSWER)
    expect(id).toMatch(/^cw:[\w-]{22}$/)
  })
  test('depends on session, mid and start, and on nothing else', () => {
    const idOf = (one: Given, session = 'room') =>
      identify([{ ...row(one), session }], [call('other', { starts: -HOUR, ends: -QUARTER })], ANSWER)[0]
    expect(idOf({ mid: 1, starts: 0 })).toBe(idOf({ mid: 1, starts: 0, ends: 60 }))
    const ids = [idOf({ mid: 1, starts: 0 }), idOf({ mid: 2, starts: 0 }), idOf({ mid: 1, starts: 9 }), idOf({ mid: 1, starts: 0 }, 'other room')]
    expect(new Set(ids).size).toBe(4)
  })
}) // oxfmt-ignore

describe('It is ambiguous', () => {
  test('whether a row is a call, if its start has moved', () => {
    expect(isAmbiguous(row({ starts: 600, ends: 700 }), failed)).toBe(true)
    expect(isAmbiguous(row({ starts: -600, ends: -300 }), open)).toBe(true)
  })
  test('never if they began within five seconds, or have the same mid', () => {
    expect(isAmbiguous(row({ starts: 5, ends: 180 }), first)).toBe(false)
    expect(isAmbiguous(row({ mid: 1, starts: 600, ends: 780 }), first)).toBe(false)
  })
})
