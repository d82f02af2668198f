import { chance, whole, type Random } from '../random.ts'
import { errorReply, htmlReply, type Reply } from './http.ts'

/**
 * Returns what the client gets instead of `reply`. `at` is the time in the Date header (UNIX seconds). A Retry-After that is
 * a date uses the same clock.
 */
type Fault = (context: { reply: Reply; at: number; random: Random }) => Reply

/** All faults, by their names in the switch `fault`. To add one, add an entry here. */
export const faults = {
  /** The service fails, and says so in its own form. */
  http_500: () => errorReply(500, 'ERR_INTERNAL_SERVER_ERROR', 'Something went wrong.'),
  /** The service fails, and its server says so in HTML. */
  html_500: () => htmlReply(500, '500 Internal Server Error'),
  /** A proxy in front of the service answers in HTML. */
  http_502: () => htmlReply(502, '502 Bad Gateway'),
  /** A proxy cannot reach the service, and says so in HTML. In half of the cases it says when to retry. */
  http_503: ({ at, random }) => {
    const reply = htmlReply(503, '503 Service Temporarily Unavailable')
    if (chance(random, 0.5)) return reply
    return { ...reply, headers: { ...reply.headers, 'Retry-After': drawRetryAfter(random, at) } }
  },
  /** 429 with Retry-After in either form, although the limit is not reached. */
  rate_limited: ({ at, random }) =>
    errorReply(429, 'ERR_TOO_MANY_REQUESTS', 'Too many requests.', { 'Retry-After': drawRetryAfter(random, at) }),
  /** The connection is reset before the first byte of the answer. */
  reset: () => ({ status: 0, headers: {}, body: '', delivery: 'reset' }),
  /** Nothing is sent, and the connection stays open. */
  hang: () => ({ status: 0, headers: {}, body: '', delivery: 'hang' }),
  /** The right answer, a few bytes at a time. It never pauses for long, but hardly ever ends. */
  drip: ({ reply }) => ({ ...reply, delivery: 'drip' }),
  /** The headers promise the whole answer, but the connection ends in the middle of it. */
  truncated: ({ reply }) => ({ ...reply, delivery: 'truncated' }),
  /** Status 200 without a body. */
  empty: ({ reply }) => ({ ...reply, status: 200, body: '' }),
  /** Status 200, with a page of something in front of the service. */
  html_200: () => htmlReply(200, 'Down for maintenance'),
  /** Status 200, with an error in the body. */
  error_200: () => errorReply(200, 'ERR_INTERNAL_SERVER_ERROR', 'Something went wrong.'),
} satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

export const faultNames = Object.keys(faults).filter((name): name is FaultName => Object.hasOwn(faults, name))

/** The fault of one request, if any. Draws once per request, whatever the probabilities are. */
export function drawFault<Name extends string>(
  random: Random,
  names: readonly Name[],
  probabilities: Partial<Record<Name, number>>,
): Name | undefined {
  let left = random()
  for (const name of names) {
    left -= probabilities[name] ?? 0
    if (left < 0) return name
  }
  return undefined
}

/** A Retry-After 1 to 3 s ahead. Half of them are seconds, half are dates (RFC 9110 §10.2.3). */
function drawRetryAfter(random: Random, at: number): string {
  const seconds = whole(random, 1, 3)
  return chance(random, 0.5) ? String(seconds) : new Date(Math.ceil(at + seconds) * 1000).toUTCString()
}

/**
 * What may go wrong with a webhook:
 *
 * - `lost`: it never comes
 * - `late`: it comes 5 to 60 s late
 * - `twice`: it comes again after 10 s
 * - `reordered`: later ones overtake it
 * - `other_app`: the same of another app comes, too
 * - `forged`: another one with a wrong password comes, too
 */
export const webhookFaultNames = ['lost', 'late', 'twice', 'reordered', 'other_app', 'forged'] as const

export type WebhookFault = (typeof webhookFaultNames)[number]
