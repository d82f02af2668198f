import { expect, test } from 'vitest'

import { answer } from '../../../../src/simulator/answers/answer.ts'
import type { Call } from '../../../../src/simulator/calls/call.ts'
import { serviceOf, START } from '../request-service.ts'

const service = serviceOf({ history: 260, historySeconds: 40_000, open: 3 })
const all = callsOf('')
const someone = all[0]!.participants[1]!.uid
const group = all.find(({ receiverType }) => receiverType === 'group')!.receiver

function ask(path: string, onbehalfof?: string) {
  const [name = '', query = ''] = path.split('?')
  const headers = { apikey: service.keys.fullAccess, onbehalfof }
  return answer(service, { method: 'GET', path: `/v3${name}`, query, headers }, START).reply
}

function callsOf(query: string, onBehalfOf?: string): Call[] {
  return JSON.parse(ask(`/calls?perPage=1000&${query}`, onBehalfOf).body).data
}

const takesPart = (call: Call) => call.participants.some(({ uid }) => uid === someone)

test.each<[string, (call: Call) => boolean]>([
  ['type=video', (call) => call.type === 'video'],
  ['mode=presenter', (call) => call.mode === 'presenter'],
  ['status=rejected', (call) => call.status === 'rejected'],
  ['receiverType=group', (call) => call.receiverType === 'group'],
  [`startedAt=${START - 20_000}`, (call) => (call.startedAt ?? 0) >= START - 20_000],
  [`endedAt=${START - 20_000}`, (call) => (call.endedAt ?? 0) >= START - 20_000],
  ['hasRecording=true', (call) => call.hasRecording],
  ['participantsCount=2', (call) => call.totalParticipants === 2],
  ['type=audio&status=ended', (call) => call.type === 'audio' && call.status === 'ended'],
  [`uid=${someone}`, takesPart],
  [`guid=${group}`, ({ receiver }) => receiver === group],
  [`uid=${someone}&status=ended`, (call) => takesPart(call) && call.status === 'ended'],
])('List Calls filters by %s', (query, passes) => {
  const expected = all.filter(passes)
  expect(expected.length).toBeGreaterThan(0)
  expect(expected.length).toBeLessThan(263)
  expect(callsOf(query)).toEqual(expected)
})

test.each(['ignored', 'refused'] as const)(
  'where filters by user and group are %s, nothing is filtered',
  (peopleFilters) => {
    const other = serviceOf({ history: 20, historySeconds: 4000, switches: { peopleFilters } })
    const counts = ['', `uid=${someone}`, `guid=${group}`].map((query) => {
      const headers = { apikey: other.keys.fullAccess }
      const { reply } = answer(other, { method: 'GET', path: '/v3/calls', query, headers }, START)
      return reply.status === 200 ? JSON.parse(reply.body).data.length : reply.status
    })
    expect(counts).toEqual(peopleFilters === 'ignored' ? [20, 20, 20] : [20, 400, 400])
  },
)

test('on behalf of a user List Calls gives only the calls of this user', () => {
  const expected = all.filter(takesPart)
  expect(callsOf('', someone)).toEqual(expected)
  const { pagination } = JSON.parse(ask('/calls', someone).body).meta
  expect(pagination.total).toBe(expected.length)
})

test('on behalf of a user Get Call does not know the calls of others', () => {
  const path = `/calls/${encodeURIComponent(all[0]!.sessionId)}`
  expect([ask(path, someone).status, ask(path, 'nobody').status]).toEqual([200, 404])
})
