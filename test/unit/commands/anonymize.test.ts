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
import { anonymize } from '../../../src/commands/anonymize.ts'
import type { Exchange } from '../../../src/service/exchange.ts'
import { runs } from '../../kit/runs.ts'

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

  test('keeps that an id begins with v1., which shows its form', () => {
    const ids = ['v1.eu.app-anastasia7.room of Anastasia', 'v1.', 'v1.eu', 'room-v1.anastasia']
    const kept = textsIn(bodyOf(ids.map((sessionId) => ({ sessionId })))).filter((text) => text !== 'sessionId')
    expect(kept).toEqual([
      expect.stringMatching(/^v1\.[a-z]{2}\.[a-z]{3}-[a-z]{9}\d\.[a-z]{4} [a-z]{2} [A-Z][a-z]{8}$/),
      'v1.',
      expect.stringMatching(/^v1\.[a-z]{2}$/),
      expect.stringMatching(/^[a-z]{4}-[a-z]\d\.[a-z]{9}$/),
    ])
    expect(kept.join(' ')).not.toMatch(/anastasia/i)
  })

  describe('has an undocumented name of a field', () => {
    /** The rows of two calls, with these fields and entries. */
    const twice = (row: object, participant: object = {}, recording: object = {}) => ({
      data: ['s-1', 's-2'].map((sessionId) => ({
        sessionId,
        participants: [{ uid: 'ana', ...participant }],
        recordings: [{ rid: 'r1', ...recording }],
        ...row,
      })),
    })

    test('if the rows of several calls have it, but none of its values', () => {
      const row = { endReason: 'hung up by Anastasia', last_seen: NOW, device: { Anastasia: 'phone' } }
      const text = JSON.stringify(bodyOf(twice(row, { networkType: 'wifi of Anastasia' }, { codec: 'h264' })))
      for (const name of ['endReason', 'last_seen', 'device', 'networkType', 'codec'])
        expect(text).toContain(`"${name}":`)
      expect(text).not.toMatch(/Anastasia|hung|phone|wifi|h264|1790000000/)
    })

    test('not if one call alone has it, in whatever number of answers and rows', () => {
      const row = { sessionId: 's-1', endReason: 'x' }
      const { answers } = anonymize([exchange({ data: [row, row] }), exchange({ data: row }, { path: '/calls/s-1' })])
      expect(JSON.stringify(answers)).not.toContain('endReason')
    })

    test.each<[string, object]>([
      ['below metaData', { metaData: { zoequist: 1 } }],
      ['below data', { data: { entities: { zoequist: { entity: { zoequist: 1 } } } } }],
      ['below a field that is not documented', { votes: { zoequist: 1 } }],
      ['in a list below such a field', { votes: [{ zoequist: 1 }] }],
      [
        'in an object in place of a list',
        { participants: { zoequist: { isJoined: true } }, recordings: { zoequist: {} } },
      ],
      ['in an entry without a documented field', { participants: [{ zoequist: { isJoined: true } }] }],
      ['with a digit', { zoequist7: 1 }],
      ['with a space', { 'zoequist braun': 1 }],
      ['with another letter than those of English', { zoequistë: 1 }],
      ['of more than 32 letters', { ['zoequist'.repeat(5)]: 1 }],
    ])('not %s', (_where, row) => {
      expect(JSON.stringify(bodyOf(twice(row)))).not.toContain('zoequist')
    })

    test('not of one letter', () => {
      expect(textsIn(bodyOf(twice({ z: 1 })))).not.toContain('z')
    })

    test.each([
      ['the id of a user', { zoequist: 1, initiator: 'zoequist' }],
      ['one in another case', { zoequist: 1, receiver: 'ZOEQUIST' }],
      ['a word of a name', { zoequist: 1, data: { entities: { initiator: { entity: { name: 'Zoequist Braun' } } } } }],
      ['one of several words', { zoequist_role: 1, roleOfZoequist: 1, tags: ['Zoequist Braun'] }],
      ['the words of a name as one', { zoequistbraun: 1, tags: ['Zoequist Braun'] }],
      ['a key of another object', { zoequist: 1, metaData: { zoequist: 1 } }],
      ['the words of a name', { zoequistBraun: 1, zoequist_braun: 1, tags: ['Braun, Zoequist'] }],
    ])('not if it is %s', (_what, row) => {
      expect(JSON.stringify(bodyOf(twice(row)))).not.toMatch(/zoequist/i)
    })
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
      { numRuns: runs(1000) },
    )
  })

  test('no name of a person stays that is a key where an app writes what it wants, however many calls have it', () => {
    const people = constantFrom('zoequist', 'anaTorres', 'li_wei_hua', 'Bobbington')
    const { free } = letrec((tie) => ({
      free: oneof(
        { maxDepth: 3 },
        people,
        integer(),
        array(tie('free'), { maxLength: 2 }),
        dictionary(people, tie('free'), { minKeys: 1 }),
      ),
    }))
    const place = constantFrom(
      'metaData',
      'data',
      'tags',
      'transcriptions',
      'votes',
      'initiator',
      'type',
      'totalDuration',
      'startedAt',
    )
    assert(
      property(array(dictionary(place, free, { minKeys: 1 }), { minLength: 2, maxLength: 6 }), (rows) => {
        const calls = rows.map((row, i) => ({ sessionId: `s-${i}`, ...row }))
        expect(
          textsIn(bodyOf({ data: calls })).filter((text) => /zoequist|anaTorres|li_wei_hua|Bobbington/i.test(text)),
        ).toEqual([])
      }),
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
      { examples: [[[{ sessionId: 's-1', startedAt: '0000', endedAt: '01700000000' }]]] },
    )
  })
})
