import { describe, expect, test } from 'vitest'
import type { Call } from '../../../../src/simulator/calls/call.ts'
import { isFinal } from '../../../../src/simulator/expected/counted-calls.ts'
import { advance } from '../../../../src/simulator/calls/world.ts'
import { expectedCalls } from '../oracle/expected-calls.ts'
import { setAside } from '../oracle/set-aside.ts'
import { ask, getCall, list, serviceOf, START } from '../request-service.ts'
import type { WorldService } from '../start-world.ts'
import type { Switches } from '../switches.ts'
import { livesIn, named, wires } from './lives.ts'

const END = START + 3600

/** A world of six groups that meet for some minutes each, an hour after its start; every 15 seconds somebody polls the list. */
function meeting(switches: Partial<Switches>, { seed = 1, polls = true, history = 0 } = {}): WorldService {
  const options = { seed, history, open: 0, groups: 6, callsPerMinute: 4, speed: 5, progressSeconds: 60 }
  const service = serviceOf({ ...options, switches: { sessions: 'reused', ...switches } })
  if (polls) for (let at = START; at < END; at += 15) ask(service, at)
  advance(service.world, END, service.switches)
  return service
}

const callOf = (service: WorldService, session: string): Call[] => JSON.parse(getCall(service, END, session).body).data

const inRooms = <Row extends { sessionId?: unknown }>(rows: Row[]): Row[] =>
  rows.filter(({ sessionId }) => /^(cw:)?group-\d/.test(String(sessionId)))

/** The calls of each room that had several, oldest first. */
const rooms = (service: WorldService) =>
  [
    ...Map.groupBy(
      inRooms(livesIn(service).map(([first, ...rest]) => ({ ...first!, rest }))),
      ({ sessionId }) => sessionId,
    ),
  ]
    .map(([session, calls]) => ({ session, calls: calls.map(({ rest, ...first }) => [first, ...rest]) }))
    .filter(({ calls }) => calls.length > 1)

describe('a session with several calls, listed as A,', () => {
  const service = meeting({ getCall: 'list' })

  test('has a row for each of its calls, in the list and in Get Call', () => {
    expect(rooms(service).length).toBe(6)
    for (const { session, calls } of rooms(service)) {
      const begun = calls.map(([first]) => first!.initiatedAt).toReversed()
      const rows = wires(service).filter(({ sessionId }) => sessionId === session)
      expect(rows.map(({ initiatedAt }) => initiatedAt).toReversed()).toEqual(begun)
      expect(callOf(service, session).map(({ initiatedAt }) => initiatedAt)).toEqual(begun)
    }
    expect(Object.values(setAside(service.world.ledger)).flat()).toEqual([])
  })

  test('has two of its rows on one page, on two pages and thirty pages apart', () => {
    const long = meeting({}, { history: 400, polls: false })
    const places = (session: string) =>
      wires(long).flatMap(({ sessionId }, index) => (sessionId === session ? [Math.floor(index / 10)] : []))
    const pages = rooms(long).flatMap(({ session }) => {
      const on = places(session)
      return on.slice(1).map((page, index) => page - on[index]!)
    })
    expect(pages).toContain(0)
    expect(pages).toContain(1)
    expect(
      Math.max(...rooms(long).map(({ session }) => places(session).at(-1)! - places(session)[0]!)),
    ).toBeGreaterThan(30)
  })

  test('has calls before the set-up and after it, and one that runs then', () => {
    const long = meeting({}, { history: 200, polls: false })
    const runs = rooms(long).filter(({ calls }) => calls[0]![0]!.at < START && calls.at(-1)![0]!.at > START)
    expect(runs.length).toBe(6)
    const across = rooms(long).flatMap(({ calls }) =>
      calls.filter((one) => one[0]!.at < START && one.at(-1)!.at > START),
    )
    expect(across.length).toBeGreaterThan(0)
  })
})

