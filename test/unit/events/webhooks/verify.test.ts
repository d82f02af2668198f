import { describe, expect, test } from 'vitest'
import { isCallEvent, verifyWebhook, WebhookRefused } from '../../../../src/index.ts'
import { signedHeaders } from '../../../../src/events/webhooks/sign.ts'
import { SECRET } from '../../../kit/events/webhooks/any-webhook.ts'

const NOW = 1_795_000_000
const OTHER = `whsec_${Buffer.alloc(32, 'b').toString('base64')}`
const BODY = JSON.stringify({ id: 'a-1', type: 'callwatch.call.ended', subject: 'é' })
const signed = (secret = SECRET, at = NOW) => signedHeaders('a-1', at, BODY, [secret])
const verify = (headers: object, secret: string | string[] = SECRET, body: unknown = BODY) =>
  // oxlint-disable-next-line typescript/no-explicit-any, typescript/no-unsafe-type-assertion -- as JavaScript may call it
  verifyWebhook({ headers: headers as any, body: body as any }, secret, NOW)

describe('verifyWebhook', () => {
  test.each<[string, object]>([
    ['of Node.js', signed()],
    [
      'as some gateways write them',
      Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.replace('w', 'W'), [value]])),
    ],
    ['of the Fetch API', new Headers(signed())],
  ])('returns the event of a request with headers %s', (_, headers) => {
    const event = verify(headers)
    expect([event.id, event.subject, isCallEvent(event)]).toEqual(['a-1', 'é', true])
    expect(verify(headers, SECRET, Buffer.from(BODY))).toEqual(event)
    expect(verify(headers, SECRET, new TextEncoder().encode(BODY))).toEqual(event)
  })

  test('accepts each of several secrets, and of several signatures', () => {
    expect(verify(signed(), [OTHER, SECRET]).id).toBe('a-1')
    expect(verify(signedHeaders('a-1', NOW, BODY, [OTHER, SECRET])).id).toBe('a-1')
  })

  test.each<[string, object, string]>([
    ['no headers', {}, 'no header webhook-id'],
    ['a header twice', { ...signed(), 'webhook-id': ['a-1', 'a-1'] }, 'no header webhook-id'],
    ['another secret', signed(OTHER), 'not signed with this secret'],
    ['another id', { ...signed(), 'webhook-id': 'a-2' }, 'not signed with this secret'],
    ['an empty signature', { ...signed(), 'webhook-signature': '' }, 'not signed with this secret'],
    ['an old time', signed(SECRET, NOW - 301), 'more than 300 seconds ago'],
    ['a future time', signed(SECRET, NOW + 301), 'more than 300 seconds ago'],
    ['a time that is none', { ...signed(), 'webhook-timestamp': '1e9' }, 'is no time'],
  ])('refuses %s', (_, headers, message) => {
    expect(() => verify(headers)).toThrow(WebhookRefused)
    expect(() => verify(headers)).toThrow(message)
  })

  test.each(['', 'whsec_', 'abc', 'secret', SECRET.slice(6), undefined])(
    'takes no secret %j, whoever signed with it',
    (secret) => {
      // oxlint-disable-next-line typescript/no-explicit-any, typescript/no-unsafe-type-assertion -- as JavaScript may call it
      const given = secret as any
      const headers = signed(secret ?? '')
      expect(() => verifyWebhook({ headers, body: BODY }, given, NOW)).toThrow(TypeError)
      expect(() => verify(headers, [SECRET, given])).toThrow('is not whsec_ and base64')
      expect(() => verify(headers, [])).toThrow(TypeError)
    },
  )

  test('says so where the body was parsed before', () => {
    expect(() => verify(signed(), SECRET, JSON.parse(BODY))).toThrow('text or bytes, not parsed')
  })
})
