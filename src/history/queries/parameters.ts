import * as z from 'zod'
import { MODES, RECEIVER_TYPES, TYPES } from '../../ledger/call.ts'
import { isTimezone } from '../../schema/timezone.ts'
import { MOMENT, MOMENT_IN_UTC, parseMoment } from '../moment.ts'
import { QueryError } from '../../schema/query-error.ts'

/** Names, separated by commas or given several times. */
export const list = z
  .union([z.string(), z.array(z.string())])
  .transform((text) => [text].flat().flatMap((names) => names.split(',')))

export const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')

/** A time in UTC. */
export const moment = z
  .string()
  .refine((text) => parseMoment(text, undefined, 0) !== undefined, `must be ${MOMENT_IN_UTC}`)
  .optional()

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

type Given = { since: string; until?: string | undefined; zone: string }

/**
 * The period that parameters or options name (UNIX seconds). An end that is not given is undefined.
 *
 * @param now the host's clock (UNIX seconds)
 * @param prefix comes before the names in messages, such as the dashes of options
 * @throws {QueryError}
 */
export function periodOf({ since, until, zone }: Given, now: number, prefix = '') {
  const from = givenTime(`${prefix}since`, since, zone, now)
  const to = until === undefined ? undefined : givenTime(`${prefix}until`, until, zone, now)
  if (from >= (to ?? now)) throw new QueryError(`${prefix}since must be before ${prefix}until`)
  return { from, to }
}

/**
 * The time that a parameter or an option names (UNIX seconds).
 *
 * @param zone the time zone of dates
 * @param now the host's clock (UNIX seconds)
 * @throws {QueryError}
 */
export function givenTime(name: string, text: string, zone: string, now: number): number {
  const time = parseMoment(text, zone, now)
  if (time === undefined) throw new QueryError(`${name} ${text}: expected ${MOMENT}`)
  return time
}
