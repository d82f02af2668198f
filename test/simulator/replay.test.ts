import { describe, expect, test } from 'vitest'

import { createService } from '../../src/simulator/create-service.ts'
import type { RecordedResponse } from '../../src/simulator/responses.ts'
import type { Series } from '../../src/simulator/series.ts'
import { answer } from '../../src/simulator/service.ts'
import { truth } from '../../src/simulator/truth.ts'
import { observedFamilies, replay } from '../system/truth/replay.ts'
import type { ReplayOptions } from '../system/truth/replay.ts'

const CREATED = 1_800_000_000

type Item = Record<string, unknown>

function call(sessionId: string, status: string, more: Item = {}): Item {
  const labels = { type: 'audio', mode: 'call', receiverType: 'user' }
  return { sessionId, status, ...labels, initiatedAt: CREATED + 1, ...more }
}

function response(path: string, status: number, body: unknown, more: Partial<RecordedResponse> = {}): RecordedResponse {
  const date = new Date((CREATED + 60) * 1000).toUTCString()
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { at: CREATED + 60, method: 'GET', path: `/v3${path}`, status, date, body: text, delivered: true, ...more }
}

function list(items: unknown[], total = items.length, page = 1): RecordedResponse {
  return response(`/calls?page=${page}&perPage=100`, 200, { data: items, meta: { pagination: { total } } })
}

const get = (item: Item): RecordedResponse => response(`/calls/${String(item['sessionId'])}`, 200, { data: item })
const notFound = (id: string): RecordedResponse =>
  response(`/calls/${id}`, 404, { error: { code: 'ERR_CALL_SESSION_NOT_FOUND', message: 'no' } })

const timeless = (id: string): Item => ({ sessionId: id, status: 'ended' })

const audio = (status: string, minutes: unknown): RecordedResponse =>
  list([call('a', status, { totalAudioMinutes: minutes })])

/** A video call of which only durations are given. */
function only(duration: number): RecordedResponse {
  const participants = [{ totalDuration: duration }, { totalDurationInMinutes: duration }]
  return list([call('a', 'ended', { type: 'video', totalDurationInMinutes: duration, participants })])
}

/** The series without `callwatch_` and the families' common endings, so that they can be read. */
function replayed(responses: RecordedResponse[], options: Partial<ReplayOptions> = {}): Record<string, number> {
  const series = replay(responses, { created: CREATED, baseline: 'skip', ...options })
  return Object.fromEntries([...series].map(([name, value]) => [short(name), value]))
}

function short(name: string): string {
  const [, metric, labels = ''] = /^callwatch_(\w+?)_total(?:\{(.*)\})?$/.exec(name)!
  const { from, to, observed, ...rest } = Object.fromEntries(
    [...labels.matchAll(/(\w+)="(.*?)"/g)].map(([, label, value]) => [label!, value!]),
  )
  if (metric === 'call_transitions') return `${from} → ${to}${observed === 'true' ? '' : ' (inferred)'}`
  return [metric, ...Object.values(rest)].join(' ')
}