describe('a session with several calls, listed as B,', () => {
  test('has one row, of the latest call, which alone Get Call knows', () => {
    const service = meeting({ listedAs: 'B', getCall: 'list' })
    expect(rooms(service).length).toBe(6)
    for (const { session, calls } of rooms(service)) {
      const rows = wires(service).filter(({ sessionId }) => sessionId === session)
      expect(rows.map(({ initiatedAt }) => initiatedAt)).toEqual([calls.at(-1)![0]!.initiatedAt])
      expect(callOf(service, session)).toEqual(rows)
      for (const events of calls.slice(0, -1)) expect(events.at(-1)!.event).toMatch(/^(replaced|unlisted)$/)
    }
  })

  test('sets aside the calls that were replaced before two polls have seen their end, which are all where the next one begins a second later', () => {
    const [short, long] = [1, 45].map((sessionGap) => {
      const service = meeting({ listedAs: 'B', sessionGap })
      const gaps = rooms(service).flatMap(({ calls }) =>
        calls.slice(1).map(([first], index) => ({
          call: calls[index]![0]!.call,
          gap: first!.at - calls[index]!.find(isFinal)!.at,
        })),
      )
      return { gaps, aside: new Set(setAside(service.world.ledger).replaced) }
    })
    for (const { gaps, aside } of [short!, long!]) {
      for (const { call, gap } of gaps) if (gap < 10 || gap >= 45) expect(aside.has(call)).toBe(gap < 10)
    }
    expect(short!.gaps.filter(({ gap }) => gap === 1).length).toBeGreaterThan(10)
    expect(Math.min(...long!.gaps.map(({ gap }) => gap))).toBe(45)
    expect(long!.aside.size).toBe(0)
  })

  test('sets aside all that were replaced where no answer was delivered, and counts no change after that', () => {
    const service = meeting({ listedAs: 'B', sessionGap: 60, fault: { reset: 1 }, facts: { corrected: 1 } })
    const replaced = rooms(service).flatMap(({ calls }) => calls.slice(0, -1))
    expect(replaced.length).toBeGreaterThan(30)
    expect(new Set(setAside(service.world.ledger).replaced)).toEqual(new Set(replaced.map(([first]) => first!.call)))
    for (const events of replaced) expect(events.findIndex(({ event }) => event === 'replaced')).toBe(events.length - 1)
  })

  test('is shown by a replica that lags as it was', () => {
    const service = meeting({ listedAs: 'B', replicaLag: 20 }, { polls: false })
    const { session, calls } = rooms(service)[0]!
    const [former, latest] = [calls.at(-2)![0]!, calls.at(-1)![0]!]
    const fresh = serviceOf({ ...service.world.options, switches: service.switches })
    const begun = Array.from(
      { length: 40 },
      () => list(fresh, latest.at + 5).data.find(({ sessionId }) => sessionId === session)!.initiatedAt,
    )
    expect(new Set(begun)).toEqual(new Set([former.initiatedAt, latest.initiatedAt]))
  })

  test('has no row of a call that has vanished, once another one is in its place', () => {
    const service = meeting({ listedAs: 'B', facts: { vanished_for_a_while: 1 } })
    const sessions = inRooms(wires(service)).map(({ sessionId }) => sessionId)
    expect(new Set(sessions).size).toBe(sessions.length)
  })
})

describe('a session with several calls, listed as C,', () => {
  const service = meeting({ listedAs: 'C', getCall: 'list' })
  const continued = livesIn(service).filter((events) => named(events, 'reopened').length > 0)

  test('has one call, which goes on with the same start and more minutes', () => {
    expect(continued.length).toBeGreaterThan(5)
    for (const events of continued) {
      const [again] = named(events, 'reopened')
      expect(again).toMatchObject({ status: 'ongoing', initiatedAt: events[0]!.initiatedAt })
      expect(again!.endedAt).toBeUndefined()
      const [first, last] = [events.find(isFinal)!, events.at(-1)!]
      if (isFinal(last)) expect(last.callMinutes.audio).toBeGreaterThan(first.callMinutes.audio + 39)
      expect(callOf(service, again!.sessionId)).toHaveLength(1)
    }
  })

  test('has its call set aside, for its first end has changed', () => {
    expect(setAside(service.world.ledger)).toMatchObject({
      finalChanged: expect.arrayContaining(continued.map(([first]) => first!.call)),
      replaced: [],
    })
    expect(expectedCalls(service.world.ledger, END).get(continued[0]![0]!.call)).toMatchObject({ final: true })
  })

  test('leaves all other calls in sessions of their own', () => {
    const sessions = wires(service).map(({ sessionId }) => sessionId)
    expect(new Set(sessions).size).toBe(sessions.length)
  })
})

test.each([
  [{ stuck: 1 }],
  [{ swift: 0.5 }],
  [{ final_changed: 1, without_ended_at: 0.5 }],
  [{ reopened: 0.5, vanished_for_a_while: 0.5 }],
])('whatever its calls are like, a room has one at a time (%j)', (facts) => {
  const service = meeting({ facts }, { polls: false })
  for (const { calls } of rooms(service)) {
    for (const [index, [first]] of calls.slice(1).entries()) {
      const before = calls[index]!.filter(({ at }) => at < first!.at)
      expect(isFinal(before.findLast(({ event }) => event !== 'vanished')!)).toBe(true)
    }
  }
})

