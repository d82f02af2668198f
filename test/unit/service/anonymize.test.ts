import {
  array,
  assert,
  constantFrom,
  dictionary,
  integer,
  letrec,
  oneof,
  property,
  record,
  string,
  stringMatching,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anonymize } from '../../../src/service/anonymize.ts'
import type { Exchange } from '../../../src/service/exchange.ts'

const NOW = 1_790_000_000
const DATE = new Date(NOW * 1000).toUTCString()

const exchange = (body: unknown, more: Partial<Exchange> = {}): Exchange => ({
  path: '/calls?page=1&perPage=100',
  status: 200,
  headers: { date: DATE },
  body,
  ...more,
})

type Answers = ReturnType<typeof anonymize>['answers']

/** The body of the only answer. */
function bodyOf(body: unknown) {
  return anonymize([exchange(body)]).answers[0]!.body
}

/** The calls of an answer in an envelope. */
function callsIn(answer: Answers[number]): (typeof CALL)[] {
  const { data }: { data: (typeof CALL)[] } = JSON.parse(JSON.stringify(answer.body))
  return data
}

/** The values and names of fields in a tree. */
function textsIn(tree: unknown): string[] {
  if (typeof tree === 'string') return [tree]
  if (typeof tree === 'number') return [String(tree)]
  if (typeof tree !== 'object' || tree === null) return []
  return Object.entries(tree).flatMap(([key, value]) => [...(Array.isArray(tree) ? [] : [key]), ...textsIn(value)])
}

const CALL = {
  sessionId: 'Group of Ana/7',
  mid: 'mid-7',
  type: 'audio',
  mode: 'presenter',
  receiverType: 'group',
  status: 'Ended',
  initiator: 'ana',
  receiver: 'Group of Ana/7',
  totalAudioMinutes: 1.5,
  totalDuration: '00:01:30',
  totalParticipants: '2',
  hasRecording: true,
  hasTranscription: null,
  initiatedAt: NOW,
  startedAt: NOW + 5,
  endedAt: `${NOW + 95}`,
  participants: [{ uid: 'ana', deviceId: '70ab-Ana', isJoined: 1, joinedAt: (NOW + 5) * 1000, state: 'ended' }],
  recordings: [{ rid: 'r1', duration: 1.25, startTime: 0, recording_url: 'https://files.example/ana.mp4' }],
  tags: ['vip'],
}

