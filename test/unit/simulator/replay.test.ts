import { describe, expect, test } from 'vitest'
import type { RecordedResponse } from '../../../src/simulator/answers/responses.ts'
import { type Series, expectedSeries } from '../../../src/simulator/expected/expected-series.ts'
import { observedFamilies, replay } from '../../kit/replay/replay.ts'
import { list as listOf, serviceOf } from '../../kit/world/request-service.ts'
import { CREATED, call, get, list, notFound, replayed, response, timeless, type Item } from './replayed-answers.ts'

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
  ])('of a call that is %s and then %s, in two polls', (from, to, expected) => {
    const first = list([call('a', from)])
    const before = replayed([first])
    const after = replayed([first, list([call('a', to)]), list([call('a', to)])])
    const added = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)] as const)
    expect(Object.fromEntries(added.filter(([, value]) => value > 0))).toEqual(expected)
  })

  describe('steps back, since a list may be stale,', () => {
    const over = list([call('a', 'ended', { totalAudioMinutes: 5 })])
    const open = list([call('a', 'ongoing', { totalAudioMinutes: 4 })])
    const back = { 'ended → ongoing': 1, 'minutes_corrections call audio': 1 }

    test('are believed from two polls in a row, or from Get Call at once', () => {
      expect(replayed([over, open, open])).toMatchObject(back)
      expect(replayed([over, list([]), get(call('a', 'ongoing', { totalAudioMinutes: 4 }))])).toMatchObject(back)
    })

    test.each([
      ['one poll', [over, open]],
      ['one poll that reads the page twice', [over, open, { ...open, path: '/v3/calls?page=2&perPage=100' }]],
      ['two polls with another one between them', [over, open, list([]), open]],
      ['two polls with a contradiction between them', [over, open, over, open]],
      ['two polls with a contradiction of Get Call between them', [over, open, get(call('a', 'ended')), open]],
    ])('are not believed of %s, and nothing else of that item is', (_which, responses) => {
      const said = replayed(responses)
      expect(said).toMatchObject({ 'ongoing → ended (inferred)': 1 })
      expect(Object.keys(said)).not.toEqual(expect.arrayContaining(['ended → ongoing']))
      expect(said['minutes_corrections call audio']).toBeUndefined()
    })
  })

  test('are seen in Get Call as well, wrapped or bare', () => {
    const wrapped = [list([call('a', 'initiated')]), list([]), get(call('a', 'ongoing'))]
    expect(replayed(wrapped)).toEqual({ 'none → initiated': 1, 'initiated → ongoing': 1 })
    const bare = response('/calls/a', 200, call('a', 'ongoing'))
    expect(replayed([...wrapped.slice(0, 2), bare])).toEqual(replayed(wrapped))
  })
})

describe('a response is ignored', () => {
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

  test('is tracked and not counted', () => {
    const changed = { ...before, status: 'rejected', totalAudioMinutes: -1 }
    expect(replayed([list([before]), list([changed])])).toEqual({})
    expect(replayed([list([before])], { baseline: 'count' })).toMatchObject({ 'ongoing → ended (inferred)': 1 })
  })

  test('ends with the second in which the target was created', () => {
    const within = { ...before, endedAt: CREATED }
    expect(replayed([list([within])], { created: CREATED + 0.9 })).toMatchObject({ 'ongoing → ended (inferred)': 1 })
  })

  test('includes calls without times that are seen before the initial sync ends', () => {
    const initialSync = [list([timeless('a')], 2), list([timeless('b')], 2, 2)]
    expect(replayed(initialSync)).toEqual({})
    expect(replayed([...initialSync, list([timeless('c')])])).toMatchObject({ 'ongoing → ended (inferred)': 1 })
  })

  test('includes no call that was seen open', () => {
    const open = call('a', 'ongoing', { initiatedAt: CREATED - 1000 })
    expect(replayed([list([open])])).toMatchObject({ 'initiated → ongoing (inferred)': 1 })
  })
})

test('the replay excludes a final call from before the horizon, but not an open one', () => {
  const old = { initiatedAt: CREATED - 90_000, endedAt: CREATED - 89_000 }
  expect(replayed([list([call('a', 'ended', old)])], { baseline: 'count' })).toEqual({})
  expect(replayed([list([call('a', 'initiated', old)])], { baseline: 'count' })).toEqual({ 'none → initiated': 1 })
})

describe('the horizon', () => {
  const HOUR = 3600
  const at = (hours: number, page: RecordedResponse): RecordedResponse => {
    const time = CREATED + hours * HOUR
    return { ...page, at: time, date: new Date(time * 1000).toUTCString() }
  }
  const ended = (hours: number): Item => ({ initiatedAt: CREATED, endedAt: CREATED + hours * HOUR })
  const once = { 'ongoing → ended (inferred)': 1 }

  test('evicts a call only after both its own time and the moment at which its end was seen', () => {
    // Final without an end until it is filled in late: known from 20 h on, its own time long past.
    const over = list([call('a', 'ended', { initiatedAt: CREATED })])
    const filledIn = list([call('a', 'ended', ended(19))])
    expect(replayed([at(20, over), at(43, list([])), at(43, filledIn)])).toEqual(replayed([at(20, over)]))
    const filledInLater = list([call('a', 'ended', ended(44))])
    expect(replayed([at(20, over), at(45, list([])), at(46, filledInLater)])).toMatchObject({
      'none → initiated (inferred)': 2,
    })
  })

  test('never evicts an open call', () => {
    const open = list([call('a', 'ongoing', { initiatedAt: undefined })])
    const late = list([call('a', 'ended', ended(99))])
    expect(replayed([at(20, open), at(90, list([])), at(100, late)])).toMatchObject({
      'none → initiated (inferred)': 1,
      'ongoing → ended': 1,
    })
  })

  test('is before the start of the last complete poll, not before its end', () => {
    const old = call('a', 'ended', ended(2))
    const page = (hours: number, number: number): RecordedResponse =>
      at(hours, list([call(`page ${number}`, 'initiated')], 2, number))
    // The poll begins at 25 h and ends at 27 h: calls that ended after 1 h still count.
    expect(replayed([page(25, 1), page(27, 2), at(27, list([old]))])).toMatchObject(once)
    expect(replayed([page(27, 1), page(27, 2), at(27, list([old]))])).not.toMatchObject(once)
  })

  test('uses the clock of the requests if responses have no Date', () => {
    const dateless = { ...list([call('a', 'initiated')]), at: CREATED + 100 * HOUR, date: '' }
    expect(replayed([list([]), dateless, list([call('b', 'ended', ended(1))])])).toEqual({ 'none → initiated': 1 })
  })
})