describe('transitions', () => {
  test.each([
    ['initiated', 'call', { 'none → initiated': 1 }],
    ['ongoing', 'call', { 'none → initiated (inferred)': 1, 'initiated → ongoing (inferred)': 1 }],
    ['ongoing', 'meet', { 'none → ongoing': 1 }],
    ['ended', 'meet', { 'none → ongoing (inferred)': 1, 'ongoing → ended (inferred)': 1 }],
    [
      'ended',
      'call',
      { 'none → initiated (inferred)': 1, 'initiated → ongoing (inferred)': 1, 'ongoing → ended (inferred)': 1 },
    ],
    ['rejected', 'call', { 'none → initiated (inferred)': 1, 'initiated → rejected (inferred)': 1 }],
    ['BUSY', 'presenter', { 'none → initiated (inferred)': 1, 'initiated → rejected (inferred)': 1 }],
    ['paused', 'call', { 'none → other (inferred)': 1, 'call_anomalies unknown_status': 1 }],
  ])('of a call first seen %s in mode %s', (status, mode, expected) => {
    expect(replayed([list([call('a', status, { mode })])])).toEqual(expected)
  })

  test.each([
    ['initiated', 'ongoing', { 'initiated → ongoing': 1 }],
    ['initiated', 'ended', { 'initiated → ongoing (inferred)': 1, 'ongoing → ended (inferred)': 1 }],
    ['initiated', 'unanswered', { 'initiated → unanswered': 1 }],
    ['ongoing', 'ongoing', {}],
    ['ongoing', 'initiated', { 'ongoing → initiated': 1 }],
    ['ongoing', 'rejected', { 'ongoing → rejected': 1 }],
    ['ended', 'ongoing', { 'ended → ongoing': 1, 'call_anomalies final_changed': 1 }],
    ['ended', 'rejected', { 'ended → rejected': 1, 'call_anomalies final_changed': 1 }],
    ['initiated', 'paused', { 'initiated → other': 1, 'call_anomalies unknown_status': 1 }],
    ['paused', 'ended', { 'other → ended': 1 }],
  ])('of a call that is %s and then %s', (from, to, expected) => {
    const first = list([call('a', from)])
    const before = replayed([first])
    const after = replayed([first, list([call('a', to)])])
    const added = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)] as const)
    expect(Object.fromEntries(added.filter(([, value]) => value > 0))).toEqual(expected)
  })

  test('are seen by Get Call as well, wrapped or bare', () => {
    const wrapped = [list([call('a', 'initiated')]), list([]), get(call('a', 'ongoing'))]
    expect(replayed(wrapped)).toEqual({ 'none → initiated': 1, 'initiated → ongoing': 1 })
    const bare = response('/calls/a', 200, call('a', 'ongoing'))
    expect(replayed([...wrapped.slice(0, 2), bare])).toEqual(replayed(wrapped))
  })
})

describe('an answer says nothing', () => {
  test.each([
    ['that did not arrive whole', { ...list([call('a', 'initiated')]), delivered: false }],
    [
      'that is an error',
      response('/calls?page=1', 200, { error: { code: 'ERR' }, data: [call('a', 'initiated')] }, { status: 500 }),
    ],
    ['that is no JSON', response('/calls?page=1', 200, '<html>')],
    ['to another user', { ...list([call('a', 'initiated')]), onBehalfOf: 'someone' }],
    ['that created a token', { ...list([call('a', 'initiated')]), method: 'POST' }],
  ])('%s', (_which, answered) => {
    expect(replayed([answered])).toEqual({})
  })
})

describe('the baseline', () => {
  const before = call('a', 'ended', { initiatedAt: CREATED - 50, endedAt: CREATED - 1 })

  test('is remembered and counts nowhere', () => {
    const changed = { ...before, status: 'rejected', totalAudioMinutes: -1 }
    expect(replayed([list([before]), list([changed])])).toEqual({})
    expect(replayed([list([before])], { baseline: 'count' })).toMatchObject({ 'ongoing → ended (inferred)': 1 })
  })

  test('ends with the second of the creation', () => {
    const within = { ...before, endedAt: CREATED }
    expect(replayed([list([within])], { created: CREATED + 0.9 })).toMatchObject({ 'ongoing → ended (inferred)': 1 })
  })

  test('holds calls without times that are seen before the first look ends', () => {
    const firstLook = [list([timeless('a')], 2), list([timeless('b')], 2, 2)]
    expect(replayed(firstLook)).toEqual({})
    expect(replayed([...firstLook, list([timeless('c')])])).toMatchObject({ 'ongoing → ended (inferred)': 1 })
  })

  test('holds no call that was seen open', () => {
    const open = call('a', 'ongoing', { initiatedAt: CREATED - 1000 })
    expect(replayed([list([open])])).toMatchObject({ 'initiated → ongoing (inferred)': 1 })
  })
})

test('a final call from before the horizon is ignored, an open one is not', () => {
  const old = { initiatedAt: CREATED - 90_000, endedAt: CREATED - 89_000 }
  expect(replayed([list([call('a', 'ended', old)])], { baseline: 'count' })).toEqual({})
  expect(replayed([list([call('a', 'initiated', old)])], { baseline: 'count' })).toEqual({ 'none → initiated': 1 })
})