describe('an anonymous answer', () => {
  test('keeps documented names, labels and numbers, and the form of all else', () => {
    expect(bodyOf({ data: [CALL], meta: { pagination: { total: 12_345_678, count: 1 } } })).toEqual({
      data: [
        {
          ...CALL,
          sessionId: expect.stringMatching(/^[A-Z][a-z]{4} [a-z]{2} [A-Z][a-z]{2}\/[1-9]$/),
          mid: expect.stringMatching(/^[a-z]{3}-[1-9]$/),
          initiator: expect.stringMatching(/^[a-z]{3}$/),
          receiver: expect.any(String),
          initiatedAt: expect.any(Number),
          startedAt: expect.any(Number),
          endedAt: expect.stringMatching(/^\d{10}$/),
          participants: [
            {
              ...CALL.participants[0]!,
              uid: expect.stringMatching(/^[a-z]{3}$/),
              deviceId: expect.stringMatching(/^[1-9]\d[a-z]{2}-[A-Z][a-z]{2}$/),
              joinedAt: expect.any(Number),
            },
          ],
          recordings: [
            {
              ...CALL.recordings[0]!,
              rid: expect.stringMatching(/^[a-z][1-9]$/),
              recording_url: expect.stringMatching(/^[a-z]{5}:\/\/[a-z]{5}\.[a-z]{7}\/[a-z]{3}\.[a-z]{2}[1-9]$/),
            },
          ],
          tags: [expect.stringMatching(/^[a-z]{3}$/)],
        },
      ],
      meta: { pagination: { total: 12_345_678, count: 1 } },
    })
  })

  test('replaces the same text in the same way, also in paths, and another text otherwise', () => {
    const id = 'Günther’s room/1 %2F 🦄'
    const { answers } = anonymize([
      exchange({ data: [{ sessionId: id, receiver: id, mid: id.toLowerCase() }] }),
      exchange({ data: { sessionId: id } }, { path: `/calls/${encodeURIComponent(id)}` }),
    ])
    const [row] = callsIn(answers[0]!)
    expect(row!.sessionId).not.toBe(id)
    expect(row!.sessionId).toHaveLength(id.length)
    expect(row!.receiver).toBe(row!.sessionId)
    expect(row!.mid).not.toBe(row!.sessionId)
    expect(answers[1]!.body).toEqual({ data: { sessionId: row!.sessionId } })
    expect(answers[1]!.path).toBe(`/calls/${encodeURIComponent(row!.sessionId)}`)
  })

  test('has no text of another answer as a stand-in', () => {
    const ids = Array.from({ length: 3000 }, (_none, i) => String(1000 + i))
    const standIns = textsIn(bodyOf(ids.map((sessionId) => ({ sessionId }))))
    expect(standIns.filter((id) => ids.includes(id))).toEqual([])
  })

  test('keeps different short texts different', () => {
    const ids = Array.from({ length: 26 }, (_none, i) => String.fromCharCode(97 + i))
    const rows = bodyOf(ids.map((sessionId) => ({ sessionId })))
    expect(new Set(textsIn(rows))).toHaveProperty('size', 1 + 26)
  })

  test('shifts all times by the same seconds, back by a year or more, and also Date', () => {
    const { answers } = anonymize([
      exchange({ data: [CALL] }, { headers: { date: DATE, 'x-rate-limit-reset': `${NOW + 9}` } }),
    ])
    const { initiatedAt, startedAt, endedAt, participants } = callsIn(answers[0]!)[0]!
    const shift = initiatedAt - NOW
    expect(shift).toBeLessThanOrEqual(-365 * 86_400)
    expect(Number.isInteger(shift)).toBe(true)
    expect([startedAt, Number(endedAt), participants[0]!.joinedAt / 1000]).toEqual(
      [NOW + 5, NOW + 95, NOW + 5].map((time) => time + shift),
    )
    expect(answers[0]!.headers).toEqual({
      date: new Date(initiatedAt * 1000).toUTCString(),
      'x-rate-limit-reset': String(initiatedAt + 9),
    })
  })

  test('has no names of fields, words or numbers below metaData and data', () => {
    const entity = {
      uid: 'ana',
      name: 'Ana Torres',
      avatar: 'https://a.example/ana.png',
      phone: 4_917_012_345,
      status: 'ended',
    }
    const data = { entities: { initiator: { entity, entityType: 'user' }, receiver: { entity } } }
    const { replaced, answers } = anonymize([
      exchange({
        data: [{ sessionId: 's-1', data, metaData: { 'Ana Torres': ['ended', 7_700_123], status: 'ended' } }],
      }),
    ])
    const text = JSON.stringify(answers[0]!.body)
    expect(text).not.toMatch(/Ana|Torres|avatar|phone|name|uid|status"|ended|4917012345|7700123|a\.example/)
    expect(text).toMatch(/"data":\{"entities":\{"initiator":\{"entity":\{/)
    expect(replaced).toEqual({ ids: 1, texts: 11, keys: 13, numbers: 3, times: 1 })
  })

  test.each([
    ['ERR_CALL_SESSION_NOT_FOUND', /^ERR_CALL_SESSION_NOT_FOUND$/],
    ['AUTH_ERR_APIKEY_NOT_FOUND', /^AUTH_ERR_APIKEY_NOT_FOUND$/],
    ['ERR_PLAN_QUOTA_RESTRICTION', /^ERR_PLAN_QUOTA_RESTRICTION$/],
    ['ERR_ALICE_NOT_FOUND', /^(?!.*ALICE)[A-Z]{3}_[A-Z]{5}_[A-Z]{3}_[A-Z]{5}$/],
  ])('of the error code %s, keeps what is documented', (code, kept) => {
    const body = bodyOf({ error: { code, message: `${code}: no alice`, details: { uid: 'alice' }, source: 'calls-7' } })
    expect(body).toMatchObject({ error: { code: expect.stringMatching(kept) } })
    expect(JSON.stringify(body)).not.toContain('alice')
  })

  test('keeps the headers that callwatch reads, and of these what identifies nobody', () => {
    const headers = {
      date: 'yesterday at Ana’s',
      'retry-after': '30',
      'content-type': 'application/json; charset=utf-8',
      'content-encoding': 'gzip',
      ratelimit: 'limit=500, remaining=3, reset=9',
      'x-ratelimit-remaining': ['499'],
      'x-rate-limit-policy': 'app-7',
      'x-rate-limit': 'app-2481638fb',
      'set-cookie': ['user=ana'],
      'x-request-id': 'f00-ana',
      'x-user': '4917',
      age: '7',
    }
    expect(anonymize([exchange({}, { headers })]).answers[0]!.headers).toEqual({
      'retry-after': '30',
      'content-type': 'application/json; charset=utf-8',
      'content-encoding': 'gzip',
      ratelimit: 'limit=500, remaining=3, reset=9',
      'x-ratelimit-remaining': '499',
      age: '7',
    })
  })

  test('has no parameters of the configuration', () => {
    const path = '/calls?uid=ana+torres&tag=vip&status=ended&startedAt=1790000000&page=2&perPage=100'
    expect(anonymize([exchange({}, { path })]).answers[0]!.path).toBe('/calls?page=2&perPage=100')
  })

  test('keeps the path of the id that no call has', () => {
    const path = '/calls/callwatch-knows-no-such-call'
    expect(anonymize([exchange({}, { path })]).answers[0]!.path).toBe(path)
  })

  test.each([[[CALL]], [CALL], [{ data: CALL }], [{ data: [CALL] }]])('knows calls in each form', (body) => {
    const text = JSON.stringify(bodyOf(body))
    expect(text).toContain('"totalAudioMinutes":1.5')
    expect(text).not.toMatch(/[Aa]na\b/)
  })

  test('replaces all of a body that is not JSON', () => {
    expect(bodyOf('<h1>Hello Ana</h1>')).toMatch(/^<[a-z][1-9]>[A-Z][a-z]{4} [A-Z][a-z]{2}<\/[a-z][1-9]>$/)
    expect(bodyOf('<h1>Hello Ana</h1>')).not.toMatch(/Hello|Ana/)
  })
})

describe('of any answer', () => {
  /** The names and words that stay. */
  const WHITELIST = new Set([
    ...'data meta pagination error code message details devMessage source total count per_page current_page'.split(' '),
    ...'total_pages sessionId mid initiator receiver type mode status receiverType totalAudioMinutes'.split(' '),
    ...'totalVideoMinutes totalDurationInMinutes totalDuration totalParticipants hasRecording hasTranscription'.split(
      ' ',
    ),
    ...'initiatedAt startedAt endedAt participants recordings transcriptions tags metaData uid deviceId state'.split(
      ' ',
    ),
    ...'isJoined joinedAt leftAt rid recording_url duration startTime endTime entities entity'.split(' '),
    ...'audio video call meet presenter user users group groups initiated ongoing ended unanswered rejected'.split(' '),
    ...'canceled cancelled busy missed ERR_CALL_SESSION_NOT_FOUND true false'.split(' '),
  ])
  const NUMBERS = /^(?:total|count|per_page|current_page|duration|isJoined|has)/
  /** A number that is too small for a time stays. */
  const TIMES = /At$|Time$/

  const name = oneof(constantFrom(...WHITELIST), string({ unit: 'grapheme', maxLength: 20 }))
  const { tree } = letrec((tie) => ({
    tree: oneof(
      { maxDepth: 6 },
      string({ unit: 'grapheme', minLength: 4, maxLength: 30 }),
      constantFrom(...WHITELIST),
      stringMatching(/^\d{4,9}$/),
      integer({ min: 1000 }),
      constantFrom(true, false, null),
      array(tie('tree'), { maxLength: 4 }),
      dictionary(name, tie('tree'), { maxKeys: 6 }),
    ),
  }))

  /** The texts and numbers that must not stay: with four letters or digits, or more. */
  function secretsIn(value: unknown, field = ''): string[] {
    if (typeof value === 'string')
      return /(?:[\p{L}\p{N}][^\p{L}\p{N}]*){4}/u.test(value) && !stays(value, field) ? [value] : []
    if (typeof value === 'number') return NUMBERS.test(field) || TIMES.test(field) ? [] : [String(value)]
    if (typeof value !== 'object' || value === null) return []
    if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item, field))
    return Object.entries(value).flatMap(([key, item]) => [...secretsIn(key), ...secretsIn(item, key)])
  }
  const stays = (text: string, field: string) =>
    WHITELIST.has(text) ||
    text.split('_').every((word) => WHITELIST.has(word.trim().toLowerCase())) ||
    (NUMBERS.test(field) && /^[\d.:]+$/.test(text)) ||
    (TIMES.test(field) && /^\d{1,9}$/.test(text))

  test('no text of four letters or digits stays that is not documented', { timeout: 60_000 }, () => {
    assert(
      property(array(oneof(tree, record({ data: array(tree), error: tree })), { maxLength: 4 }), (bodies) => {
        const { answers } = anonymize(bodies.map((body) => exchange(body)))
        const kept = new Set(answers.flatMap(({ body }) => textsIn(body)))
        const secrets = bodies.flatMap((body) => secretsIn(body))
        expect(secrets.filter((secret) => kept.has(secret))).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })

  test('its form stays: types, lengths, and the number of fields', () => {
    const formOf = (value: unknown): unknown => {
      if (typeof value === 'string') return value.length
      if (Array.isArray(value)) return value.map(formOf)
      if (typeof value !== 'object' || value === null) return typeof value
      return Object.values(value).map(formOf)
    }
    assert(
      property(tree, (body) => {
        expect(formOf(bodyOf(body))).toEqual(formOf(body))
      }),
    )
  })
})
