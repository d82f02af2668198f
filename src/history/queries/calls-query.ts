import * as z from 'zod'
import { sessionIds, type NamedApp } from '../../ledger/session-id.ts'
import { FINAL_STATUSES, OPEN_STATUSES } from '../../ledger/call.ts'
import { HISTORY_STATUSES } from '../call-filter.ts'
import type { CallSelection } from '../calls-pages.ts'
import { readCursor } from './cursor.ts'
import { parseMoment } from '../moment.ts'
import { callLabels, flag, list, moment } from './parameters.ts'
import { DURATION_FORM, parseDuration } from '../../schema/duration-text.ts'
import { QueryError } from '../../schema/query-error.ts'

/** The most calls of a page; the next page has the rest. */
export const MAX_CALLS = 10_000

const ENDS = [...FINAL_STATUSES, 'lost'] as const

/** The parameters of a query of calls. */
export const callsParameters = z.strictObject({
  since: moment.describe(
    'Calls that finished or were lost since then, newest first; default: calls in progress, and with session_id all calls',
  ),
  until: moment.describe('Of these the ones before then'),
  began: flag.optional().describe('True: since and until are of when they began'),
  target: list.optional().describe('Names of targets, separated by commas'),
  ...callLabels,
  status: list
    .pipe(z.array(z.enum(HISTORY_STATUSES, `must be some of ${HISTORY_STATUSES.join(', ')}, separated by commas`)))
    .optional()
    .describe('Some of the statuses, separated by commas; final ones and lost only with since or session_id'),
  longer_than: z
    .string()
    .regex(DURATION_FORM, 'must be a duration such as 3h')
    .optional()
    .describe('Calls in progress that began longer ago, such as 3h'),
  has_recording: flag.optional(),
  session_id: z
    .string()
    .optional()
    .describe('How the session id begins; without since, calls in progress come before finished ones'),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, 'must be a whole number from 1 to 99999')
    .transform(Number)
    .optional()
    .describe(`Calls at most; default and maximum as JSON: ${MAX_CALLS}; default as CSV and NDJSON: all`),
  format: z.enum(['json', 'csv', 'excel', 'ndjson'], 'must be json, csv, excel or ndjson').default('json'),
  cursor: z.string().optional().describe('`next` of a response to the same parameters'),
})

/**
 * The calls that checked parameters select, without their `limit`.
 *
 * @param now the service's clock (UNIX seconds)
 * @param targets by whose apps a session is found in either form of its id
 * @throws {QueryError} parameters do not fit together
 */
export function callSelection(
  query: z.output<typeof callsParameters>,
  now: number,
  targets: readonly NamedApp[],
): CallSelection {
  const { cursor } = query
  const longerThan = parseDuration(query.longer_than ?? '')
  const which = whichOf(query)
  expectTogether(query, which)
  const times = timesOf(query, now)
  const from = cursor === undefined ? {} : readCursor(cursor, which)
  if (from === undefined) throw new QueryError('cursor must be the `next` of a response to the same parameters')
  return {
    finished: which === 'inProgress' ? undefined : pagedTimes(from, times),
    isEvery: which === 'every',
    filter: {
      targets: query.target,
      type: query.type,
      mode: query.mode,
      receiverType: query.receiver_type,
      statuses: query.status,
      hasRecording: query.has_recording,
      sessionIds: query.session_id ? sessionIds(query.session_id, targets) : undefined,
    },
    isByBegin: query.began,
    ...(longerThan !== undefined && { beganBefore: now - longerThan }),
    from,
  }
}

function timesOf({ since: from = '0', until: to = '' }: z.output<typeof callsParameters>, now: number) {
  const [since = 0, until = Infinity] = [from, to].map((text) => parseMoment(text, undefined, now))
  if (since >= until) throw new QueryError('`since` must be before `until`')
  return { since, until }
}

type Which = 'inProgress' | 'finished' | 'every'

/** Who names a session and nothing that is of one kind of calls asks for all its calls. */
function whichOf({ since, session_id, longer_than, status }: z.output<typeof callsParameters>): Which {
  if (since !== undefined) return 'finished'
  const isOpen = longer_than !== undefined || status?.every((one) => one === 'initiated' || one === 'ongoing')
  return session_id && isOpen !== true ? 'every' : 'inProgress'
}

/**
 * Refuses parameters of calls in progress in a query of the history, and the other way round. With a status of the others, an empty response
 * would read as "none failed".
 */
function expectTogether({ until, began, longer_than, status }: z.output<typeof callsParameters>, which: Which): void {
  const isHistory = which === 'finished'
  if (!isHistory && until !== undefined) throw new QueryError('`until` is of finished calls: add `since`')
  if (!isHistory && began === true) throw new QueryError('`began` is of a period: add `since`')
  if (isHistory && longer_than !== undefined)
    throw new QueryError('`longer_than` is of calls in progress: leave out `since`')
  if (which === 'every') return
  const others: readonly string[] = isHistory ? OPEN_STATUSES : ENDS
  const wrong = status?.find((one) => others.includes(one))
  if (wrong === undefined) return
  const whose = isHistory ? 'calls in progress: leave out `since`' : 'finished calls: add `since`'
  throw new QueryError(`status=${wrong} is a status of ${whose}`)
}

/** All pages are of the same period, also if `since` is a duration. */
function pagedTimes({ finished }: CallSelection['from'], asked: { since: number; until: number }) {
  return finished === undefined ? asked : { since: finished.since, until: finished.until ?? Infinity }
}
