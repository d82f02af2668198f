import { describe, expect, test } from 'vitest'
import { createService, setSwitches } from '../../../src/simulator/answers/service.ts'
import { callsUntil } from '../../../src/simulator/expected/counted-calls.ts'
import type { Switches } from '../../../src/simulator/switches.ts'
import { ask, getCall, START } from '../../kit/world/request-service.ts'

const END = START + 7200

/** A service whose meetings of forty groups use their rooms again, two hours later. */
function reusing(switches: Partial<Switches> = {}) {
  const options = { history: 400, callsPerMinute: 20, speed: 2, progressSeconds: 600, mostRecordedResponses: 0 }
  const service = createService({ ...options, switches: { sessions: 'reused', perPage: 1000, ...switches } }, START)
  ask(service, END)
  return service
}

const service = reusing()
const calls = [...callsUntil(service.world.ledger, END).values()]
const meetings = calls.filter(({ first }) => first.mode !== 'call' && first.receiverType === 'group')
const rooms = [...Map.groupBy(meetings, ({ first }) => first.sessionId).values()].filter(({ length }) => length > 1)

describe('where sessions are reused', () => {
  test('each of forty groups meets in one session again and again, and all other calls have sessions of their own', () => {
    expect(rooms.map(([meeting]) => meeting!.first.sessionId).toSorted()).toEqual(
      Array.from({ length: 40 }, (_none, index) => `group-${index + 1}`).toSorted(),
    )
    const inRooms = new Set(rooms.flat())
    const others = calls.filter((call) => !inRooms.has(call))
    expect(new Set(others.map(({ first }) => first.sessionId)).size).toBe(others.length)
    expect(inRooms.size).toBeGreaterThan(meetings.length / 3)
    // Those that found their room in use for long.
    expect(inRooms.size).toBeLessThan(meetings.length - 100)
  })

  test('each call has a name of its own in the ledger', () => {
    expect(rooms[0]!.slice(0, 2).map(({ first }) => first.call)).toEqual([
      rooms[0]![0]!.first.sessionId,
      `${rooms[0]![0]!.first.sessionId}#2`,
    ])
    const begun = service.world.ledger.filter(
      ({ event, at, initiatedAt }) => event === 'ongoing' && Math.floor(at) === initiatedAt,
    )
    expect(new Set(begun.map(({ call }) => call)).size).toBe(begun.length)
  })

  test('a room has one meeting at a time, and some begin a second after the one before', () => {
    const gaps = rooms.flatMap((room) => room.slice(1).map(({ first }, index) => first.at - room[index]!.final!.at))
    expect(Math.min(...gaps)).toBe(1)
    expect(gaps.filter((gap) => gap === 1).length).toBeGreaterThan(20)
    expect(gaps.filter((gap) => gap > 30).length).toBeGreaterThan(20)
  })

  test('a meeting that waited for its room lasts as long as it would have', () => {
    const lasting = ({ first, final }: (typeof calls)[number]) => final && Math.round((final.at - first.at) * 1000)
    const unique = callsUntil(reusing({ sessions: 'unique' }).world.ledger, END)
    const expected = new Set([...unique.values()].map(lasting))
    for (const call of rooms.flat()) expect(expected).toContain(lasting(call))
  })

  test('the list has a row for each meeting of a session', () => {
    const rows = service.world.listing.filter(({ call }) => call.sessionId === 'group-1')
    expect(rows).toHaveLength(rooms.find(([one]) => one!.first.sessionId === 'group-1')!.length)
  })
})

test.each([
  ['object', 'data', 1],
  ['bare', undefined, 1],
  ['list', 'data', 'all'],
  ['bare_list', undefined, 'all'],
] as const)('Get Call as %s answers with the newest call of a session, or all of them', (form, key, expected) => {
  setSwitches(service, { getCall: form })
  const parsed = JSON.parse(getCall(service, END, 'group-1').body)
  const body = key === undefined ? parsed : parsed[key]
  const begun = [body].flat().map(({ initiatedAt }) => initiatedAt)
  const all = rooms
    .find(([one]) => one!.first.sessionId === 'group-1')!
    .map(({ first }) => first.initiatedAt)
    .toReversed()
  expect(Array.isArray(body)).toBe(expected === 'all')
  expect(begun).toEqual(expected === 'all' ? all : all.slice(0, 1))
})

test('calls of a session that are too old are forgotten one by one', () => {
  const old = reusing({ mostListed: 20 })
  ask(old, END + 4 * 3600)
  const known = [...old.world.entries.values()].flat()
  expect(known.length).toBeLessThan(20 + 1000 + 200)
  expect(known.filter(({ sessionId }) => sessionId.startsWith('group-')).length).toBeGreaterThan(100)
})