describe('a call that is not found', () => {
  const seen = list([call('a', 'ongoing')])
  const lost = { 'ongoing → lost': 1, calls_lost: 1 }

  test('in two cycles is lost, once', () => {
    const cycle = [list([]), notFound('a')]
    expect(replayed([seen, ...cycle])).not.toMatchObject(lost)
    expect(replayed([seen, ...cycle, ...cycle])).toMatchObject(lost)
    expect(replayed([seen, ...cycle, ...cycle, ...cycle, ...cycle])).toMatchObject(lost)
  })

  test('twice in one cycle is not lost', () => {
    expect(replayed([seen, list([]), notFound('a'), notFound('a')])).not.toHaveProperty('calls_lost')
  })

  test('and listed in between is not lost', () => {
    expect(replayed([seen, list([]), notFound('a'), seen, list([]), notFound('a')])).not.toHaveProperty('calls_lost')
  })

  test('is never lost once it is over', () => {
    const over = list([call('a', 'ended')])
    expect(replayed([over, list([]), notFound('a'), list([]), notFound('a')])).not.toHaveProperty('calls_lost')
  })

  test('reappears, open or final, without steps in between', () => {
    const gone = [seen, list([]), notFound('a'), list([]), notFound('a')]
    const back = { ...lost, calls_reappeared: 1 }
    expect(replayed([...gone, seen])).toMatchObject({ ...back, 'lost → ongoing': 1 })
    const ended = replayed([...gone, list([call('a', 'ended')])])
    expect(ended).toMatchObject({ ...back, 'lost → ended': 1 })
    expect(ended).not.toHaveProperty('call_anomalies final_changed')
  })

  test('among too many others is believed only where a listed call is found', () => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    const open = list(ids.map((id) => call(id, 'ongoing')))
    const listed = call('z', 'ongoing')
    const cycle = [list([listed]), ...ids.map(notFound)]
    const control = get(listed)
    expect(replayed([open, ...cycle, ...cycle])).not.toHaveProperty('calls_lost')
    expect(replayed([open, ...cycle, notFound('z'), ...cycle, notFound('z')])).not.toHaveProperty('calls_lost')
    expect(replayed([open, ...cycle, control, ...cycle, control])).toMatchObject({ calls_lost: 5 })
  })
})

describe('minutes', () => {
  test('that fall while the call is open are no correction', () => {
    expect(replayed([audio('ongoing', 5), audio('ongoing', 3)])).not.toHaveProperty('minutes_corrections call audio')
  })

  test('that fall once it is over, or by which it ends lower, are corrections', () => {
    const down = replayed([
      audio('ongoing', 5),
      audio('ended', 4.5),
      audio('ended', 4.5),
      audio('ended', 6),
      audio('ended', 5.75),
    ])
    expect(down).toMatchObject({ 'minutes_corrections call audio': 0.75 })
  })

  test('that are missing or bad change nothing', () => {
    const results = replayed([
      audio('ended', 5),
      audio('ended', null),
      audio('ended', -2),
      audio('ended', '1e99'),
      audio('ended', 5),
    ])
    expect(results).not.toHaveProperty('minutes_corrections call audio')
    expect(results).toMatchObject({ 'call_anomalies bad_value': 1 })
  })

  test('of participants are the sum over the entries, and no array is no information', () => {
    const withEntries = (minutes: number[]): RecordedResponse =>
      list([call('a', 'ended', { participants: minutes.map((totalVideoMinutes) => ({ totalVideoMinutes })) })])
    const results = replayed([withEntries([2, 3]), list([call('a', 'ended')]), withEntries([2, 2.5])])
    expect(results).toMatchObject({ 'minutes_corrections participant video': 0.5 })
  })

  test('given only as a duration go to the medium of the type', () => {
    expect(replayed([only(3), only(2)])).toMatchObject({
      'minutes_corrections call video': 1,
      'minutes_corrections participant video': 2,
    })
  })
})

