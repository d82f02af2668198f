import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { MATCH_KEYS, type AlertMatch } from '../../alerts/match-keys.ts'
import { MOMENT, readMoment } from '../../history/moment.ts'
import { MODES, RECEIVER_TYPES, TYPES } from '../../ledger/call.ts'
import { isTimezone } from '../../schema/timezone.ts'
import { BadRequest } from '../problem.ts'

/** Names, separated by commas or given several times. */
export const list = z
  .union([z.string(), z.array(z.string())])
  .transform((text) => [text].flat().flatMap((names) => names.split(',')))

/** The parameters of a period of some targets. */
export const period = {
  since: z.string(`is required: ${MOMENT}`).describe(`Since then: ${MOMENT}`),
  until: z.string().optional().describe('Before then; default: now'),
  zone: z
    .string()
    .refine(isTimezone, 'must be a time zone such as Europe/Berlin, or UTC')
    .default('UTC')
    .describe('Of dates and days'),
  target: list.optional().describe('Names of targets, separated by commas'),
}

const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, `must be one of ${values.join(', ')}`).optional()

/** The labels of calls as parameters. */
export const callLabels = { type: oneOf(TYPES), mode: oneOf(MODES), receiver_type: oneOf(RECEIVER_TYPES) }

/** Aborts when the client has left. */
export function abortedBy({ raw }: FastifyReply): AbortSignal {
  const aborting = new AbortController()
  raw.once('close', () => aborting.abort())
  return aborting.signal
}

/**
 * The period that the parameters name (UNIX seconds); `to` is undefined where it has no end.
 *
 * @param now the host's clock (UNIX seconds)
 * @throws {BadRequest}
 */
export function periodOf(
  { since, until, zone }: { since: string; until?: string | undefined; zone: string },
  now: number,
) {
  const moment = (name: string, text: string) => {
    const time = readMoment(text, zone, now)
    if (time === undefined) throw new BadRequest(`${name} must be ${MOMENT}`)
    return time
  }
  const [from, to] = [moment('since', since), until === undefined ? undefined : moment('until', until)]
  if (from >= (to ?? now)) throw new BadRequest('since must be before until')
  return { from, to }
}

const value = z.string().min(1).max(210).optional()

/** A match of alerts in a request. */
export const alertMatch = z.strictObject({
  alert: value.describe('Name of the rule; this and the others as they are, or `=~` and a regular expression'),
  severity: value,
  target: value,
  type: value,
  mode: value,
  receiver_type: value,
})

/** The values that are given. */
export function givenIn(match: z.output<typeof alertMatch>): AlertMatch {
  return Object.fromEntries(MATCH_KEYS.flatMap((key) => (match[key] === undefined ? [] : [[key, match[key]]])))
}