describe('the mids of calls', () => {
  const midsOf = ({ sessionId, mid, participants }: Partial<Call>) => ({
    session: sessionId!,
    mid,
    own: new Set(participants!.flatMap((one) => one.mid ?? [])),
  })
  const calls = (mids: Switches['mids']) => meeting({ mids }).world.listing.map(({ call }) => call)

  test('if given, differ from call to call, and are those of who joined', () => {
    const joined = calls('given').filter(({ totalParticipants }) => totalParticipants > 0)
    expect(new Set(joined.map(({ mid }) => mid)).size).toBe(joined.length)
    for (const { mid, own } of joined.map(midsOf)) expect(own).toEqual(new Set([mid]))
  })

  test('if none, are nowhere', () => {
    for (const { mid, own } of calls('none').map(midsOf)) expect([mid, own.size]).toEqual([undefined, 0])
  })

  test('if late, come 20 to 60 seconds after the first join', () => {
    const service = meeting({ mids: 'late', getCall: 'list' }, { polls: false })
    const identified = livesIn(service).flatMap((events) => named(events, 'identified'))
    expect(identified.length).toBeGreaterThan(50)
    for (const { at, startedAt } of identified) {
      expect(at - startedAt!).toBeGreaterThanOrEqual(20)
      expect(at - startedAt!).toBeLessThanOrEqual(61)
    }
    const again = serviceOf({ ...service.world.options, switches: service.switches })
    const { at, sessionId } = identified[10]!
    const midAt = (moment: number) => JSON.parse(getCall(again, moment, sessionId).body).data[0].mid
    expect(midAt(at - 0.5)).toBeUndefined()
    expect(midAt(at)).toMatch(/^[0-9a-f]{32}$/)
  })

  test('if room, are one for all calls of a session', () => {
    const joined = calls('room').filter(({ totalParticipants }) => totalParticipants > 0)
    const bySession = Map.groupBy(joined.map(midsOf), ({ session }) => session)
    for (const ofSession of bySession.values()) expect(new Set(ofSession.map(({ mid }) => mid)).size).toBe(1)
    expect(new Set(joined.map(({ mid }) => mid)).size).toBe(bySession.size)
  })
})

test('a reused id is that of a call before the start, whose row leaves, and the further call counts by itself', () => {
  const service = meeting({ sessions: 'unique', reusedIds: 1 }, { history: 60, polls: false })
  const sessions = Map.groupBy(livesIn(service), ([first]) => first!.sessionId)
  const reused = [...sessions.values()].filter(({ length }) => length === 2)
  expect(reused.length).toBeGreaterThan(40)
  for (const [earlier, later] of reused) {
    expect(earlier!.at(-1)).toMatchObject({ event: 'replaced', at: later![0]!.at })
    expect(wires(service).filter(({ sessionId }) => sessionId === later![0]!.sessionId)).toHaveLength(1)
  }
  const calls = expectedCalls(service.world.ledger, END)
  expect(reused.every((both) => both.every(([first]) => calls.has(first!.call)))).toBe(true)
})

test.each([
  ['marked_id', /^cw:/],
  ['long_id', /^.{500}$/],
] as const)('with the fact %s, sessions have such ids, and several calls', (fact, form) => {
  const service = meeting({ facts: { [fact]: 1 }, getCall: 'list' })
  const ids = wires(service).map(({ sessionId }) => String(sessionId))
  for (const id of ids) expect(id).toMatch(form)
  const shared = ids.find((id) => ids.indexOf(id) !== ids.lastIndexOf(id))!
  expect(callOf(service, shared).length).toBe(ids.filter((id) => id === shared).length)
})

test('numeric ids stay numbers, whatever texts other ids are', () => {
  const ids = wires(meeting({ facts: { numeric_id: 0.5, marked_id: 1, long_id: 1 } })).map(({ sessionId }) => sessionId)
  for (const id of ids) expect(Number.isSafeInteger(id) || String(id).startsWith('cw:')).toBe(true)
  expect(new Set(ids.map((id) => typeof id))).toEqual(new Set(['number', 'string']))
})

test.each([
  ['not_found', 404, /ERR_CALL_SESSION_NOT_FOUND/],
  ['empty_list', 200, /^\{"data":\[\]\}$/],
] as const)('with unknownCall %s, Get Call of another session answers %i', (unknownCall, status, body) => {
  expect(getCall(meeting({ unknownCall }), END, 'nobody')).toMatchObject({ status, body: expect.stringMatching(body) })
})
