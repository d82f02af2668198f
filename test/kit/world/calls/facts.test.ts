import { describe, expect, test } from 'vitest'

import { isFinal } from '../../../../src/simulator/expected/counted-calls.ts'
import { plainEvents, statusLabel } from '../oracle/plain-events.ts'
import type { LedgerEvent } from '../../../../src/simulator/calls/ledger.ts'
import type { Call } from '../../../../src/simulator/calls/call.ts'
import { heal, setSwitches } from '../start-world.ts'
import { setAside } from '../oracle/set-aside.ts'
import { expectedSeries } from '../oracle/expected-series.ts'
import { advance } from '../../../../src/simulator/calls/world.ts'
import { getCall, START } from '../request-service.ts'
import { livesIn, livesWith, named, some, wires, worldWith } from './lives.ts'

/** What a ledger comes to long after the last arrival. */
const seriesOf = (ledger: LedgerEvent[]) =>
  expectedSeries(ledger, { created: START, baseline: 'skip', now: START + 20_000 })

const minutesOf = ({ callMinutes: call, participantMinutes: participants }: LedgerEvent): number[] => [
  call.audio,
  call.video,
  participants.audio,
  participants.video,
]

describe('a simulated call', () => {
  test('that is swift goes from its beginning to its end within seconds', () => {
    const lasting = ({ initiatedAt, endedAt }: LedgerEvent): number => endedAt! - initiatedAt!
    const swift = livesWith({ swift: 1 }).map((events) => lasting(events.at(-1)!))
    const plain = livesWith({}).map((events) => lasting(events.at(-1)!))
    const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
    expect(mean(swift)).toBeLessThan(mean(plain) / 15)
    expect(swift.filter((seconds) => seconds < 5).length).toBeGreaterThan(swift.length * 0.8)
  })

  test('that is corrected has its minutes changed after its end, up or down, and nothing else', () => {
    let up = 0
    let down = 0
    for (const events of livesWith({ corrected: 1 })) {
      const end = events.findIndex(isFinal)
      const later = events.slice(end + 1)
      expect(later.length).toBeGreaterThanOrEqual(1)
      expect(later.every(({ event }) => event === 'corrected')).toBe(true)
      const [before, after] = [minutesOf(events[end]!), minutesOf(later.at(-1)!)]
      up += before.filter((value, index) => after[index]! > value).length
      down += before.filter((value, index) => after[index]! < value).length
      const { at: _at, event: _event, callMinutes: _call, participantMinutes: _participants, ...rest } = later[0]!
      expect(events[end]).toMatchObject(rest)
    }
    expect(up).toBeGreaterThan(50)
    expect(down).toBeGreaterThan(50)
  })

  test('that is recorded late shows it after its end', () => {
    const lives = livesWith({ recorded_late: 1 })
    expect(some(lives, (events) => named(events, 'recorded').length === 1)).toBeGreaterThan(50)
    for (const events of lives) {
      const shown = events.findIndex(({ event }) => event === 'recorded')
      if (shown < 0) continue
      expect([events[shown - 1]!.recorded, events[shown]!.recorded]).toEqual([false, true])
      expect(isFinal(events[shown - 1]!)).toBe(true)
    }
  })

  test('whose final status changes gets another one, or is ongoing again and ends a second time', () => {
    const lives = livesWith({ final_changed: 1 })
    const reopened = some(lives, (events) => named(events, 'final_changed').length === 2)
    expect(reopened).toBeGreaterThan(lives.length / 4)
    expect(reopened).toBeLessThan((lives.length * 3) / 4)
    for (const events of lives) {
      const [first, ...changes] = events.filter((event, index) => isFinal(event) || index > events.findIndex(isFinal))
      expect(changes.length).toBeGreaterThanOrEqual(1)
      expect(changes[0]!.status).not.toBe(first!.status)
      if (changes.length === 2) expect([changes[0]!.status, changes[0]!.endedAt]).toEqual(['ongoing', undefined])
      expect(isFinal(events.at(-1)!)).toBe(true)
    }
  })

  test('without endedAt is final all the same, and some get it later', () => {
    const lives = livesWith({ without_ended_at: 1 })
    for (const events of lives) {
      const final = events.find(isFinal)!
      expect(final.endedAt).toBeUndefined()
      expect(events.at(-1)!.endedAt === undefined).toBe(events.at(-1)!.event !== 'dated')
    }
    expect(some(lives, (events) => events.at(-1)!.event === 'dated')).toBeGreaterThan(lives.length / 4)
  })

  test('whose labels change is open at that moment', () => {
    const lives = livesWith({ labels_changed: 1 })
    expect(some(lives, (events) => named(events, 'relabelled').length === 1)).toBeGreaterThan(lives.length * 0.9)
    for (const events of lives) for (const event of named(events, 'relabelled')) expect(isFinal(event)).toBe(false)
  })

  test('of an unknown label shows values outside the documented ones, or none, all its life', () => {
    const service = worldWith({ unknown_label: 1 })
    const documented = ['audio', 'video', 'call', 'meet', 'presenter', 'user', 'group']
    const odd = wires(service).flatMap(({ type, mode, receiverType }) =>
      [type, mode, receiverType].filter((value) => !documented.some((each) => each === value)),
    )
    expect(odd).toHaveLength(wires(service).length)
    expect(new Set(odd.map((value) => typeof value))).toEqual(new Set(['string', 'number', 'object', 'undefined']))
    const series = seriesOf(service.world.ledger)
    const started = [...series.keys()].filter((name) => name.startsWith('callwatch_calls_started_total'))
    expect(started.every((name) => name.includes('="other"'))).toBe(true)
    expect(setAside(service.world.ledger).labelsChanged).toEqual([])
  })

  test('of an unknown status rings, lasts or ends with it, and is final in the end', () => {
    const lives = livesWith({ unknown_status: 1 })
    const statuses = new Set(lives.flat().map(({ status }) => status))
    for (const status of ['ringing', 'on hold', 'failed']) expect(statuses).toContain(status)
    for (const events of lives) {
      expect(isFinal(events.at(-1)!)).toBe(true)
      for (const event of events.slice(0, -1)) expect(isFinal(event)).toBe(false)
    }
    const held = lives.find((events) => named(events, 'paused').length > 0)!
    const [paused] = named(held, 'paused')
    expect([paused!.status, statusLabel(paused!), named(held, 'resumed')[0]!.status]).toEqual([
      'on hold',
      'other',
      'ongoing',
    ])
  })

  test('that is set back shows the status initiated for a while', () => {
    const lives = livesWith({ set_back: 1 }).filter((events) => named(events, 'set_back').length > 0)
    expect(lives.length).toBeGreaterThan(50)
    for (const events of lives) {
      expect(named(events, 'set_back')[0]!.status).toBe('initiated')
      expect(isFinal(events.at(-1)!)).toBe(true)
    }
  })

  test('in the near future has all its times ahead by the same offset', () => {
    const plain = new Map(livesWith({}).map((events) => [events[0]!.sessionId, events.at(-1)!]))
    for (const events of livesWith({ near_future: 1 })) {
      const last = events.at(-1)!
      const before = plain.get(last.sessionId)!
      const ahead = last.initiatedAt! - before.initiatedAt!
      expect(ahead).toBeGreaterThanOrEqual(2)
      expect(ahead).toBeLessThanOrEqual(7200)
      expect(last.endedAt! - before.endedAt!).toBe(ahead)
    }
  })

  test('in the far future has one impossible time, which counts as none', () => {
    const service = worldWith({ far_future: 1 })
    const isFar = (time: unknown) => Number(time) > START + 10 * 365 * 86_400
    const shown = wires(service)
    const far = shown.flatMap((wire) => ['initiatedAt', 'startedAt', 'endedAt'].filter((name) => isFar(wire[name])))
    expect(new Set(far)).toEqual(new Set(['initiatedAt', 'startedAt', 'endedAt']))
    for (const { initiatedAt = 0, startedAt = 0, endedAt = 0 } of plainEvents(service.world.ledger)) {
      expect(Math.max(initiatedAt, startedAt, endedAt)).toBeLessThan(START + 20_000)
    }
    const ended = shown.filter(({ status, endedAt }) => status === 'ended' && isFar(endedAt))
    expect(setAside(service.world.ledger).withoutEndedAt).toHaveLength(ended.length)
  })

  test('in the far future has another time that counts, if it is over', () => {
    const { ledger } = worldWith({ far_future: 1 }, 20_000, 'absent').world
    const over = plainEvents(ledger).filter(isFinal)
    expect(over.length).toBeGreaterThan(50)
    expect(over.filter(({ initiatedAt, startedAt, endedAt }) => !(initiatedAt ?? startedAt ?? endedAt))).toEqual([])
  })

  test('with reversed times has no answer delay', () => {
    const { ledger } = worldWith({ times_reversed: 1 }).world
    const series = seriesOf(ledger)
    const names = [...series.keys()].join()
    expect(names).toContain('callwatch_call_duration_seconds_count')
    expect(names).not.toContain('answer_delay')
  })

  test('with a numeric id has a number on the wire, and its text everywhere else', () => {
    const service = worldWith({ numeric_id: 1 })
    const ids = wires(service).map(({ sessionId }) => sessionId)
    expect(ids.every((id) => typeof id === 'number')).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
    expect(service.world.ledger.every(({ sessionId }) => /^\d+$/.test(sessionId))).toBe(true)
    expect(getCall(service, START + 20_000, String(ids[0])).status).toBe(200)
  })

  test('that has vanished is neither listed nor known to Get Call', () => {
    const service = worldWith({ vanished: 1 })
    const lives = livesIn(service)
    const open = some(lives, (events) => !events.some(isFinal))
    expect(open).toBeGreaterThan(lives.length / 2)
    expect(open).toBeLessThan(lives.length)
    for (const events of lives) expect(events.at(-1)!.event).toBe('vanished')
    expect([wires(service).length, service.world.entries.size]).toEqual([0, 0])
    expect(getCall(service, START + 20_000, lives[0]![0]!.sessionId).status).toBe(404)
  })

  test('that has vanished while it was open has started and is neither finished nor in progress', () => {
    const { ledger } = worldWith({ vanished: 1 }).world
    const series = expectedSeries(ledger, { created: START, baseline: 'skip', now: START + 20_000 })
    const total = (family: string): number =>
      [...series].filter(([name]) => name.startsWith(`${family}{`)).reduce((sum, [, value]) => sum + value, 0)
    const lives = [...Map.groupBy(ledger, ({ sessionId }) => sessionId).values()]
    expect(total('callwatch_calls_started_total')).toBe(lives.length)
    expect(total('callwatch_calls_total')).toBe(some(lives, (events) => events.some(isFinal)))
    expect(total('callwatch_calls_in_progress')).toBe(0)
  })

  test('that has vanished for a while returns with what happened to it meanwhile', () => {
    const service = worldWith({ vanished_for_a_while: 1 })
    const lives = livesIn(service)
    for (const events of lives) {
      const names = events.map(({ event }) => event)
      const vanished = names.indexOf('vanished')
      expect(names.indexOf('returned')).toBe(vanished + 1)
      expect(isFinal(events.at(-1)!)).toBe(true)
    }
    expect(
      some(lives, (events) => named(events, 'returned').some((event) => event === events.find(isFinal))),
    ).toBeGreaterThan(5)
    const listed = wires(service).map(({ initiatedAt }) => Number(initiatedAt))
    expect(listed).toHaveLength(lives.length)
    expect(listed).toEqual(listed.toSorted((a, b) => a - b))
  })

  test('that has vanished for a while is neither listed nor known meanwhile', () => {
    const service = worldWith({ vanished_for_a_while: 1 }, 0)
    setSwitches(service, { arrivals: true })
    let missed = 0
    for (let at = START; at < START + 900; at += 10) {
      advance(service.world, at, service.switches)
      const listed = new Set(wires(service).map(({ sessionId }) => sessionId))
      for (const events of livesIn(service)) {
        const { sessionId, event } = events.at(-1)!
        if (event === 'vanished') missed++
        expect(listed.has(sessionId)).toBe(event !== 'vanished')
      }
    }
    expect(missed).toBeGreaterThan(50)
  })
})

