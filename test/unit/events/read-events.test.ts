import { expect, test } from 'vitest'
import { readCursor, START, writeCursor, type Cursor } from '../../../src/events/cursor.ts'
import type { EventType } from '../../../src/views/event.ts'
import {
  CursorExpired,
  cursorSince,
  readEvents,
  readLatest,
  type EventFilter,
} from '../../../src/events/read-events.ts'
import type { LoggedEvents } from '../../../src/store/store.ts'

type Commit = { position: number; types: readonly EventType[]; target?: string; at?: number; session?: string }

/** A log of commits, each with events of these types; the calls of a commit are named after it. */
function logOf(...commits: readonly Commit[]) {
  const rows = commits.map(({ position, types, target = 'a', at = 0, session }): LoggedEvents => ({
    position,
    total: position,
    id: `commit-${position}`,
    target,
    at,
    texts: types.map((type, i) =>
      JSON.stringify({
        type,
        ...(type.startsWith('call') && { subject: `call ${position}.${i}` }),
        time: '2026-11-21T00:00:00.000Z',
        data: { ...(type.startsWith('call') && { session_id: session }), i },
      }),
    ),
  }))
  const whole = (found: LoggedEvents[], most: number) => {
    let sum = 0
    return found.filter(({ texts }, i) => (sum += texts.length) <= most || i === 0)
  }
  return {
    rows,
    events: async (position: number, most: number) =>
      whole(
        rows.filter((row) => row.position >= position),
        most,
      ),
    latestEvents: async (most: number) => whole(rows.toReversed(), most).toReversed(),
  }
}

const THREE = [
  { position: 1, types: ['call.initiated', 'call.ongoing'] },
  { position: 2, types: ['alert.firing'], target: 'b' },
  { position: 5, types: ['call.ended', 'call.initiated', 'call.lost'] },
] as const

/** Reads the whole log in pages of `limit`, each from the cursor of the page before as clients send it. */
async function readAll(log: ReturnType<typeof logOf>, limit: number, filter: EventFilter = {}) {
  const [found, pages]: [string[], number[]] = [[], []]
  for (let cursor: Cursor | undefined; ;) {
    const { events, next } = await readEvents(log, { cursor, limit, filter })
    found.push(...events.map(({ at: { id, place } }) => `${id}-${place}`))
    pages.push(events.length)
    if (cursor !== undefined && writeCursor(next) === writeCursor(cursor)) return { found, pages }
    cursor = readCursor(writeCursor(next))!
  }
}

const ALL = ['commit-1-0', 'commit-1-1', 'commit-2-0', 'commit-5-0', 'commit-5-1', 'commit-5-2']

test.each([1, 2, 3, 5, 6, 100])('pages of %d events neither repeat nor miss one', async (limit) => {
  const { found, pages } = await readAll(logOf(...THREE), limit)
  expect(found).toEqual(ALL)
  expect(Math.max(...pages)).toBe(Math.min(limit, 6))
})

test('an event is a CloudEvent; a call has its target, call id and session id, which the log does not repeat', async () => {
  const { events } = await readEvents(logOf({ ...THREE[0], target: 'a b/ü' }), { limit: 1 })
  expect(events[0]!.event).toEqual({
    specversion: '1.0',
    id: expect.stringMatching(/^[\w-]{22}$/),
    source: 'urn:callwatch:a%20b%2F%C3%BC',
    type: 'callwatch.call.initiated',
    subject: 'call 1.0',
    time: '2026-11-21T00:00:00.000Z',
    datacontenttype: 'application/json',
    data: { target: 'a b/ü', call_id: 'call 1.0', session_id: 'call 1.0', i: 0 },
  })
})

test.each([
  [{ types: ['call.initiated', 'alert.firing'] }, ['commit-1-0', 'commit-2-0', 'commit-5-1']],
  [{ targets: ['b'] }, ['commit-2-0']],
  [
    {
      sessionIds: {
        given: 'v1.eu.app.call 5.2',
        others: new Map([
          ['a', 'call 5.2'],
          ['b', 'x'],
        ]),
      },
    },
    ['commit-5-2'],
  ],
  [{ types: ['call.lost'], targets: ['b'] }, []],
] satisfies [EventFilter, string[]][])(
  'a filter selects events, and the cursor passes the others: %j',
  async (filter, ids) => {
    const log = logOf(...THREE)
    expect((await readAll(log, 1, filter)).found).toEqual(ids)
    const { next } = await readEvents(log, { limit: 100, filter })
    expect(writeCursor(next)).toBe('5.2.commit-5')
  },
)

