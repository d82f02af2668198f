import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { labelsOf } from '../../../src/ledger/call.ts'
import { MARK, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { finish, finishedCall, NOW, openCall } from '../../kit/metrics/hand-made-target.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const ISO_NOW = '2026-09-21T14:13:20Z'

function inHistory(id: string, secondsAgo: number, differing: Partial<TrackedCall> = {}) {
  return { target: 'production', call: finishedCall(id, { finish: finish('ended', secondsAgo), ...differing }) }
}

async function jsonOf(url: string) {
  return JSON.parse(await (await fetch(url)).text())
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

describe('/api/v1/calls without since', () => {
  test('lists the calls in progress of all targets in the documented shape', async () => {
    const { url } = await serve([
      shownTarget({ calls: [openCall('v1.us.a'), finishedCall('done')] }),
      shownTarget({ target: 'staging', calls: [openCall('b', { status: 'initiated', joined: undefined })] }),
    ])
    expect(await (await fetch(`${url}/api/v1/calls`)).json()).toEqual({
      calls: [
        {
          target: 'production',
          call_id: 'v1.us.a',
          session_id: 'v1.us.a',
          type: 'audio',
          mode: 'call',
          receiver_type: 'user',
          status: 'ongoing',
          began: '2026-09-21T14:12:50.000Z',
          participants: 2,
          minutes: { audio: 0.5, video: 0 },
          participant_minutes: { audio: 0.75, video: 0 },
          has_recording: false,
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

test('/api/v1/calls in progress are selected by how the session id begins, not by the call id', async () => {
  const calls = [openCall('cw:1', { session: 'room' }), openCall('cw:2', { session: 'hall' }), openCall('room 7')]
  const { text } = await get('?session_id=room', [], calls)
  expect(JSON.parse(text).calls).toMatchObject([
    { call_id: 'cw:1', session_id: 'room' },
    { call_id: 'room 7', session_id: 'room 7' },
  ])
  expect(JSON.parse((await get('?session_id=cw', [], calls)).text).calls).toEqual([])
})

test.each([
  ['room', 'v1.eu.app.room'],
  ['v1.eu.app.room', 'room'],
])('/api/v1/calls finds the session %s, which the list shows as %s', async (asked, id) => {
  const { text } = await get(`?session_id=${asked}`, [], [openCall(id), openCall('hall')])
  expect(JSON.parse(text).calls).toMatchObject([{ call_id: id }])
})

describe('/api/v1/calls with a session id and without since', () => {
  const history = [
    inHistory('room', 7200),
    inHistory('cw:1', 60, { session: 'room', finish: finish('rejected', 60) }),
    inHistory('hall', 10),
  ]
  const open = [openCall('cw:2', { session: 'room' }), openCall('cw:3', { session: 'room', status: 'initiated' })]
  const list = async (query: string) => {
    const { calls, next } = JSON.parse((await get(`?session_id=room${query}`, history, open)).text)
    return { ids: calls.map(({ call_id }: { call_id: string }) => call_id), next }
  }

  test.each([
    ['', ['cw:2', 'cw:3', 'cw:1', 'room']],
    ['&format=json&status=ongoing,rejected', ['cw:2', 'cw:1']],
    ['&status=initiated,ongoing', ['cw:2', 'cw:3']],
    ['&status=rejected', ['cw:1']],
    ['&longer_than=0s', ['cw:2', 'cw:3']],
    ['&since=1h', ['cw:1']],
  ])('lists the calls in progress, then the finished ones, that %j selects', async (query, ids) => {
    expect(await list(query)).toEqual({ ids, next: undefined })
  })

  test.each([1, 2, 3])('has each call on one page of %i', async (limit) => {
    const found: string[] = []
    for (let cursor = ''; ;) {
      const { ids, next } = await list(`&limit=${limit}${cursor}`)
      found.push(...ids)
      if (next === undefined) break
      cursor = `&cursor=${next}`
    }
    expect(found).toEqual(['cw:2', 'cw:3', 'cw:1', 'room'])
  })
})

test('/api/v1/calls says where the end of a call is not known, and CSV has no column of it', async () => {
  const known = inHistory('known', 20)
  const unknown = inHistory('unknown', 10, { endedAt: undefined, marks: MARK.endUnknown })
  const { calls } = JSON.parse((await get('?since=1h', [known, unknown])).text)
  expect(calls.map(({ end_unknown }: { end_unknown?: true }) => end_unknown)).toEqual([true, undefined])
  expect((await get('?since=1h&format=csv', [unknown])).text).not.toContain('end_unknown')
})

describe('/api/v1/calls with since', () => {
  const history = [inHistory('old', 7200), inHistory('new', 60), inHistory('newest', 10)]

  test.each([
    ['a time in ISO 8601', '2026-09-21T13:13:20Z'],
    ['a time in ISO 8601 with an offset', encodeURIComponent('2026-09-21T15:13:20+02:00')],
    ['a day', '2026-09-21'],
    ['a time in UNIX seconds', String(NOW - 3600)],
    ['a time in UNIX seconds with a fraction', `${NOW - 3600}.5`],
  ])('lists the calls that finished since %s, newest first', async (_form, since) => {
    const expected = since === '2026-09-21' ? ['newest', 'new', 'old'] : ['newest', 'new']
    expect(await idsOf(`?since=${since}`, history)).toEqual(expected)
  })

  test('shows a call as it was counted, although the service changed it afterwards', async () => {
    const { text } = await get(`?since=${NOW - 3600}`, [
      inHistory('a', 10, { status: 'rejected', labels: labelsOf('video', 'call', 'user'), totalParticipants: 4 }),
    ])
    expect(JSON.parse(text).calls).toEqual([
      {
        target: 'production',
        call_id: 'a',
        session_id: 'a',
        type: 'audio',
        mode: 'call',
        receiver_type: 'user',
        status: 'ended',
        began: '2026-09-21T14:12:50.000Z',
        finished: '2026-09-21T14:13:10.000Z',
        noticed: '2026-09-21T14:13:13.000Z',
        duration_seconds: 15,
        answer_delay_seconds: 5,
        participants: 4,
        minutes: { audio: 0.5, video: 0 },
        participant_minutes: { audio: 0.75, video: 0 },
        has_recording: false,
      },
    ])
  })
})

describe('/api/v1/calls without a limit', () => {
  const many = Array.from({ length: 12_000 }, (_, i) => inHistory(`call-${i}`, i + 1))

  test('has all calls as NDJSON and as CSV', async () => {
    const { url } = await serve([shownTarget()], { history: many })
    const ndjson = await fetch(`${url}/api/v1/calls?since=0&format=ndjson`)
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const lines = (await ndjson.text()).trimEnd().split('\n')
    expect([lines.length, JSON.parse(lines[0]!), JSON.parse(lines.at(-1)!)]).toMatchObject([
      12_000,
      { session_id: 'call-0' },
      { session_id: 'call-11999' },
    ])
    const csv = await fetch(`${url}/api/v1/calls?since=0&format=csv`)
    expect((await csv.text()).split('\r\n')).toHaveLength(12_002)
  })

  test('is read from the store as fast as its client takes it', async () => {
    let reads = 0
    const large = Array.from({ length: 30_000 }, (_, i) => inHistory(`${'x'.repeat(480)}${i}`, i + 1))
    const { url } = await serve([shownTarget()], { history: large, onRead: () => (reads += 1) })
    const { hostname, port } = new URL(url)
    const client = connect(Number(port), hostname)
    onTestFinished(() => void client.destroy())
    client.write(`GET /api/v1/calls?since=0&format=ndjson HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`)
    await once(client, 'readable')
    // It reads no further while its client takes nothing.
    let paused = -1
    await vi.waitFor(
      () => {
        const before = paused
        paused = reads
        expect(paused).toBe(before)
      },
      { interval: 200, timeout: 5000 },
    )
    client.resume()
    await once(client, 'close')
    expect(reads).toBeGreaterThan(paused * 1.5)
  })
})

describe('pages of /api/v1/calls', () => {
  test('are of the period of the first one, also where that is how long ago', async () => {
    const long = Array.from({ length: 30 }, (_, i) => inHistory(`call-${i}`, i + 1))
    const { url } = await serve([shownTarget()], { history: long })
    const { next } = await jsonOf(`${url}/api/v1/calls?since=0&limit=10`)
    // Another beginning than that of the first page changes nothing.
    const second = await jsonOf(`${url}/api/v1/calls?since=${NOW}&limit=100&cursor=${next}`)
    expect(second.calls).toHaveLength(20)
  })

  test('go on where each query takes longer than the search may', async () => {
    const { url } = await serve([shownTarget()], { history: [inHistory('a', 10)], onRead: () => wait(700) })
    const { calls, next } = await jsonOf(`${url}/api/v1/calls?since=0`)
    expect([calls.length, next]).toEqual([1, undefined])
  })

  test('are not made for HEAD', async () => {
    let reads = 0
    const { url } = await serve([shownTarget()], { history: many(), onRead: () => void (reads += 1) })
    expect((await fetch(`${url}/api/v1/calls?since=0&format=csv`, { method: 'HEAD' })).status).toBe(404)
    expect(reads).toBe(0)
  })

  const many = () => Array.from({ length: 3 }, (_, i) => inHistory(`call-${i}`, i + 1))
})

describe('/api/v1/call', () => {
  test('has the call as it was counted and as it is now, with its events', async () => {
    const labels = labelsOf('video', 'call', 'user')
    const call = finishedCall('a/b%_!', { status: 'rejected', labels, minutes: [0.25, 0, 0.5, 0] })
    const { url, log } = await serve([shownTarget()], { history: [{ target: 'production', call }] })
    const transition = { from: 'none', to: 'ongoing', observed: true, at: NOW - 60 } as const
    const others = ['a/b%_', 'a/bXX!', 'x'].map((id) => ({ ...transition, call: { ...call, id } }))
    await log({ transitions: [...others, { ...transition, call }], corrections: [], details: [] })
    const query = new URLSearchParams({ target: 'production', call_id: call.id })
    const answer = await jsonOf(`${url}/api/v1/call?${query.toString()}`)
    expect(await jsonOf(`${url}/api/v1/calls/production/${encodeURIComponent(call.id)}`)).toEqual(answer)
    expect(answer).toMatchObject({
      call: { call_id: 'a/b%_!', session_id: 'a/b%_!', status: 'ended', type: 'audio', minutes: { audio: 0.25 } },
      at_its_end: { status: 'ended', minutes: { audio: 0, video: 0 } },
      status_now: 'rejected',
      events_since: '2026-09-21T14:13:20.000Z',
      events: [{ type: 'callwatch.call.ongoing', subject: 'a/b%_!' }],
    })
  })

  test('has the events of a call whose id is in the texts of many others', async () => {
    const call = finishedCall('42')
    const { url, log } = await serve([shownTarget()], { history: [{ target: 'production', call }] })
    const transition = { from: 'none', to: 'ongoing', observed: true, at: NOW - 60 } as const
    const change = (id: string) => ({
      transitions: [{ ...transition, call: { ...call, id } }],
      corrections: [],
      details: [],
    })
    for (let i = 0; i < 1001; i++) await log(change(`x42-${i}`))
    await log(change('42'))
    const { events } = await jsonOf(`${url}/api/v1/calls/production/42`)
    expect(events).toHaveLength(1)
  })

  test('is found by the longest id', async () => {
    const id = 'ü'.repeat(500)
    const { url } = await serve([shownTarget()], { history: [inHistory(id, 5)] })
    expect((await fetch(`${url}/api/v1/calls/production/${encodeURIComponent(id)}`)).status).toBe(200)
  })

  test('has the other calls of its session, newest first, and how many there are besides', async () => {
    const call = (id: string, secondsAgo: number, differing: Partial<TrackedCall> = {}) =>
      finishedCall(id, { session: 'room', initiatedAt: NOW - secondsAgo, ...differing })
    const further = Array.from({ length: 23 }, (_, i) => call(`cw:${i}`, 3600 * (i + 1)))
    const open = openCall('cw:open', { session: 'room' })
    const first = call('room', 1e6, { session: undefined })
    const strangers = [openCall('roomy'), call('cw:room', 5, { session: 'cw:open' })]
    const before = call('cw:before', 7200, { phase: 'baseline', finish: undefined })
    const all = [open, first, ...further, ...strangers, before]
    const { url, log } = await serve([shownTarget()], {
      history: all.map((one) => ({ target: 'production', call: one })),
    })
    const transition = { from: 'none', to: 'ongoing', observed: true, at: NOW - 60 } as const
    await log({ transitions: [open, first].map((one) => ({ ...transition, call: one })), corrections: [], details: [] })
    const idsOf = ({ calls }: { calls: { call_id: string }[] }) => calls.map(({ call_id }) => call_id)
    const answerOf = (id: string) => jsonOf(`${url}/api/v1/calls/production/${id}`)
    const { call: shown, others, events } = await answerOf('cw:open')
    expect(shown).toMatchObject({ call_id: 'cw:open', session_id: 'room' })
    expect(events).toMatchObject([{ subject: 'cw:open', data: { session_id: 'room' } }])
    expect([idsOf(others), others.more]).toEqual([Array.from({ length: 20 }, (_, i) => `cw:${i}`), 4])
    expect(others.calls[0]).toEqual((await answerOf('cw:0')).call)
    expect(idsOf((await answerOf('room')).others).slice(0, 2)).toEqual(['cw:open', 'cw:0'])
    expect((await answerOf('roomy')).others).toEqual({ calls: [], more: 0 })
  })

  test('is 404 with a sentence for a call that is not there', async () => {
    const { url } = await serve([shownTarget()])
    const response = await fetch(`${url}/api/v1/call?target=production&call_id=none`)
    expect([response.status, JSON.parse(await response.text()).detail]).toEqual([
      404,
      'no call none of target production is known; it may be expired. A session is not found here: list its calls',
    ])
  })
})

test.each([
  ['target=production', 'call_id is required: the id of a call'],
  ['call_id=a&target=a&target=b', 'target is required: the name of a target'],
  ['target=production&call_id=a&id=b', 'unknown parameter id; the parameters are target, call_id'],
])('/api/v1/call?%s is 400 with a sentence', async (query, detail) => {
  const { url } = await serve([shownTarget()])
  const response = await fetch(`${url}/api/v1/call?${query}`)
  expect([response.status, JSON.parse(await response.text()).detail]).toEqual([400, detail])
})

describe('/api/v1/report', () => {
  const history = [inHistory('a', 10), inHistory('b', 90_000), { ...inHistory('c', 20), target: 'staging' }]

  async function ask(path: string, options: object = {}) {
    const { url } = await serve([shownTarget()], { history, ...options })
    const response = await fetch(`${url}/api/v1/${path}`)
    const text = await response.text()
    return { status: response.status, text, answer: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined } // oxfmt-ignore
  }

  test('report by days of a time zone', async () => {
    const { answer } = await ask('report?since=2026-09-20&by=day&zone=Asia/Tokyo&target=production')
    expect(answer).toMatchObject({
      since: '2026-09-19T15:00:00.000Z',
      zone: 'Asia/Tokyo',
      rows: [
        { day: '2026-09-20', calls: { ended: 1 } },
        { day: '2026-09-21', calls: { ended: 1 } },
      ],
    })
  })

  test('report as CSV', async () => {
    const { text } = await ask(`report?since=${NOW - 172_800}&until=${NOW}&format=csv`)
    expect(text.split('\r\n').slice(0, 3)).toEqual([
      'row,target,calls,ended,unanswered,rejected,canceled,other,lost,audio_minutes,video_minutes,participant_audio_minutes,participant_video_minutes,participant_minutes,user_minutes,failure_ratio,invited_joined,invited_absent,invited_unknown,not_joined_ratio,mean_duration_seconds,p50_duration_seconds,p95_duration_seconds,noticed_late,blind_seconds',
      'part,production,2,2,0,0,0,0,0,1,0,1.5,0,1.5,1,,0,0,2,,15,15.05,15.05,0,172800',
      'part,staging,1,1,0,0,0,0,0,0.5,0,0.75,0,0.75,0.5,,0,0,1,,15,15.05,15.05,0,0',
    ])
  })

  test('report by one key but the day has the rows with most user minutes first, as JSON and as CSV', async () => {
    const later = [3, 4, 5].map((i) => ({ ...inHistory(`d${i}`, i), target: 'staging' }))
    const of = async (by: string) => {
      const asked = `report?since=${NOW - 172_800}&until=${NOW}&by=${by}`
      const more = { history: [...history, ...later] }
      const [{ answer }, { text }] = [await ask(asked, more), await ask(`${asked}&format=csv`, more)]
      const keys: string[] = answer.rows.map((row: Record<string, string>) => row[by.split(',')[0]!])
      expect(text.match(/^part,[\w-]+/gm)).toEqual(keys.map((key) => `part,${key}`))
      return keys
    }
    expect(await of('target')).toEqual(['staging', 'production'])
    expect(await of('app')).toEqual(['staging', 'app'])
    expect(await of('day')).toEqual(['2026-09-20', '2026-09-21'])
    expect(await of('target,type')).toEqual(['production', 'staging'])
  })

  test('report by the app of its targets', async () => {
    const configured = () => ['production', 'staging'].map((name) => ({ name, appId: 'shop' }))
    const { text } = await ask(`report?since=${NOW - 172_800}&until=${NOW}&by=app&format=csv`, { configured })
    expect(text.split('\r\n').map((line) => line.split(',').slice(0, 3).join())).toEqual([
      'row,app,calls',
      'part,shop,3',
      'total,,3',
      '',
    ])
  })

  test('report with the total of its rows, which CSV has in a row of its own kind', async () => {
    const period = `since=${NOW - 172_800}&until=${NOW}`
    const all = await ask(`report?${period}&by=none`)
    const { answer } = await ask(`report?${period}&by=day,target`)
    expect(answer.rows).toHaveLength(3)
    expect([answer.total, answer.total.calls.total]).toEqual([all.answer.rows[0], 3])
    const { text } = await ask(`report?${period}&by=day,target&format=csv`)
    expect(text.split('\r\n').map((line) => line.split(',').slice(0, 4).join())).toEqual([
      'row,day,target,calls',
      'part,2026-09-20,production,1',
      'part,2026-09-21,production,1',
      'part,2026-09-21,staging,1',
      'total,,,3',
      '',
    ])
    expect(text.split('\r\n')[4]).toMatch(/,15,15\.05,15\.05,0,172800$/)
    const { text: empty } = await ask('report?since=2026-09-01&until=2026-09-02&by=target&format=csv')
    expect(empty.split('\r\n')[1]).toMatch(/^total,,0,0,.*,,,,,0,86400$/)
  })

  test('report for spreadsheets with a decimal comma', async () => {
    const { text } = await ask(`report?since=${NOW - 172_800}&until=${NOW}&by=day,target&format=excel`)
    const [names, row] = text.split('\r\n')
    expect(names).toMatch(/^row;day;target;calls;ended;.*;blind_seconds$/)
    expect(row).toMatch(/^part;2026-09-20;production;1;1;.*;0,5;0;0,75;0;0,75;0,5;;0;0;1;;15;15,05;15,05;0;86400$/)
  })

  test.each(['csv', 'json'])('lengths of a report as %s are whole milliseconds', async (format) => {
    const { text } = await ask(`report?since=${NOW - 86_396.482}&until=${NOW}&format=${format}`)
    expect(text).toMatch(/[:,]86396\.482\b/)
    expect(text).not.toContain('86396.481')
  })

  test('a report is read no further once its client has left', async () => {
    let reads = 0
    const onRead = () => {
      reads += 1
      return wait(100)
    }
    const days = Array.from({ length: 30 }, (_, i) => inHistory(`day-${i}`, 60 + i * 86_400))
    const { url } = await serve([shownTarget()], { history: days, onRead })
    const aborting = new AbortController()
    const left = fetch(`${url}/api/v1/report?since=0`, { signal: aborting.signal }).catch((error: Error) => error.name)
    await vi.waitFor(() => expect(reads).toBeGreaterThan(6), { timeout: 5000 })
    aborting.abort()
    expect(await left).toBe('AbortError')
    // Only the part that is being read ends.
    await wait(300)
    const after = reads
    await wait(300)
    expect(reads).toBe(after)
  })

  test('a report has the times in which targets were not seen', async () => {
    const { answer } = await ask(`report?since=${NOW - 1500}&until=${NOW - 500}&target=staging`)
    expect(answer.coverage).toMatchObject({ blind_seconds: 1000, blind: [{ kind: 'before' }, { kind: 'now' }] })
  })

  test.each([
    ['report?since=soon', 'expected a date such as'],
    ['report?since=2026', 'since 2026: expected a date such as'],
    ['report?since=2001-01-01&until=2000-01-01', 'since must be before until'],
    ['report?since=0&by=hour', 'must be some of day, app, target, type, mode, receiver_type'],
    ['report?since=0&zone=Mars', 'zone must be a time zone such as Europe/Berlin'],
    ['report', 'since is required: a date such as'],
    ['report?since=0&target=nope', 'there is no target nope; there is: production, staging'],
    ['alerts?since=0&target=nope', 'there is no target nope; there is: production, staging'],
    ['alerts', 'since is required: a date such as'],
    ['alerts?since=20261101', 'since 20261101: expected a date such as'],
    ['alerts?since=2001-01-01&until=2000-01-01', 'since must be before until'],
    ['alerts?since=0&severity=high', 'severity must be one of critical, warning, info'],
    ['alerts?since=0&rule=X', 'rule'],
    ['report?since=999999999999', 'expected a date such as'],
    ['report?since=2026-11-20T08:00:00%2B02', 'expected a date such as'],
  ])('%s is refused with a sentence', async (path, sentence) => {
    const { status, answer } = await ask(path)
    expect([status, answer.detail]).toEqual([400, expect.stringContaining(sentence)])
  })
})

describe('/api/v1/calls as CSV', () => {
  test('has a header line and a line per call', async () => {
    const { headers, text } = await get(`?since=${NOW - 60}&format=csv`, [inHistory('a', 10)])
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(text).toBe(
      'target,call_id,session_id,type,mode,receiver_type,status,began,finished,participants,audio_minutes,video_minutes,' +
        'participant_audio_minutes,participant_video_minutes,duration_seconds,answer_delay_seconds,has_recording,noticed\r\n' +
        'production,a,a,audio,call,user,ended,2026-09-21T14:12:50.000Z,2026-09-21T14:13:10.000Z,2,0.5,0,' +
        '0.75,0,15,5,false,2026-09-21T14:13:13.000Z\r\n',
    )
  })

  test('leaves `finished` empty for a call in progress', async () => {
    const { text } = await get('?format=csv', [], [openCall('a')])
    expect(text).toContain(
      'production,a,a,audio,call,user,ongoing,2026-09-21T14:12:50.000Z,,2,0.5,0,0.75,0,,,false,\r\n',
    )
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
    expect(text).toContain(`\r\nproduction,${written},${written},audio,`)
  })
})

describe('/api/v1/calls for spreadsheets with a decimal comma', () => {
  test('begins with a byte order mark, separates by semicolons, and has decimal commas', async () => {
    const { url } = await serve([shownTarget({ calls: [] })], { history: [inHistory('a', 10)] })
    const response = await fetch(`${url}/api/v1/calls?since=${NOW - 60}&format=excel`)
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(bytes.subarray(0, 10).toString('hex')).toBe(`efbbbf${Buffer.from('target;').toString('hex')}`)
    const [, line] = bytes.toString().split('\r\n')
    expect(line).toBe(
      'production;a;a;audio;call;user;ended;2026-09-21T14:12:50.000Z;2026-09-21T14:13:10.000Z;2;0,5;0;0,75;0;15;5;false;2026-09-21T14:13:13.000Z',
    )
  })

  test.each([
    ['0012', '"=""0012"""'],
    ['31780434', '"=""31780434"""'],
    ['1234e5', '"=""1234e5"""'],
    ['1,5', '"=""1,5"""'],
    ['.5', '"="".5"""'],
    ['2-3', '"=""2-3"""'],
    ['(7)', '"=""(7)"""'],
    ['dec-1', '"=""dec-1"""'],
    ['März 26', '"=""März 26"""'],
    ['v1.us.7', 'v1.us.7'],
    ['-1', "'-1"],
    ['=1+1', "'=1+1"],
    ['1"&cmd|x!A1&"', '"1""&cmd|x!A1&"""'],
    ['a;b', '"a;b"'],
  ])('writes the session id %j as %s, which stays the text that it is', async (id, written) => {
    const { text } = await get('?format=excel', [], [openCall(id)])
    expect(text).toContain(`\r\nproduction;${written};${written};audio;`)
  })
})

test('lengths of calls are whole milliseconds, in every format', async () => {
  const [from, to] = [NOW - 86_396.482 - 0.3, NOW - 86_396.482]
  const call = inHistory('a', 10, { initiatedAt: from, startedAt: to, endedAt: NOW })
  for (const format of ['csv', 'ndjson', 'json']) {
    const { text } = await get(`?since=${NOW - 60}&format=${format}`, [call])
    expect(text).toMatch(/[:,]86396\.482[,}]/)
    expect(text).toMatch(/[:,]0\.3[,}]/)
  }
})

test.each([
  ['?since=yesterday', 'since must be a time: ISO 8601 in UTC like'],
  ['?since=', 'since must be a time'],
  ['?since=-5', 'since must be a time'],
  ['?since=2026', 'since must be a time: ISO 8601 in UTC like'],
  ['?since=20261101', 'since must be a time: ISO 8601 in UTC like'],
  ['?since=1790000000000', 'UNIX seconds'],
  ['?since=2026-13-01', 'since must be a time'],
  [`?since=${ISO_NOW.slice(0, -1)}`, 'since must be a time: ISO 8601 in UTC'],
  ['?since=call-5', 'since must be a time'],
  ['?status=cancelled', 'must be some of initiated, ongoing, ended, unanswered, rejected, canceled, other'],
  ['?status=ended,rejected', 'status=ended is a status of finished calls: add `since`'],
  ['?status=ended,&since=0', 'must be some of initiated'],
  ['?format=xml', 'format must be json, csv, excel or ndjson'],
  [
    '?finished_sinse=0',
    'unknown parameter finished_sinse; the parameters are since, until, began, target, type, mode, receiver_type, status, longer_than, has_recording, session_id, limit, format, cursor',
  ],
  ['?status=rejected', 'status=rejected is a status of finished calls: add `since`'],
  ['?since=0&longer_than=1h', '`longer_than` is of calls in progress: leave out `since`'],
  ['?began=true', '`began` is of a period: add `since`'],
  ['?longer_than=soon', 'longer_than must be a duration such as 3h'],
  ['?until=0', '`until` is of finished calls: add `since`'],
  ['?since=2001-01-01&until=2000-01-01', '`since` must be before `until`'],
  ['?since=0&status=ongoing', 'status=ongoing is a status of calls in progress'],
  ['?session_id=%00', 'no parameter may contain a NUL character'],
  ['?has_recording=yes', 'has_recording must be true or false'],
  ['?limit=0', 'limit must be a whole number from 1 to 99999'],
])('/api/v1/calls%s is refused with a sentence', async (query, sentence) => {
  const { status, text } = await get(query)
  expect(status).toBe(400)
  expect(JSON.parse(text).detail).toContain(sentence)
})