describe('a simulated call', () => {
  test('that somebody joined again has an entry for each time, and the same people', () => {
    const again = wires(worldWith({ rejoined: 1 })).filter((wire) => entriesOf(wire).some(isAgain))
    expect(again.length).toBeGreaterThan(50)
    const [lives, plain] = [livesWith({ rejoined: 1 }), livesWith({})]
    expect(lives.map((events) => events.at(-1)!.invited)).toEqual(plain.map((events) => events.at(-1)!.invited))
  })

  test('may lack the state of those who never joined', () => {
    const entries = wires(worldWith({ stateless: 1 })).flatMap(entriesOf)
    const [joined, absent] = [entries.filter(({ isJoined }) => isJoined), entries.filter(({ isJoined }) => !isJoined)]
    expect(absent.length).toBeGreaterThan(50)
    expect(absent.filter((entry) => 'state' in entry)).toEqual([])
    expect(joined.filter((entry) => !('state' in entry))).toEqual([])
  })

  test('without participants has none invited', () => {
    const [lives, plain] = [livesWith({ without_participants: 1 }), livesWith({})]
    expect(some(lives, (events) => events.at(-1)!.invited !== undefined)).toBe(0)
    expect(some(plain, (events) => events.at(-1)!.invited === undefined)).toBe(0)
  })
})

