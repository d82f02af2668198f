import { array, assert, double, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { addBurst, createWorld } from '../../../src/simulator/calls/arrivals.ts'
import type { Call } from '../../../src/simulator/calls/call.ts'
import { ledgerEvent, type LedgerEvent } from '../../../src/simulator/calls/ledger.ts'
import { defaultSwitches } from '../../../src/simulator/switches.ts'
import { advance, type Entry, type World, type WorldOptions } from '../../../src/simulator/calls/world.ts'
import { START } from '../../kit/world/request-service.ts'
import { runs } from '../../kit/runs.ts'

const WEEK = 7 * 86_400

const callsOf = ({ listing }: World): Call[] => listing.map(({ call }) => call)

function worldOf(options: Partial<WorldOptions> = {}): World {
  return createWorld(
    {
      seed: 7,
      speed: 10,
      callsPerMinute: 30,
      answerProbability: 0.7,
      progressSeconds: 15,
      history: 20,
      open: 3,
      ...options,
    },
    START,
  )
}

function advanced(options: Partial<WorldOptions>, seconds: number): World {
  const world = worldOf(options)
  advance(world, START + seconds)
  return world
}

/** Seconds that the calls of a history last in all. */
const lasting = (speed: number): number =>
  callsOf(advanced({ speed, history: 300, open: 0, historySeconds: 1e7, callsPerMinute: 0, progressSeconds: 600 }, 0))
    .map(({ initiatedAt, endedAt = initiatedAt }) => endedAt! - initiatedAt!)
    .reduce((sum, seconds) => sum + seconds, 0)

const isFinal = (call: Call): boolean => !['initiated', 'ongoing'].includes(call.status)

describe('a world', () => {
  test('is the same for the same seed and another for another seed', () => {
    const [one, same, other] = ['a', 'a', 'b'].map((seed) => advanced({ seed }, 300).ledger)
    expect(one!.length).toBeGreaterThan(200)
    expect(same).toEqual(one)
    expect(other).not.toEqual(one)
  })

  test('is the same however often it is advanced', () => {
    assert(
      property(integer(), array(double({ min: 0, max: 120, noNaN: true }), { maxLength: 30 }), (seed, times) => {
        const often = worldOf({ seed })
        addBurst(often, START + 10, { calls: 5, seconds: 20, outcomes: { rejected: 1, canceled: 1 } })
        for (const time of times.toSorted((a, b) => a - b)) advance(often, START + time)
        advance(often, START + 120)
        const once = worldOf({ seed })
        addBurst(once, START + 10, { calls: 5, seconds: 20, outcomes: { rejected: 1, canceled: 1 } })
        advance(once, START + 120)
        expect(often.ledger).toEqual(once.ledger)
        expect(callsOf(often)).toEqual(callsOf(once))
      }),
      { numRuns: runs(20) },
    )
  })

  test('has calls of every type, mode, receiver type and status', () => {
    const { ledger } = advanced({ callsPerMinute: 60 }, 1200)
    const seen = (value: (event: LedgerEvent) => string): string[] => [...new Set(ledger.map(value))].toSorted()
    expect(seen((event) => event.type)).toEqual(['audio', 'video'])
    expect(seen((event) => event.mode)).toEqual(['call', 'meet', 'presenter'])
    expect(seen((event) => event.receiverType)).toEqual(['group', 'user'])
    expect(seen((event) => event.status)).toEqual([
      'canceled',
      'ended',
      'initiated',
      'ongoing',
      'rejected',
      'unanswered',
    ])
    expect(seen((event) => String(event.recorded))).toEqual(['false', 'true'])
  })

  test('begins the same calls at the same times, whatever facts they have', () => {
    const [one, other] = [0.9, 0.1].map((answerProbability) => {
      const calls = callsOf(advanced({ answerProbability }, 60))
      return calls.map(({ sessionId, mode, initiatedAt }) => (mode === 'call' ? initiatedAt : sessionId))
    })
    expect(other!.slice(23)).toEqual(one!.slice(23))
  })

  test('has its history before the start, and calls that are open at the start', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const world = advanced({ seed, history: 40, open: 5, callsPerMinute: 10 }, 0)
      const calls = callsOf(world)
      expect(calls).toHaveLength(45)
      expect(calls.every((call) => call.initiatedAt! <= START)).toBe(true)
      expect(calls.filter((call) => !isFinal(call)).length).toBeGreaterThanOrEqual(5)
    }
  })

  test('spreads its history over the requested time', () => {
    const calls = callsOf(advanced({ history: 1000, historySeconds: 86_400, open: 0 }, 0))
    const oldest = START - calls[0]!.initiatedAt!
    expect(oldest).toBeGreaterThan(0.8 * 86_400)
    expect(oldest).toBeLessThan(1.2 * 86_400)
  })

  describe('with weeks', () => {
    const WEEKS = 2
    const options = {
      weekly: true,
      callsPerMinute: 0.25,
      history: (WEEKS * 7 * 1440) / 4,
      historySeconds: WEEKS * WEEK,
      open: 0,
    }
    const beginnings = (world: World) => callsOf(world).map(({ initiatedAt }) => initiatedAt!)

    test.each([
      ['before the start', 0],
      ['after it', WEEKS],
    ])('has calls by the hour of the day and the day of the week %s', (_when, weeks) => {
      const history = weeks === 0 ? options : { ...options, history: 1, historySeconds: 1 }
      const begun = beginnings(advanced({ ...history, progressSeconds: 1e6 }, weeks * WEEK))
      // Poisson with mean 5040: five standard deviations.
      expect(Math.abs(begun.length - 5040)).toBeLessThan(5 * Math.sqrt(5040))
      const at = (hour: number, days: number[]) =>
        begun.filter((time) => {
          const date = new Date(time * 1000)
          return date.getUTCHours() === hour && days.includes(date.getUTCDay())
        }).length
      const workdays = [1, 2, 3, 4, 5]
      expect(at(10, workdays)).toBeGreaterThan(10 * at(3, workdays))
      expect(at(10, workdays) / 5).toBeGreaterThan(1.7 * (at(10, [0, 6]) / 2))
    })

    test('has its whole history within the requested time', () => {
      const [first] = beginnings(advanced(options, 0))
      expect(START - first!).toBeLessThanOrEqual(WEEKS * WEEK)
      expect(START - first!).toBeGreaterThan(WEEKS * WEEK - 7200)
    })

    test('is the same for the same seed and another for another seed', () => {
      const [one, same, other] = ['a', 'a', 'b'].map(
        (seed) => advanced({ ...options, seed, history: 1000, historySeconds: WEEK }, 600).ledger,
      )
      expect(one!.length).toBeGreaterThan(2000)
      expect(same).toEqual(one)
      expect(other).not.toEqual(one)
    })
  })

  test('brings the figures of calls up to date only where they run after the start', () => {
    const { ledger } = advanced({ history: 200, speed: 1, callsPerMinute: 10 }, 600)
    const calls = Map.groupBy(ledger, ({ call }) => call)
    const updated = [...calls.values()].filter((events) => events.some(({ event }) => event === 'progress'))
    expect(updated.length).toBeGreaterThan(20)
    for (const events of updated) expect(events.at(-1)!.at).toBeGreaterThanOrEqual(START)
  })

  test('begins the requested number of calls a minute, whatever the speed', () => {
    for (const speed of [1, 100]) {
      const world = advanced({ speed, callsPerMinute: 20, history: 0, open: 0, progressSeconds: 600 }, 6000)
      // Poisson with mean 2000: five standard deviations.
      expect(Math.abs(callsOf(world).length - 2000)).toBeLessThan(5 * Math.sqrt(2000))
    }
  })

  test('begins no calls while arrivals are off, and lets the running ones end', () => {
    const world = worldOf()
    advance(world, START + 60)
    const begun = callsOf(world).length
    advance(world, START + 7200, { ...defaultSwitches, arrivals: false })
    expect(callsOf(world)).toHaveLength(begun)
    expect(callsOf(world).every(isFinal)).toBe(true)
    advance(world, START + 7260)
    expect(callsOf(world).length).toBeGreaterThan(begun)
  })

  test('has calls that are shorter by the factor of its speed', () => {
    expect(lasting(1) / lasting(10)).toBeGreaterThan(9.5)
    expect(lasting(1) / lasting(10)).toBeLessThan(10.5)
  })

  test('lets the calls of a burst begin in its seconds and end as it says', () => {
    const world = worldOf({ callsPerMinute: 0, history: 0, open: 0 })
    addBurst(world, START + 5, { calls: 40, seconds: 10, outcomes: { rejected: 3, unanswered: 1 } })
    advance(world, START + 3600)
    const calls = callsOf(world)
    expect(calls).toHaveLength(40)
    expect(calls.every((call) => call.initiatedAt! >= START + 5 && call.initiatedAt! < START + 15)).toBe(true)
    const rejected = calls.filter((call) => call.status === 'rejected').length
    expect(calls.filter((call) => call.status === 'unanswered')).toHaveLength(40 - rejected)
    expect(rejected).toBeGreaterThan(20)
    expect(rejected).toBeLessThan(40)
  })
})

