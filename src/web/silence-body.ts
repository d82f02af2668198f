import * as z from 'zod'
import { LONGEST_SILENCE, MATCH_KEYS, unknownIn, type KnownNames } from '../alerts/known-match.ts'
import type { AlertMatch } from '../alerts/match.ts'

const label = z.string().min(1).max(200).optional()
const silenceBody = z.strictObject({
  match: z.strictObject(Object.fromEntries(MATCH_KEYS.map((key) => [key, label]))).default({}),
  all: z.literal(true, { error: 'expected true, or nothing' }).optional(),
  for: z
    .string({ error: 'expected a duration such as "2h"' })
    .transform(secondsOf)
    .refine((seconds) => seconds > 0 && seconds <= LONGEST_SILENCE, {
      error: 'expected a duration such as "30m", "2h" or "7d", above 0 and at most 366d',
    }),
  reason: z.string().max(1000).default(''),
})

/** What a POST asks for: whom it silences, for how many seconds, and why; or what is wrong with it, in sentences. */
export type AskedSilence = { match: AlertMatch; seconds: number; reason: string } | { error: string }

/** Reads the body of a POST; what it matches has to exist, and to match everything it has to say so. */
export function readSilence(body: unknown, names: KnownNames): AskedSilence {
  const { data, error } = silenceBody.safeParse(body)
  if (data === undefined) return { error: z.prettifyError(error) }
  const match: AlertMatch = Object.fromEntries(Object.entries(data.match).filter(([, value]) => value !== undefined))
  const isEmpty = Object.keys(match).length === 0
  if (isEmpty && data.all === undefined) {
    return {
      error: 'nothing to match; expected `match` with some of its keys, or `"all": true` to silence every alert',
    }
  }
  if (!isEmpty && data.all === true) return { error: '`all` beside a `match`; expected one of them' }
  const unknown = unknownIn(match, names)
  return unknown === undefined ? { match, seconds: data.for, reason: data.reason } : { error: unknown }
}

/**
 * Seconds of a duration as the configuration and the commands take it (config/schema/duration.ts, which is not to be imported
 * here); NaN of anything else.
 */
function secondsOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? []
  const milliseconds: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
  return (Number(count) * (milliseconds[unit] ?? Number.NaN)) / 1000
}