describe('nothing is counted before the service’s clock is settled', () => {
  const dated = (seconds: number, answered: RecordedResponse): RecordedResponse => ({
    ...answered,
    date: new Date((CREATED + 60 + seconds) * 1000).toUTCString(),
  })
  const undated = (answered: RecordedResponse): RecordedResponse => ({ ...answered, date: '' })
  const ringing = list([call('a', 'initiated')])
  const ongoing = list([call('a', 'ongoing'), {}])
  const times = (count: number, answered: RecordedResponse): RecordedResponse[] => Array(count).fill(answered)
  const counted = {
    'none → initiated (inferred)': 1,
    'initiated → ongoing (inferred)': 1,
    'invalid_items no_session_id': 1,
  }

  test('which takes five pages without a Date; other responses do not count', () => {
    const failed = response('/calls?page=1', 500, { error: { code: 'ERR' } }, { date: '' })
    expect(replayed([...times(4, undated(ringing)), failed])).toEqual({})
    expect(replayed([...times(4, undated(ringing)), failed, undated(ongoing)])).toEqual(counted)
  })

  test('which takes one response that agrees with the host', () => {
    expect(replayed([undated(ringing), dated(7, ringing), dated(5, ongoing)])).toEqual(counted)
  })

  test('which takes five responses in a row that agree with each other, but not with the host', () => {
    const hour = [0, 4, -4, 9, 2].map((seconds) => dated(3600 + seconds, ringing))
    expect(replayed(hour)).toEqual({})
    expect(replayed([...times(4, dated(3600, ringing)), dated(3604, ongoing)])).toEqual(counted)
  })

  test('which takes twenty responses if none agree', () => {
    const apart = Array.from({ length: 19 }, (_none, index) => dated(100 * (index + 1), ringing))
    expect(replayed(apart)).toEqual({})
    expect(replayed([...apart, dated(9000, ongoing)])).toEqual(counted)
  })
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

  test('is requested in one cycle or in two according to the given ends of the cycles', () => {
    const answers = [seen, list([]), notFound('a'), list([]), notFound('a')].map((answer, index) => ({
      ...answer,
      at: CREATED + index,
      date: new Date((CREATED + index) * 1000).toUTCString(),
    }))
    expect(replayed(answers, { cycles: [CREATED + 0.5, CREATED + 4] })).not.toHaveProperty('calls_lost')
    expect(replayed(answers, { cycles: [CREATED, CREATED + 2, CREATED + 4] })).toMatchObject(lost)
    expect(replayed(answers, { cycles: [CREATED + 0.5, CREATED + 3.5] })).toMatchObject(lost)
  })

  test('and listed in between is not lost', () => {
    expect(replayed([seen, list([]), notFound('a'), seen, list([]), notFound('a')])).not.toHaveProperty('calls_lost')
  })

  test('is never lost after its end', () => {
    const over = list([call('a', 'ended')])
    expect(replayed([over, list([]), notFound('a'), list([]), notFound('a')])).not.toHaveProperty('calls_lost')
  })

  test('reappears, open or final, without steps in between', () => {
    const twice = [seen, list([]), notFound('a'), list([]), notFound('a')]
    const back = { ...lost, calls_reappeared: 1 }
    expect(replayed([...twice, seen])).toMatchObject({ ...back, 'lost → ongoing': 1 })
    const ended = replayed([...twice, list([call('a', 'ended')])])
    expect(ended).toMatchObject({ ...back, 'lost → ended': 1 })
    expect(ended).not.toHaveProperty('call_anomalies final_changed')
  })

  test('together with too many others is believed only if a listed call is found', () => {
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

test('the replay counts invalid items by reason, every time', () => {
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
    'invalid_items not_an_object': 6,
    'invalid_items no_session_id': 2,
    'invalid_items no_status': 4,
  })
})

test('the replay counts as many calls with each final status as the simulator recorded, whatever the poll interval', () => {
  for (const interval of [2.5, 10, 40]) {
    const options = { seed: interval, speed: 20, callsPerMinute: 60, history: 20, open: 3, mostRecordedResponses: 1000 }
    const service = serviceOf(options)
    const poll = (at: number): void => {
      for (let page = 1, pages = 1; page <= pages; page++)
        pages = listOf(service, at, `page=${page}&perPage=40`).meta.pagination.total_pages!
    }
    for (let at = CREATED; at < CREATED + 120; at += interval) poll(at)
    service.switches = { ...service.switches, arrivals: false }
    poll(CREATED + 7200)
    const observed = replay(service.recorder.responses, { created: CREATED, baseline: 'count' })
    const exact = expectedSeries(service.world.ledger, { created: CREATED, baseline: 'count', now: CREATED + 7200 })
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
