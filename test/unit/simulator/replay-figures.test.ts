import { describe, expect, test } from 'vitest'

import type { RecordedResponse } from '../../../src/simulator/answers/responses.ts'
import { CREATED, audio, call, list, only, replayed, type Item } from './replayed-answers.ts'

describe('minutes', () => {
  test('that fall while the call is open are not corrections', () => {
    expect(replayed([audio('ongoing', 5), audio('ongoing', 3)])).not.toHaveProperty('minutes_corrections call audio')
  })

  test('that fall after its end, or with its end, are corrections', () => {
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

  test('given only as a duration count for the medium of its type', () => {
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
    ['bad_value', { startedAt: CREATED * 1e6 }],
    ['bad_value', { participants: [{ leftAt: 60 }] }],
    ['bad_value', { totalParticipants: 1.5 }],
    ['time_reversed', { startedAt: CREATED + 20, endedAt: CREATED + 10 }],
    ['too_many_participants', { totalParticipants: '51' }],
  ])('%s is counted once a call: %j', (kind, odd) => {
    const odder = list([call('a', 'ongoing', odd), call('b', 'ongoing')])
    expect(replayed([odder, odder])).toMatchObject({ [`call_anomalies ${kind}`]: 1 })
  })

  test('is not counted for a time in milliseconds or a number as a text', () => {
    const fine = { startedAt: (CREATED + 5) * 1000, endedAt: String(CREATED + 9), totalAudioMinutes: '2.5' }
    const results = replayed([list([call('a', 'ended', fine)])])
    expect(Object.keys(results).filter((name) => name.startsWith('call_anomalies'))).toEqual([])
  })

  test('final_changed includes undocumented statuses, which are final with an endedAt and open without', () => {
    const paused = (end: Item): RecordedResponse => list([call('a', 'paused', end)])
    const ended = list([call('a', 'ended')])
    expect(replayed([paused({ endedAt: CREATED + 9 }), ended])).toMatchObject({ 'call_anomalies final_changed': 1 })
    expect(replayed([paused({}), ended])).not.toHaveProperty('call_anomalies final_changed')
  })

  test('labels_changed counts values that change, not values that are missing', () => {
    const first = list([call('a', 'ongoing')])
    expect(replayed([first, list([call('a', 'ongoing', { type: undefined })])])).not.toHaveProperty(
      'call_anomalies labels_changed',
    )
    expect(replayed([first, list([call('a', 'ongoing', { type: 'video' })])])).toMatchObject({
      'call_anomalies labels_changed': 1,
    })
  })
})
