import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FakeService } from './surveyed.ts'
import { rowsOf, START, surveyed } from './surveyed.ts'

const TOO_MANY = { status: 429, body: '{"error":{"code":"ERR_TOO_MANY_REQUESTS","message":"slow down"}}' }
const meeting = (row: object, i: number) => ({ ...row, mode: 'meet', sessionId: `v1.eu.app.room-${i}` })
const lines = (findings: readonly { check: string; result: string; message: string }[]) =>
  findings.map(({ check, result, message }) => `${result} ${check}: ${message}`)

describe('the survey of a service', () => {
  test('finds nothing to say against one that does as callwatch prefers, with seven requests', async () => {
    const { findings, paths } = await surveyed({
      rows: rowsOf(250, (row, i) => (i % 10 === 0 ? meeting(row, i) : row)),
    })
    expect(lines(findings)).toEqual([
      'ok order: newest first',
      'ok page_size: 100 calls of 100 requested, 250 of 1000',
      'ok depth: page 3, the last one by the total, is shown',
      'ok total: 250',
      'ok requests: 1 for a poll and 3 for a sweep, so about 5 a minute of at most 200',
      'ok fields: all are known',
      'ok values: all are known',
      'ok session_ids: 0 of 250 are used for several calls',
      'ok initiated_at: in 250 of 250 sessions',
      'ok ended_at: absent in 0 of 250 ended',
      'ok meeting_ids: 25 of 25 begin with v1.<region>.<appId>.',
      'ok mid: in 250 of 250 sessions',
      'ok get_call: 200, object',
      'ok unknown_id: 404 with ERR_CALL_SESSION_NOT_FOUND',
      'ok clock: each answer has a Date; the clock of the service is 0 min ahead',
      'ok rate_limit: 499 requests are left',
      'ok compression: gzip',
    ])
    expect(paths).toEqual([
      '/calls?page=1&perPage=100',
      '/calls/v1.eu.app.room-0',
      '/calls/callwatch-knows-no-such-call',
      '/calls?page=2&perPage=100',
      '/calls?page=3&perPage=100',
      '/calls?page=4&perPage=100',
      '/calls?page=1&perPage=1000',
    ])
  })

  const unknownLabels = rowsOf(250, (row, i) => (i === 3 ? { ...row, status: 'ringing', type: 'hologram' } : row))
  const unknownFields = rowsOf(250, (row) => ({
    ...row,
    shoeSize: 'value-of-shoe',
    'Frau Müller': 1,
    participants: [{ uid: 'u', hat: 'value-of-hat' }],
    recordings: [{ rid: 'r', codec: 'value-of-codec' }],
  }))
  test.each<[string, string, Partial<FakeService>, object?]>([
    [
      'order',
      'not by time: each poll reads the whole list, and counts every call nevertheless',
      { rows: rowsOf(250, (row, i) => ({ ...row, initiatedAt: START - ((i * 101) % 250) * 60 })) },
    ],
    ['page_size', '50 calls of 100 requested, 50 of 1000: a sweep takes another number of requests', { most: 50 }],
    [
      'page_size',
      'a page of 100 calls is refused: nothing can be counted; lower poll.page_size',
      { instead: (number) => (number === 1 ? { status: 400, body: '{"error":{"code":"ERR"}}' } : undefined) },
    ],
    [
      'depth',
      'page 3, the last one by the total, is refused: callwatch requests older open calls one by one',
      { instead: (_n, path) => (/page=[34]&/.test(path) ? { status: 400 } : undefined) },
    ],
    ['total', 'none: callwatch cannot use it: ', { total: () => undefined }],
    ['total', '5000, but page 50 has 0 calls, and the next one 0: ', { total: () => 5000 }],
    ['total', '300, but page 3 has 50 calls, and the next one 0: ', { total: (rows) => rows + 50 }],
    ['total', '200, but page 2 has 100 calls, and the next one 50: ', { total: (rows) => rows - 50 }],
    ['total', '50, but page 1 has 100 calls, and the next one 100: ', { total: () => 50 }],
    [
      'requests',
      '1 for a poll and 3 for a sweep, so about 5 a minute of at most 2: polls take longer',
      {},
      { max_requests_per_minute: 2 },
    ],
    [
      'initiated_at',
      'in 0 of 250 sessions: a call without it has no answer delay, and its duration includes the ringing',
      { rows: rowsOf(250, ({ initiatedAt, ...row }) => ({ ...row, startedAt: initiatedAt })) },
    ],
    [
      'fields',
      'call.shoeSize, an unusual name, participant.hat, recording.codec: callwatch does not read them',
      { rows: unknownFields },
    ],
    ['values', 'status ringing, type hologram: callwatch counts them as other', { rows: unknownLabels }],
    [
      'session_ids',
      '1 of 246 are used for several calls: callwatch counts each call of them, and gives the second and later ones ids',
      { rows: rowsOf(250, (row, i) => (i % 50 === 0 ? { ...row, sessionId: 'group' } : row)) },
    ],
    [
      'mid',
      'in 0 of 250 sessions: only their starts tell calls of one session apart',
      { rows: rowsOf(250, ({ mid: _mid, ...row }) => row) },
    ],
    ['get_call', '200, no call: callwatch cannot read it', { getCall: () => ({ data: null }) }],
    ['get_call', '200, list of 0: callwatch cannot read it', { getCall: () => ({ data: [] }) }],
    ['unknown_id', '200 without ERR_CALL_SESSION_NOT_FOUND: ', { unknownId: { status: 200, body: { data: [] } } }],
    ['unknown_id', '404 without ERR_CALL_SESSION_NOT_FOUND: ', { unknownId: { status: 404, body: {} } }],
    [
      'clock',
      'answers have no Date; the clock of the service is 0 min ahead: callwatch uses the clock',
      { headers: {} },
    ],
    [
      'clock',
      'each answer has a Date; the clock of the service is 60 min ahead: callwatch uses the clock of the service',
      { headers: { date: new Date(Date.now() + 3_600_000).toUTCString() } },
    ],
    ['rate_limit', 'no headers: callwatch sends up to max_requests_per_minute', { headers: {} }],
    ['compression', 'none: the counts are the same', { headers: {} }],
  ])('says of %s: %s', async (check, message, service, poll) => {
    const { findings } = await surveyed(service, poll)
    expect(lines(findings)).toContainEqual(expect.stringContaining(`notice ${check}: ${message}`))
  })

  test('says nothing of values, only their names and labels', async () => {
    const { findings } = await surveyed({ rows: [...unknownFields, ...unknownLabels] })
    expect(JSON.stringify(findings)).not.toMatch(/value-of|Müller|alice|session 0|mid-0/)
  })

  test.each<[string, (row: object) => unknown]>([
    ['bare object', (row) => row],
    ['object', (row) => ({ data: row })],
  ])('says that Get Call answers a(n) %s', async (form, getCall) => {
    const { of } = await surveyed({ getCall })
    expect(of('get_call')).toEqual({ check: 'get_call', result: 'ok', message: `200, ${form}` })
  })

  test.each<[string, (row: object) => unknown]>([
    ['bare list of 1', (row) => [row]],
    ['list of 2', (row) => ({ data: [row, row] })],
  ])('says that Get Call answers a %s', async (form, getCall) => {
    const { of } = await surveyed({ getCall })
    expect(of('get_call')?.message).toContain(`200, ${form}`)
  })

  test.each([404, 500])('believes the total of a service that answers %i after the last page', async (status) => {
    const { of } = await surveyed({ instead: (_n, path) => (path.includes('page=4&') ? { status } : undefined) })
    expect([of('depth')?.result, of('total')?.result, of('get_call')?.result]).toEqual(['ok', 'ok', 'ok'])
  })

  test('takes two answers with different times of one call for one call', async () => {
    const rows = rowsOf(250, (row) => ({ ...row, startedAt: Number(row['initiatedAt']) + 5 }))
    const getCall = ({ initiatedAt: _none, ...row }: object & { initiatedAt?: unknown }) => ({ data: row })
    expect((await surveyed({ rows, getCall })).of('session_ids')?.message).toContain('0 of 250')
    const asText = (row: Record<string, unknown>) => ({ ...row, startedAt: String(row['startedAt']) })
    expect((await surveyed({ rows, getCall: asText })).of('session_ids')?.message).toContain('0 of 250')
  })

  test('says nothing of the clock if the page is refused, as the error may come from elsewhere', async () => {
    const headers = { date: new Date(Date.now() + 7_200_000).toUTCString() }
    const { of } = await surveyed({ headers, instead: (number) => (number === 1 ? { status: 400 } : undefined) })
    expect(of('clock')?.result).toBe('not_checked')
  })

  test('knows the limit although errors do not say it', async () => {
    const { of } = await surveyed({
      instead: (_n, path) => (path.includes('page=4&') ? { status: 400, headers: {} } : undefined),
    })
    expect(of('rate_limit')?.message).toBe('499 requests are left')
  })

  test('says how many final calls of each status have no end, each once, and how callwatch dates them', async () => {
    const without = ({ endedAt: _none, ...row }: Record<string, unknown>, status: string) => ({ ...row, status })
    const rows = rowsOf(240, (row, i) => {
      if (i === 7) return { ...without(row, 'ongoing'), startedAt: START }
      if (i % 10 === 0) return without(row, 'rejected')
      return i % 100 === 9 ? without(row, 'Missed') : row
    })
    const { of } = await surveyed({ rows })
    expect(of('ended_at')).toEqual({
      check: 'ended_at',
      result: 'ok',
      message:
        'absent in 24 of 24 rejected, 3 of 3 unanswered, 0 of 212 ended; callwatch takes when the last participant left, startedAt and ' +
        'totalDuration, or initiatedAt for the end of a call without it',
    })
  })

  test('says in which form ids of meetings come', async () => {
    const rows = rowsOf(20, (row, i) => (i < 3 ? meeting(row, i) : i < 8 ? { ...row, mode: 'presenter' } : row))
    const message =
      '3 of 8 begin with v1.<region>.<appId>., 5 are ids that the app chose; webhooks name these with that prefix, too'
    expect((await surveyed({ rows })).of('meeting_ids')).toEqual({ check: 'meeting_ids', result: 'ok', message })
    expect((await surveyed({ rows: rowsOf(20) })).of('meeting_ids')?.result).toBe('not_checked')
  })

  test('knows a rejected call as it was seen on the live service', async () => {
    const file = join(import.meta.dirname, '../service/seen/call-rejected.json')
    const { list }: { list: { data: Record<string, unknown>[] } } = JSON.parse(readFileSync(file, 'utf8'))
    const { of, findings } = await surveyed({ rows: list.data })
    expect([of('fields'), of('values')].map((one) => one?.message)).toEqual(['all are known', 'all are known'])
    expect(of('ended_at')?.message).toMatch(/^absent in 1 of 1 rejected; /)
    expect(JSON.stringify(findings)).not.toMatch(/Name of|avatars|uid-/)
  })

  test('says that it cannot know of webhooks, if they are configured, and why none may come', async () => {
    const webhook = { username: 'vendor', password: 'of-the-webhooks' }
    expect((await surveyed({}, {}, { webhook })).of('webhooks')).toEqual({
      check: 'webhooks',
      result: 'not_checked',
      message: expect.stringMatching(/^not checked: .*`callwatch status`.*legacy webhooks.*trigger.*plan/),
    })
    expect((await surveyed()).of('webhooks')).toBeUndefined()
  })

  test('does not show keys of what should be a list, which may be ids of users', async () => {
    const rows = rowsOf(250, (row) => ({ ...row, participants: { 'zoe.quist': { isJoined: true } } }))
    expect(JSON.stringify((await surveyed({ rows })).findings)).not.toContain('zoe')
  })

  test('knows how many requests a poll takes from the newest calls, although the oldest are first', async () => {
    const days = (row: object, i: number) => ({
      ...row,
      initiatedAt: START + (i < 200 ? 86_400 * i : 86_400 * 200 + i / 20),
    })
    const { of } = await surveyed({ rows: rowsOf(250, days) })
    expect(of('requests')?.message).toMatch(/^3 for a poll and 3 for a sweep/)
  })

  test('does not know how many requests a poll takes if there is no order and no total', async () => {
    const rows = rowsOf(250, (row) => ({ ...row, initiatedAt: START }))
    expect((await surveyed({ rows, total: () => 50 })).of('requests')?.result).toBe('not_checked')
  })

  test('requests no page of 1000 calls that callwatch would not read', async () => {
    const { of, paths } = await surveyed({ rows: rowsOf(250, (row) => ({ ...row, metaData: 'm'.repeat(4000) })) })
    expect(paths).not.toContain('/calls?page=1&perPage=1000')
    expect(of('page_size')?.message).toBe('100 calls of 100 requested')
    expect(of('stopped')).toBeUndefined()
  })

  test('says what is not checked if there are no calls', async () => {
    const { findings, paths } = await surveyed({ rows: [] })
    const results = Object.groupBy(findings, ({ result }) => result)
    expect(results.not_checked?.map(({ check }) => check)).toEqual([
      'order',
      'page_size',
      'fields',
      'values',
      'session_ids',
      'initiated_at',
      'ended_at',
      'meeting_ids',
      'mid',
      'get_call',
    ])
    expect(results.notice).toBeUndefined()
    expect(paths).toHaveLength(3)
  })

  test.each([1, 2, 3, 4, 5, 6, 7])('stops at a 429 to request %i, and says what it has learned', async (at) => {
    const { findings, paths } = await surveyed({ instead: (number) => (number === at ? TOO_MANY : undefined) })
    expect(paths).toHaveLength(at)
    expect(findings.at(-1)).toEqual({
      check: 'stopped',
      result: 'notice',
      message: expect.stringMatching(/^after an error \(rate_limited\): nothing more was requested/),
    })
    const notices = findings.filter(({ result }) => result === 'notice').map(({ check }) => check)
    expect(notices).toEqual(['stopped'])
    expect(findings.filter(({ result }) => result === 'ok').length).toBeGreaterThan(at)
  })

  test.each<[string, Error | { status: number }]>([
    ['network', new Error('reset')],
    ['server', { status: 503 }],
    ['scope', { status: 403 }],
  ])('goes no further after a request that fails for the %s, and believes the rest', async (kind, failure) => {
    const { of, paths } = await surveyed({ instead: (n) => (n === 5 ? failure : undefined) })
    expect(paths).toHaveLength(5)
    expect(of('get_call')?.result).toBe('ok')
    expect([of('depth')?.result, of('total')?.result]).toEqual(['not_checked', 'not_checked'])
    expect(of('stopped')?.message).toMatch(`after an error (${kind}): `)
  })
})
