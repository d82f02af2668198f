import { describe, expect, test } from 'vitest'
import { identify, midOf, type Answer, type KnownCall } from '../../../src/ledger/identity.ts'

const [QUARTER, HOUR, DAY] = [900, 3600, 86_400]
const TEN = 1_760_000_400
const at = (seconds: number | undefined) => (seconds === undefined ? undefined : TEN + seconds)

/** Times are seconds after ten o'clock. */
type Given = {
  mid?: number
  rings?: number
  starts?: number
  ends?: number
  status?: 'initiated' | 'ongoing' | 'ended' | 'unanswered' | 'rejected'
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

const call = (id: string, given: Given): KnownCall => ({
  ...row(given),
  id,
  firstSeen: at(given.rings ?? given.starts ?? 0)!,
})

const ANSWER: Answer = { now: at(2 * HOUR)!, isTooOld: () => false, isReused: false, isShown: () => false }

/** The ids of rows, where `new` stands for an id that callwatch derives. */
function idsOf(rows: readonly Given[], known: readonly KnownCall[], answer: Partial<Answer> = {}) {
  const ids = identify(rows.map(row), known, { ...ANSWER, ...answer })
  return ids.map((id) => (/^cw:[\w-]{22}$/.test(id) ? 'new' : id))
}

const first = call('first', { mid: 1, starts: 0, ends: 180 })
const second = call('second', { mid: 2, starts: 600, ends: 720 })
const ringing = call('ringing', { rings: 0, status: 'initiated' })
const failed = call('failed', { rings: 0, ends: 45, status: 'unanswered' })
const open = call('open', { starts: 0 })
const isShown = () => true

type Case = [why: string, rows: Given[], known: KnownCall[], ids: string[], answer?: Partial<Answer>]

describe('A row is the call', () => {
  test.each<Case>([
    ['of its session, if the session has one call', [{ starts: 0 }], [], ['room']],
    ['that has its start and its mid', [{ mid: 1, starts: 1, ends: 180 }], [first, second], ['first']],
    ['that has its start, and no mid yet', [{ mid: 7, rings: 0, starts: 40 }], [ringing], ['ringing']],
    ['that has its start, if the row lacks the mid', [{ starts: 0, ends: 180 }], [first, second], ['first']],
    ['that started then, though it is shown as rung a minute later', [{ rings: 60, starts: 0, ends: 90 }], [call('open', { rings: -20, starts: 0 })], ['open']],
    ['that rang when it began, if the answer has the start alone', [{ starts: 0 }], [call('both', { rings: 0, starts: 600 })], ['both']],
    ['that ended then, if the answer lacks the start, and has a time to ring that is after the end', [{ rings: 60, ends: 47, status: 'ended' }], [call('both', { rings: 60, starts: 0, ends: 47 })], ['both']],
    ['that ended then, if the answer lacks the start', [{ ends: 45, status: 'unanswered' }], [second, failed], ['failed']],
    ['that has its mid, if its times were corrected', [{ mid: 1, starts: -20, ends: 160 }], [first, second], ['first']],
    ['that has its mid, if the answer lacks all times', [{ mid: 2 }], [first, second], ['second']],
    ['that was answered, where startedAt comes in place of initiatedAt', [{ mid: 7, starts: 45 }], [first, ringing], ['ringing']],
    ['that is open, if its start is corrected by seconds', [{ starts: -20 }], [open], ['open']],
    ['that is open, if the row lacks the start', [{ status: 'rejected' }], [failed, call('again', { rings: 600, status: 'initiated' })], ['again']],
    ['that was known without times', [{ starts: 0 }], [call('bare', { status: 'initiated' })], ['bare']],
    ['that has its mid and ended while the list was read, and was known without times', [{ mid: 7, starts: 0, ends: 110 }], [call('bare', { mid: 7 })], ['bare'], { isShown }],
    ['that is over, and was known without times', [{ rings: 0, ends: 45, status: 'unanswered' }], [call('bare', { status: 'unanswered' })], ['bare']],
    ['of another row of the answer with the same start', [{ starts: 0 }, { starts: 0 }], [], ['room', 'room']],
    ['of another row of the answer, of which one is outdated', [{ starts: 0, ends: 180 }, { starts: 0 }], [open], ['open', 'open']],
  ])('%s', (_why, rows, known, ids, answer) => {
    expect(idsOf(rows, known, answer)).toEqual(ids)
  })
}) // oxfmt-ignore

describe('A row is a new call', () => {
  test.each<Case>([
    ['if mid and start differ', [{ mid: 2, starts: 600 }], [first], ['new']],
    ['if the mid differs alone', [{ mid: 2, starts: 0, ends: 300 }], [first], ['new']],
    ['of each of two devices that begin in the same second', [{ mid: 1, starts: 0 }, { mid: 2, starts: 0 }], [], ['room', 'new']],
    ['of each of two devices that rang as one', [{ mid: 1, rings: 0, starts: 5 }, { mid: 2, rings: 0, starts: 5 }], [ringing], ['ringing', 'new']],
    ['if the room keeps its initiatedAt', [{ rings: 0, starts: 600, ends: 780 }], [call('first', { rings: 0, starts: 0, ends: 180 })], ['new']],
    ['if it has the mid of a room whose call was over before', [{ mid: 1, starts: 600 }], [first], ['new']],
    ['if it has the mid of a room whose call began long before, and whose end was missed', [{ mid: 1, starts: 600 }], [call('open', { mid: 1, starts: 0 })], ['new']],
    ['if it has the mid of a call that the reading has shown', [{ mid: 1, starts: 30, ends: 300 }], [first], ['new'], { isShown }],
    ['if it began after a call that was over', [{ rings: 46, status: 'initiated' }], [failed], ['new']],
    ['if it began more than 50 seconds after an open call', [{ starts: 51 }], [ringing], ['new']],
    ['if it began within 50 seconds of an open call that the reading has shown', [{ starts: 40 }], [ringing], ['new'], { isShown }],
    ['if it rings within 50 seconds of the answer to an open call', [{ rings: 45, status: 'initiated' }], [call('open', { rings: -7, starts: 0 })], ['new']],
    ['if it has no mid, and began within 50 seconds of an open call that has one', [{ starts: 30 }], [call('open', { mid: 1, starts: 0 })], ['new']],
    ['if it has the start of a call that another page has shown at another time since', [{ rings: 0, status: 'unanswered' }], [ringing, call('ringing', { mid: 4, rings: 40, starts: 45, ends: 90 })], ['new'], { isShown }],
    ['if it is a redial', [{ rings: 60, ends: 105, status: 'unanswered' }], [failed], ['new']],
    ['if all its times are those of another call a quarter of an hour later', [{ rings: QUARTER, ends: QUARTER + 45, status: 'unanswered' }], [failed], ['new']],
    ['a day after one that got stuck', [{ starts: DAY, ends: DAY + 300 }], [ringing], ['new']],
    ['if it was over before an open one began', [{ starts: -40, ends: -10 }], [open], ['new']],
    ['if it has the mid of a room whose call was over seconds before', [{ mid: 1, starts: 200 }], [call('short', { mid: 1, starts: 170, ends: 190 })], ['new']],
    ['if it began within 50 seconds of an open call, with another mid', [{ mid: 2, starts: 30 }], [call('open', { mid: 1, starts: 0 })], ['new']],
    ['if it was answered in the same second as one that rang at another time', [{ rings: 30, starts: 60, ends: 90 }], [call('over', { rings: 0, starts: 60, ends: 90 })], ['new']],
    ['if a later row of the answer has the start of the open call near it', [{ starts: 30 }, { starts: 0 }], [open], ['new', 'open']],
    ['if it has another end and no start', [{ ends: 300 }], [call('over', { ends: 100 })], ['new']],
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
  test('is derived if it is too old to be counted', () => {
    expect(idsOf([{ starts: 0 }], [], { isTooOld: () => true })).toEqual(['new'])
  })
  test('is always derived if the session id looks like a derived one', () => {
    const [id] = identify([{ ...row({ starts: 0 }), session: 'cw:room' }], [], ANSWER)
    expect(id).toMatch(/^cw:[\w-]{22}$/)
  })
  test('depends on session, mid and times, and on nothing else', () => {
    const idOf = (one: Given, session = 'room') =>
      identify([{ ...row(one), session }], [call('other', { starts: -HOUR, ends: -QUARTER })], ANSWER)[0]
    expect(idOf({ mid: 1, starts: 0 })).toBe(idOf({ mid: 1, starts: 0, status: 'initiated' }))
    const ids = [idOf({ mid: 1, starts: 0 }), idOf({ mid: 2, starts: 0 }), idOf({ mid: 1, starts: 9 }), idOf({ mid: 1, rings: 0, starts: 9 }), idOf({ mid: 1, ends: 9 }), idOf({ mid: 1, starts: 0 }, 'other room')]
    expect(new Set(ids).size).toBe(ids.length)
  })
  test('is never one that another call has', () => {
    const [, before] = identify([row({ rings: 0 }), row({ rings: 600 })], [], ANSWER)
    // Its times were corrected since.
    const taken = call(before!, { rings: 580, starts: 620, ends: 650 })
    const [id] = identify([row({ rings: 600 })], [taken], ANSWER)
    expect([id === before, id!.startsWith('cw:')]).toEqual([false, true])
  })
}) // oxfmt-ignore

test('the digest of a mid has 53 bits', () => {
  const digests = Array.from({ length: 20_000 }, (_, n) => midOf(`${n}f47ac10b-58cc-4372-a567-0e02b2c3d479`)!)
  expect(new Set(digests).size).toBe(digests.length)
  expect(digests.every((digest) => Number.isSafeInteger(digest) && digest >= 0)).toBe(true)
  for (const bit of [0, 20, 31, 40, 52]) {
    const ones = digests.filter((digest) => Math.floor(digest / 2 ** bit) % 2 === 1).length
    expect(Math.abs(ones - digests.length / 2)).toBeLessThan(digests.length / 50)
  }
  expect(midOf(undefined)).toBe(undefined)
})