test('a filter by session selects the events of all calls of the session, and of no other one', async () => {
  const types = ['call.ended', 'alert.firing'] as const
  const log = logOf({ position: 1, types, session: 'call 3.0' }, { position: 2, types }, { position: 3, types })
  expect((await readAll(log, 9, { sessionIds: { given: 'call 3.0', others: new Map() } })).found).toEqual([
    'commit-1-0',
    'commit-3-0',
  ])
  expect(
    (await readAll(log, 9, { sessionIds: { given: 'call 1.0', others: new Map([['b', 'call 2.0']]) } })).found,
  ).toEqual([])
})

test('a page ends after many events that are not wanted, and the next one goes on', async () => {
  const commits = Array.from({ length: 60 }, (_, i) => ({
    position: i + 1,
    types: Array.from({ length: 500 }, () => 'call.ended' as const),
  }))
  const log = logOf(...commits, { position: 99, types: ['call.lost'] })
  const { found, pages } = await readAll(log, 10, { types: ['call.lost'] })
  expect(found).toEqual(['commit-99-0'])
  expect(pages).toEqual([0, 1, 0])
})

test('the newest events end with the last one, from which a reader goes on', async () => {
  const log = logOf(...THREE)
  const latest = async (limit: number) => (await readLatest(log, limit)).events.map(({ cursor }) => cursor)
  expect(await latest(0)).toEqual([])
  expect(await latest(2)).toEqual(['5.1.commit-5', '5.2.commit-5'])
  expect(await latest(100)).toHaveLength(6)
  const { next } = await readLatest(log, 0)
  expect(await readEvents(log, { cursor: next, limit: 9 })).toEqual({ events: [], next })
  expect((await readLatest(logOf(), 5)).next).toEqual(START)
})

test('the first event since a moment is found', async () => {
  const positions = [3, 4, 7, 12, 13, 40]
  const log = logOf(...positions.map((position) => ({ position, types: ['call.lost'] as const, at: 10 * position })))
  const found = async (since: number) => writeCursor(await cursorSince(log, since))
  expect(await Promise.all([0, 30].map(found))).toEqual(['3.-1.commit-3', '3.-1.commit-3'])
  for (const [i, position] of positions.slice(1).entries()) {
    for (const since of [10 * positions[i]! + 1, 10 * position]) {
      expect(await found(since)).toBe(`${position}.-1.commit-${position}`)
    }
  }
  expect(await found(401)).toBe('40.0.commit-40')
  expect(await cursorSince(logOf(), 0)).toEqual(START)
})

test.each([
  ['was deleted', '2.0.commit-2'],
  ['has another id, as after a restore', '5.0.commit-7'],
  ['has fewer events', '5.3.commit-5'],
  ['is not there yet, as after a restore', '9.0.commit-9'],
  ['is before the first event that there ever was', '0'],
])('a cursor whose commit %s is expired; the oldest one reads all that is left', async (_why, cursor) => {
  const log = logOf(...THREE.slice(2))
  const oldest = await readEvents(log, { cursor: readCursor(cursor), limit: 9 }).then(
    () => undefined,
    (error: unknown) => (error instanceof CursorExpired ? readCursor(error.oldest) : undefined),
  )
  expect(oldest).toBeDefined()
  expect((await readEvents(log, { cursor: oldest, limit: 9 })).events).toHaveLength(3)
})

test('events that are deleted while a page is read are missed, and that is said', async () => {
  const commits = Array.from({ length: 3000 }, (_, i) => ({ position: i + 1, types: ['call.ended'] as const }))
  const log = logOf(...commits)
  let reads = 0
  const deleting = {
    ...log,
    events: async (position: number, most: number) => {
      if (++reads === 2) log.rows.splice(0, 2000)
      return log.events(position, most)
    },
  }
  const reading = readEvents(deleting, { cursor: readCursor('1.0.commit-1'), limit: 1000 })
  await expect(reading).rejects.toBeInstanceOf(CursorExpired)
})

test('a reader of a log without events gets those that come first', async () => {
  const { next } = await readEvents(logOf(), { limit: 9 })
  expect(writeCursor(next)).toBe('0')
  expect((await readEvents(logOf(...THREE), { cursor: readCursor('0'), limit: 9 })).events).toHaveLength(6)
})

test.each(['', 'x', '1', '1.0', '1.0.', '1.-2.a', '-1.0.a', '1.0.a b', '01.0.a\n', '9999999999999999.0.a'])(
  'no cursor is %j',
  (text) => expect(readCursor(text)).toBeUndefined(),
)