describe('a call', () => {
  const world = worldOf({ seed: 'calls', callsPerMinute: 60, speed: 20, progressSeconds: 40 })
  const served: Pick<Entry, 'callId' | 'call'>[][] = []
  const moments = [...Array.from({ length: 160 }, (_none, index) => START + index * 0.75), START + 3600]
  for (const moment of moments) {
    advance(world, moment, { ...defaultSwitches, arrivals: moment < START + 90 })
    served.push(world.listing.map(({ callId, call }) => ({ callId, call })))
  }
  const lives = Map.groupBy(
    served.flat().map(({ call }) => call),
    (call) => call.sessionId,
  )

  test('is served as its last ledger event says, at every moment', () => {
    for (const [index, calls] of served.entries()) {
      const past = world.ledger.filter((event) => event.at <= moments[index]!)
      const last = new Map(past.map((event) => [event.call, event]))
      const fromWire = calls.map((call) => ledgerEvent(START * 1000, 'progress', call))
      expect(fromWire).toHaveLength(last.size)
      const lasting = [...last.values()].map(({ at: _at, event: _event, ...figures }) => figures)
      expect(new Set(fromWire.map(({ at: _at, event: _event, ...figures }) => JSON.stringify(figures)))).toEqual(
        new Set(lasting.map((figures) => JSON.stringify(figures))),
      )
    }
  })

  test('has minutes that never fall and grow while it runs', () => {
    let grown = 0
    let fallen = 0
    type Minutes = { totalAudioMinutes: number; totalVideoMinutes: number }
    const falls = (before: Minutes, later: Minutes): boolean =>
      later.totalAudioMinutes < before.totalAudioMinutes || later.totalVideoMinutes < before.totalVideoMinutes
    for (const seen of lives.values()) {
      for (const [index, call] of seen.slice(1).entries()) {
        const before = seen[index]!
        if (falls(before, call)) fallen++
        for (const [entry, participant] of before.participants.entries()) {
          const later = call.participants[entry]!
          if (later.uid !== participant.uid || falls(participant, later)) fallen++
        }
        const isOpen = !isFinal(call) && before.totalDurationInMinutes > 0
        if (isOpen && call.totalDurationInMinutes > before.totalDurationInMinutes) grown++
      }
    }
    expect(fallen).toBe(0)
    expect(grown).toBeGreaterThan(20)
  })

  test('does not change after its end', () => {
    for (const seen of lives.values()) {
      const over = seen.filter(isFinal)
      expect(over.length).toBeGreaterThan(0)
      for (const call of over) expect(call).toEqual(over[0])
    }
  })

  test('has no end while it is open', () => {
    const open = [...lives.values()].flat().filter((call) => !isFinal(call))
    expect(open.length).toBeGreaterThan(100)
    for (const call of open) expect(call).not.toHaveProperty('endedAt')
  })

  test('gives no participant more minutes than from joining to leaving', () => {
    const left = callsOf(world).flatMap((call) => call.participants.filter((entry) => entry.leftAt !== undefined))
    expect(left.length).toBeGreaterThan(100)
    for (const { totalDuration, joinedAt, leftAt } of left) {
      const seconds = totalDuration * 60
      expect(Math.abs(leftAt! - joinedAt! - seconds)).toBeLessThan(1.02)
    }
  })

  test('has a beginning, a start and an end where it was answered, and no start where it was not', () => {
    for (const call of callsOf(world)) {
      if (call.status === 'ended') {
        expect(call.startedAt).toBeGreaterThanOrEqual(call.initiatedAt!)
        expect(call.endedAt).toBeGreaterThanOrEqual(call.startedAt!)
      } else {
        expect(call).not.toHaveProperty('startedAt')
        expect(call).not.toHaveProperty('endedAt')
      }
      if (call.mode !== 'call') expect(call.startedAt).toBe(call.initiatedAt!)
    }
  })

  test('has minutes that are the sum of its participants in some calls, and less in others', () => {
    const ended = callsOf(world).filter((call) => call.status === 'ended' && call.totalDurationInMinutes > 0)
    const sums = ended.map((call) => call.participants.reduce((sum, entry) => sum + entry.totalDuration, 0))
    const less = ended.filter((call, index) => call.totalDurationInMinutes < sums[index]! * 0.9)
    expect(less.length).toBeGreaterThan(ended.length / 5)
    expect(less.length).toBeLessThan((ended.length * 4) / 5)
  })

  test('has audio and video minutes that make up its duration', () => {
    for (const call of callsOf(world)) {
      expect(call.totalDurationInMinutes).toBeCloseTo(call.totalAudioMinutes + call.totalVideoMinutes, 6)
      if (call.type === 'audio') expect(call.totalVideoMinutes).toBe(0)
    }
    expect(callsOf(world).some((call) => call.totalVideoMinutes > 0 && call.totalAudioMinutes > 0)).toBe(true)
  })

  test('has at most 50 participants, some on two devices, and counts each device that joined', () => {
    const calls = callsOf(advanced({ history: 2000, historySeconds: 1e6, progressSeconds: 600 }, 0))
    const most = Math.max(...calls.map((call) => call.participants.length))
    expect(most).toBe(50)
    for (const { totalParticipants, participants } of calls)
      expect(totalParticipants).toBe(participants.filter(({ isJoined }) => isJoined).length)
    const doubled = calls.filter(
      ({ participants }) => new Set(participants.map(({ uid }) => uid)).size < participants.length,
    )
    expect(doubled.length).toBeGreaterThan(50)
  })

  test('shows a participant that never joined without device and times', () => {
    const absent = callsOf(world).flatMap((call) => call.participants.filter((entry) => !entry.isJoined))
    expect(absent.length).toBeGreaterThan(10)
    for (const entry of absent) {
      expect(Object.keys(entry)).not.toEqual(expect.arrayContaining(['deviceId']))
      expect(entry).not.toHaveProperty('joinedAt')
      expect(entry).not.toHaveProperty('leftAt')
      expect(entry.totalDuration).toBe(0)
    }
  })
})

test('the ledger of the simulator only grows, in order of time', () => {
  const world = worldOf()
  let before: LedgerEvent[] = []
  for (const second of [0, 1, 30, 31, 300]) {
    advance(world, START + second)
    expect(world.ledger.slice(0, before.length)).toEqual(before)
    expect(world.ledger.length).toBeGreaterThan(before.length)
    before = structuredClone(world.ledger)
    expect(before.map(({ at }) => at)).toEqual(before.map(({ at }) => at).toSorted((a, b) => a - b))
  }
})