describe('an anomaly', () => {
  test.each([
    ['bad_value', { totalVideoMinutes: 'many' }],
    ['bad_value', { startedAt: -1 }],
    ['time_reversed', { startedAt: CREATED + 20, endedAt: CREATED + 10 }],
    ['too_many_participants', { totalParticipants: '51' }],
  ])('%s is counted once a call: %j', (kind, odd) => {
    const odder = list([call('a', 'ongoing', odd), call('b', 'ongoing')])
    expect(replayed([odder, odder])).toMatchObject({ [`call_anomalies ${kind}`]: 1 })
  })

  test('is none where a time is in milliseconds or a number is a text', () => {
    const fine = { startedAt: (CREATED + 5) * 1000, endedAt: String(CREATED + 9), totalAudioMinutes: '2.5' }
    const results = replayed([list([call('a', 'ended', fine)])])
    expect(Object.keys(results).filter((name) => name.startsWith('call_anomalies'))).toEqual([])
  })

  test('final_changed is for other statuses as well, which are final with an end and open without', () => {
    const paused = (end: Item): RecordedResponse => list([call('a', 'paused', end)])
    const ended = list([call('a', 'ended')])
    expect(replayed([paused({ endedAt: CREATED + 9 }), ended])).toMatchObject({ 'call_anomalies final_changed': 1 })
    expect(replayed([paused({}), ended])).not.toHaveProperty('call_anomalies final_changed')
  })

  test('labels_changed is for values that change, not for values that are missing', () => {
    const first = list([call('a', 'ongoing')])
    expect(replayed([first, list([call('a', 'ongoing', { type: undefined })])])).not.toHaveProperty(
      'call_anomalies labels_changed',
    )
    expect(replayed([first, list([call('a', 'ongoing', { type: 'video' })])])).toMatchObject({
      'call_anomalies labels_changed': 1,
    })
  })
})

test('items that cannot be used are counted by reason, every time', () => {
  const page = list([
    1,
    null,
    [],
    { status: 'ended' },
    { sessionId: 'a' },
    { sessionId: 'a', status: 3 },
    call('b', 'initiated'),
  ])
  expect(replayed([page, page])).toEqual({
    'none → initiated': 1,
    'calls_rejected not_an_object': 6,
    'calls_rejected no_session_id': 2,
    'calls_rejected no_status': 4,
  })
})

test('whatever the times of the polls, as many calls reach each final status as in the truth', () => {
  for (const interval of [2.5, 10, 40]) {
    const service = createService({ seed: interval, speed: 20, callsPerMinute: 60, history: 20 }, CREATED)
    const poll = (at: number): void => {
      for (let page = 1, pages = 1; page <= pages; page++) {
        const query = `page=${page}&perPage=40`
        const request = { method: 'GET', path: '/v3/calls', query, headers: { apikey: service.keys.fullAccess } }
        pages = JSON.parse(answer(service, request, at).reply.body).meta.pagination.total_pages
      }
    }
    for (let at = CREATED; at < CREATED + 120; at += interval) poll(at)
    service.switches = { ...service.switches, arrivals: false }
    poll(CREATED + 7200)
    const observed = replay(service.recorder.responses, { created: CREATED, baseline: 'skip' })
    const exact = truth(service.world.ledger, { created: CREATED, baseline: 'skip', now: CREATED + 7200 })
    for (const status of ['ended', 'unanswered', 'rejected', 'canceled']) {
      const reached = sum(observed, 'callwatch_call_transitions_total', `to="${status}"`)
      expect(reached).toBeGreaterThan(0)
      expect(reached).toBe(sum(exact, 'callwatch_calls_total', `status="${status}"`))
    }
    const begun = sum(observed, 'callwatch_call_transitions_total', 'from="none"')
    expect(begun).toBe(sum(exact, 'callwatch_calls_started_total', ''))
    expect([...observed.keys()].every((name) => observedFamilies.includes(name.split('{')[0]!))).toBe(true)
    expect([...observed.keys()].every((name) => name.startsWith('callwatch_call_transitions_total'))).toBe(true)
  }
})

function sum(series: Series, metric: string, label: string): number {
  return [...series]
    .filter(([name]) => name.startsWith(`${metric}{`) && name.includes(label))
    .reduce((total, [, value]) => total + value, 0)
}
