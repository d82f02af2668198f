import { describe, expect, test } from 'vitest'

import { oddities, oddityNames, type OddityName } from './oddities.ts'
import { random } from '../../../../src/simulator/random.ts'
import { isObject, readCall, type SeenCall, type SeenMinutes } from '../../replay/seen-call.ts'
import { ask, getCall, serviceOf, START } from '../request-service.ts'
import { wires } from '../calls/lives.ts'

type Wire = Record<string, unknown>

const service = serviceOf({ history: 150, open: 20, callsPerMinute: 30, progressSeconds: 60 })
const calls: Wire[] = wires(service)

/** Each call shown in this odd way 10 times, through JSON. */
function shown(name: OddityName, operation: 'list' | 'get' = 'list'): { call: Wire; odd: unknown }[] {
  const context = { random: random(name), operation }
  return calls.flatMap((call) =>
    Array.from({ length: 10 }, () => ({
      call,
      odd: JSON.parse(JSON.stringify(oddities[name](call, context))) as unknown,
    })),
  )
}

const STATUS_MAP = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' }
const read = (item: unknown): SeenCall | string => readCall(item, { now: START, statusMap: STATUS_MAP })
const seen = (item: unknown): SeenCall => {
  const result = read(item)
  if (typeof result === 'string') throw new Error(result)
  return result
}

/** By medium, with the total where it belongs, as semantics.md says of a final call. */
function byMedium({ total, ...known }: SeenMinutes, type: unknown): { audio?: number; video?: number } {
  const own = type === 'video' ? 'video' : 'audio'
  const isOnly = known.audio === undefined && known.video === undefined
  if (total === undefined || (known[own] === undefined && !isOnly)) return known
  return { ...known, [own]: (known[own] ?? 0) + total }
}

describe('a call that is shown oddly', () => {
  test('in milliseconds has the same times', () => {
    for (const { call, odd } of shown('milliseconds')) {
      expect(seen(odd)).toEqual(seen(call))
      expect(odd).toMatchObject({ initiatedAt: Number(call['initiatedAt']) * 1000 })
    }
  })

  test('in another spelling has the same status', () => {
    const spellings = new Set<unknown>()
    for (const { call, odd } of shown('spelling')) {
      expect(seen(odd)).toEqual(seen(call))
      if (isObject(odd)) spellings.add(odd['status'])
    }
    for (const status of ['cancelled', 'MISSED', 'Busy', 'Ended', 'ONGOING']) expect(spellings).toContain(status)
  })

  test('as an invalid item is unreadable, for each of the reasons', () => {
    const reasons = new Set(shown('unusable').map(({ odd }) => read(odd)))
    expect(reasons).toEqual(new Set(['not_an_object', 'no_session_id', 'no_status']))
    expect(new Set(shown('unusable', 'get').map(({ odd }) => read(odd)))).toEqual(new Set(['no_status']))
  })

  test('with odd fields is the same call, with the right figures or none', () => {
    for (const { call, odd } of shown('fields')) {
      const [right, oddly] = [seen(call), seen(odd)]
      for (const name of ['id', 'status', 'final', 'labels'] as const) expect(oddly[name]).toEqual(right[name])
      expect({ ...(isObject(odd) && odd) }['endedAt']).toBe(call['endedAt'])
      if (call['endedAt'] !== undefined) expect(oddly.ownTime).toBe(right.ownTime)
      for (const level of ['callMinutes', 'participantMinutes'] as const) {
        const rightly = byMedium(right[level], call['type'])
        for (const [medium, value] of Object.entries(byMedium(oddly[level], call['type']))) {
          expect(value).toBeCloseTo({ ...rightly }[medium] ?? NaN, 3)
        }
      }
    }
  })

  test('with odd fields has numbers as texts, objects, lists, booleans and nothing at all', () => {
    const kinds = new Set<string>()
    for (const { call, odd } of shown('fields')) {
      if (!isObject(odd)) continue
      for (const name of Object.keys(call)) {
        const value = odd[name]
        if (JSON.stringify(value) !== JSON.stringify(call[name])) kinds.add(`${name} ${kindOf(value)}`)
      }
    }
    for (const kind of ['string', 'object', 'array', 'boolean', 'null', 'undefined']) {
      expect(kinds).toContain(`totalAudioMinutes ${kind}`)
      expect(kinds).toContain(`startedAt ${kind}`)
      expect(kinds).toContain(`participants ${kind}`.replace('undefined', 'array'))
    }
    for (const name of ['sessionId', 'status', 'type', 'mode', 'receiverType', 'endedAt']) {
      expect([...kinds].filter((kind) => kind.startsWith(`${name} `))).toEqual([])
    }
  })

  test('is odd in that one response only, in lists and in Get Call', () => {
    const id = String(calls.at(-1)!['sessionId'])
    const listed = () => ask(service, START).body
    const got = () => getCall(service, START, id).body
    const before = [listed(), got()]
    service.switches = { ...service.switches, odd: { spelling: 0.5, milliseconds: 0.5, fields: 0.5, unusable: 0.5 } }
    const oddly = [listed(), listed(), got(), got()]
    expect(new Set([...oddly, ...before]).size).toBeGreaterThan(4)
    for (const name of oddityNames) expect(service.state.reached.get(`odd.${name}`)).toBeGreaterThan(10)
    service.switches = { ...service.switches, odd: {} }
    expect([listed(), got()]).toEqual(before)
  })
})

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
