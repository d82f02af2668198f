import { z } from 'zod'
import { duration, longestTimer } from '../schema/duration.ts'
import { oneOf, wholeNumber } from '../schema/scalars.ts'
import { completed, section } from '../schema/section.ts'
import { variables } from '../schema/variables.ts'

/** Twice the size of a call with 50 participants, the most that a call has. */
const BYTES_PER_CALL = 32 * 1024
/** A minimum, for services that ignore the page size. */
const MIN_ANSWER = 1024 * 1024
const DEFAULT_STATUS_MAP = { cancelled: 'canceled', missed: 'unanswered', busy: 'rejected' } as const

const pollKeys = section({
  interval: duration({ max: longestTimer })
    .prefault('15s')
    .describe('Time between the starts of two polls, at least 1s')
    .register(variables, { name: 'CALLWATCH_POLL_INTERVAL' }),
  page_size: wholeNumber(1, 1000).prefault(100).describe('Calls in one page of the list'),
  timeout: duration({ max: longestTimer }).prefault('10s').describe('How long one request may take'),
  retries: wholeNumber(0, 20).prefault(4).describe('Retries of a failed request'),
  lookback: duration().prefault('24h').describe('How far back a call may still change'),
  sweep_interval: duration({ max: longestTimer }).prefault('15m').describe('How often the whole lookback is listed'),
  max_requests_per_minute: wholeNumber(1, 1_000_000)
    .prefault(200)
    .describe('For all targets of an app together; never exceeded'),
  baseline: oneOf(['skip', 'count']).prefault('count').describe('Whether calls count that ended before the set-up'),
  details: oneOf(['missing', 'never'])
    .prefault('missing')
    .describe('Whether a final call without participants is requested by its id'),
  status_map: z
    .record(z.string(), oneOf(['initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'canceled']))
    .prefault({})
    .describe('Other words for a status, added to cancelled: canceled, missed: unanswered, busy: rejected'),
})

/** The section `poll`. */
export const pollSection = completed(pollKeys, ({ statusMap, ...poll }) => {
  const lowerCase = Object.entries(statusMap).map(([spelling, status]) => [spelling.toLowerCase(), status])
  const spellings: typeof statusMap = { ...DEFAULT_STATUS_MAP, ...Object.fromEntries(lowerCase) }
  return {
    ...poll,
    /** A longer answer is an error. */
    maxAnswerBytes: Math.max(MIN_ANSWER, poll.pageSize * BYTES_PER_CALL),
    statusMap: spellings,
  }
})

/** Durations are in seconds, spellings of statuses in lower case. */
export type PollConfig = z.output<typeof pollSection>
