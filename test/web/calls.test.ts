import { describe, expect, test } from 'vitest'
import { labelsOf } from '../../src/ledger/call.ts'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { finish, finishedCall, NOW, openCall } from '../metrics/hand-made-target.ts'
import { serve, shownTarget } from './serve.ts'

const ISO_NOW = '2026-09-21T14:13:20Z'

function inHistory(id: string, secondsAgo: number, differing: Partial<TrackedCall> = {}) {
  return { target: 'production', call: finishedCall(id, { finish: finish('ended', secondsAgo), ...differing }) }
}

async function get(query: string, history: ReturnType<typeof inHistory>[] = [], calls: TrackedCall[] = []) {
  const { url } = await serve([shownTarget({ calls })], { history })
  const response = await fetch(`${url}/api/v1/calls${query}`)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function idsOf(query: string, history: ReturnType<typeof inHistory>[]): Promise<string[]> {
  const { text } = await get(query, history)
  return JSON.parse(text).calls.map(({ session_id }: { session_id: string }) => session_id)
}

describe('/api/v1/calls without finished_since', () => {
  test('lists the calls in progress of all targets in the documented shape', async () => {
    const { url } = await serve([
      shownTarget({ calls: [openCall('v1.us.a'), finishedCall('done')] }),
      shownTarget({ target: 'staging', calls: [openCall('b', { status: 'initiated', joined: undefined })] }),
    ])
    expect(await (await fetch(`${url}/api/v1/calls`)).json()).toEqual({
      calls: [
        {
          target: 'production',
          session_id: 'v1.us.a',
          type: 'audio',
          mode: 'call',
          receiver_type: 'user',
          status: 'ongoing',
          began: '2026-09-21T14:12:50.000Z',
          participants: 2,
          minutes: { audio: 0.5, video: 0 },
        },
        expect.objectContaining({ target: 'staging', session_id: 'b', status: 'initiated', participants: 0 }),
      ],
    })
  })

  test('filters by status', async () => {
    const { text } = await get('?status=initiated', [], [openCall('a'), openCall('b', { status: 'initiated' })])
    expect(JSON.parse(text).calls).toEqual([expect.objectContaining({ session_id: 'b' })])
  })
})

describe('/api/v1/calls with finished_since', () => {
  const history = [inHistory('old', 7200), inHistory('new', 60), inHistory('newest', 10)]

  test.each([
    ['a time in ISO 8601', '2026-09-21T13:13:20Z'],
    ['a time in ISO 8601 with an offset', encodeURIComponent('2026-09-21T15:13:20+02:00')],
    ['a day', '2026-09-21'],
    ['a time in UNIX seconds', String(NOW - 3600)],
    ['a time in UNIX seconds with a fraction', `${NOW - 3600}.5`],
  ])('lists the calls that finished since %s, newest first', async (_form, since) => {
    const expected = since === '2026-09-21' ? ['newest', 'new', 'old'] : ['newest', 'new']
    expect(await idsOf(`?finished_since=${since}`, history)).toEqual(expected)
  })

  test('shows a call as it was counted, although the service changed it afterwards', async () => {
    const { text } = await get(`?finished_since=${NOW - 3600}`, [
      inHistory('a', 10, { status: 'rejected', labels: labelsOf('video', 'call', 'user'), totalParticipants: 4 }),
    ])
    expect(JSON.parse(text).calls).toEqual([
      {
        target: 'production',
        session_id: 'a',
        type: 'audio',
        mode: 'call',
        receiver_type: 'user',
        status: 'ended',
        began: '2026-09-21T14:12:50.000Z',
        finished: '2026-09-21T14:13:10.000Z',
        participants: 4,
        minutes: { audio: 0.5, video: 0 },
      },
    ])
  })

  test('filters by status', async () => {
    const rejected = inHistory('b', 20, { finish: finish('rejected', 20) })
    expect(await idsOf(`?finished_since=${NOW - 3600}&status=rejected`, [inHistory('a', 10), rejected])).toEqual(['b'])
  })

  test('filters by target', async () => {
    const staging = { ...inHistory('b', 20), target: 'staging' }
    expect(await idsOf(`?finished_since=0&target=staging`, [inHistory('a', 10), staging])).toEqual(['b'])
  })

  test('applies the limit after all filters', async () => {
    const rejected = ['b', 'c', 'd'].map((id, i) => inHistory(id, 20 + i, { finish: finish('rejected', 20 + i) }))
    const query = '?finished_since=0&status=rejected&limit=2'
    const { text } = await get(query, [inHistory('a', 10), ...rejected])
    const { calls, truncated } = JSON.parse(text)
    expect([calls.map(({ session_id }: { session_id: string }) => session_id), truncated]).toEqual([['b', 'c'], true])
    const whole = await get(query, [inHistory('a', 10), ...rejected.slice(1)])
    expect(JSON.parse(whole.text)).not.toHaveProperty('truncated')
  })

  test('marks a response that lacks older calls as truncated', async () => {
    const many = Array.from({ length: 10_001 }, (_, i) => inHistory(`call-${i}`, i + 1))
    const json = await get('?finished_since=0', many)
    const { calls, truncated } = JSON.parse(json.text)
    expect([calls.length, calls[0].session_id, truncated]).toEqual([10_000, 'call-0', true])
    const csv = await get('?finished_since=0&format=csv', many)
    expect(csv.headers.get('x-callwatch-truncated')).toBe('true')
    const whole = await get('?finished_since=0', many.slice(1))
    expect(JSON.parse(whole.text)).not.toHaveProperty('truncated')
  })
})

describe('/api/v1/calls as CSV', () => {
  test('has a header line and a line per call', async () => {
    const { headers, text } = await get(`?finished_since=${NOW - 60}&format=csv`, [inHistory('a', 10)])
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(text).toBe(
      'target,session_id,type,mode,receiver_type,status,began,finished,participants,audio_minutes,video_minutes\r\n' +
        'production,a,audio,call,user,ended,2026-09-21T14:12:50.000Z,2026-09-21T14:13:10.000Z,2,0.5,0\r\n',
    )
  })

  test('leaves `finished` empty for a call in progress', async () => {
    const { text } = await get('?format=csv', [], [openCall('a')])
    expect(text).toContain('production,a,audio,call,user,ongoing,2026-09-21T14:12:50.000Z,,2,0.5,0\r\n')
  })

  test.each([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\n=1', `"'\n=1"`],
    ['\r=1', `"'\r=1"`],
    [' =1', "' =1"],
    ['\u00A0=1', "'\u00A0=1"],
    ['\uFEFF=1', "'\uFEFF=1"],
    ['\u200B=1', "'\u200B=1"],
    ['\u202E=1', "'\u202E=1"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['plain-1.=x', 'plain-1.=x'],
  ])('writes the session id %j as %s, which no spreadsheet splits or runs', async (id, written) => {
    const { text } = await get('?format=csv', [], [openCall(id)])
    expect(text).toContain(`\r\nproduction,${written},audio,`)
  })
})

test.each([
  ['?finished_since=yesterday', 'finished_since must be a time: ISO 8601 in UTC like'],
  ['?finished_since=', 'finished_since must be a time'],
  ['?finished_since=-5', 'finished_since must be a time'],
  ['?finished_since=1790000000000', 'UNIX seconds'],
  ['?finished_since=2026-13-01', 'finished_since must be a time'],
  [`?finished_since=${ISO_NOW.slice(0, -1)}`, 'finished_since must be a time: ISO 8601 in UTC'],
  ['?finished_since=call-5', 'finished_since must be a time'],
  ['?status=cancelled', 'status must be one of initiated, ongoing, ended, unanswered, rejected, canceled, other'],
  ['?status=ended&status=rejected', 'status must be one of'],
  ['?format=xml', 'format must be json or csv'],
  [
    '?finished_sinse=0',
    'unknown parameter finished_sinse; the parameters are finished_since, status, target, limit, format, cursor',
  ],
  ['?status=rejected', 'status=rejected is a status of finished calls: add finished_since'],
  ['?limit=0', 'limit must be a whole number from 1 to 99999'],
])('/api/v1/calls%s is refused with a sentence', async (query, sentence) => {
  const { status, text } = await get(query)
  expect(status).toBe(400)
  expect(JSON.parse(text).detail).toContain(sentence)
})