const entriesOf = ({ participants }: { participants?: unknown }) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the world shows it
  participants as Call['participants']

/** Whether an earlier entry is of the same device. */
const isAgain = ({ deviceId }: Call['participants'][number], i: number, entries: Call['participants']) =>
  deviceId !== undefined && entries.findIndex((entry) => entry.deviceId === deviceId) < i

test('a healed world has no further anomalies, and reverts those that are temporary', () => {
  const every = { corrected: 0.5, final_changed: 0.5, vanished: 0.3, vanished_for_a_while: 0.5, labels_changed: 0.5 }
  const service = worldWith({ ...every, unknown_status: 0.5, without_ended_at: 0.5, recorded_late: 0.5 }, 300)
  const before = service.world.ledger.length
  const lastOf = new Map(service.world.ledger.map((event) => [event.sessionId, event]))
  const vanished = [...lastOf.values()].filter(({ event }) => event === 'vanished').length
  const reopened = [...lastOf.values()].filter(({ event, status }) => event === 'final_changed' && status === 'ongoing')
  heal(service)
  advance(service.world, START + 20_000, service.switches)
  const after = service.world.ledger.slice(before)
  for (const name of ['vanished', 'corrected', 'relabelled', 'paused', 'dated', 'recorded'])
    expect(named(after, name)).toEqual([])
  expect(after.length).toBeGreaterThan(15)
  expect(named(after, 'returned').length).toBeGreaterThan(0)
  expect(named(after, 'returned').length).toBeLessThan(vanished)
  expect(reopened.length).toBeGreaterThan(0)
  const changed = named(after, 'final_changed').map(({ sessionId }) => sessionId)
  expect(changed).toEqual(expect.arrayContaining(reopened.map(({ sessionId }) => sessionId)))
  for (const event of named(after, 'final_changed')) expect(isFinal(event)).toBe(true)
})
