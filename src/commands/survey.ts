import { systemClock } from '../clock/clock.ts'
import { FINAL_STATUSES } from '../ledger/call.ts'
import { knownOrder, addToEvidence, NO_EVIDENCE, ownStart, STEPS_NEEDED } from '../polling/list/list-order.ts'
import type { PollConfig } from '../polling/poll-section.ts'
import { isMap, valueAt } from '../schema/path.ts'
import { kindOf } from '../service/answer-fields.ts'
import { header, rateLimitWindow, serviceClock } from '../service/answer-headers.ts'
import { callsClient, rowsOf, UNKNOWN_ID, type CallPage } from '../service/calls-client.ts'
import { isEnvelope, type Exchange } from '../service/exchange.ts'
import { ServiceError } from '../service/service-error.ts'
import type { TargetConfig } from '../service/target-section.ts'
import type { Transport } from '../service/transport.ts'
import { MEANINGS, type Finding } from '../views/commands/check.ts'

type Check = Finding['check']

/** The most calls that poll.page_size may request. */
const LARGE_PAGE = 1000
/** Errors that say something of the request. After others, nothing more is requested. */
const REFUSALS = ['refused', 'not_found', 'invalid']
/** A smaller difference between the clocks is harmless, or comes from the duration of the request (seconds). */
export const MAX_SKEW_SECONDS = 60
const MAX_NAMES = 10

/** What is known of a page. A page that the service refused, or that was not requested, is NO_PAGE. */
type SeenPage = Pick<CallPage, 'items' | 'calls' | 'total' | 'serviceTime' | 'hostTime'>
const NO_PAGE: SeenPage = { items: 0, calls: [], total: undefined, serviceTime: 0, hostTime: 0 }

/** A target, and where its transport adds what it receives. */
type Surveyed = { target: TargetConfig; poll: PollConfig; transport: Transport; exchanges: readonly Exchange[] }

/** Finds out what the service does, with at most seven requests. If one fails, the findings show what the others answered. */
export async function survey(surveyed: Surveyed): Promise<Finding[]> {
  const { webhook } = surveyed.target
  const seen = await requestAll(surveyed)
  const stopped = seen.stop === undefined ? [] : [finding('stopped', false, `after an error (${seen.stop})`)]
  return [
    ...ofList(seen),
    ...ofCalls(seen),
    ...ofGetCall(seen),
    ...ofAnswers(seen),
    ...(webhook ? [WEBHOOKS] : []),
    ...stopped,
  ]
}

type Seen = Awaited<ReturnType<typeof requestAll>>

async function requestAll({ target, poll, transport, exchanges }: Surveyed) {
  const unknown = new Set<string>()
  // Of times that cannot be read, a warning tells.
  const onUnknown = (field: string, value: string) => void (field !== 'time' && unknown.add(`${field} ${value}`))
  const client = (pageSize: number) =>
    callsClient(transport, { ...target, ...poll, pageSize, wall: systemClock.wall, onUnknown })
  const seen: { stop?: string } = {}
  const request = async <Answer>(send: (signal: AbortSignal) => Promise<Answer>): Promise<Answer | undefined> => {
    if (seen.stop !== undefined) return undefined
    return send(AbortSignal.timeout(poll.timeout * 1000)).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error
      if (!REFUSALS.includes(error.kind)) seen.stop = error.kind
      return undefined
    })
  }
  const list = async (page: number, size = poll.pageSize): Promise<SeenPage> =>
    (await request((signal) => client(size).listCalls(page, signal))) ?? NO_PAGE
  const get = async (id: string) => {
    const at = exchanges.length
    const answer = await request((signal) => client(1).getCall(id, signal))
    return { call: answer?.calls[0], exchange: seen.stop === undefined ? exchanges[at] : undefined }
  }

  const page = await list(1)
  const known = page.calls[0] && (await get(page.calls[0].id))
  const missing = await get(UNKNOWN_ID)
  // Some services fail after the last page, so that these requests come last.
  const second = await list(2)
  const pages = page.items === 0 ? 1 : Math.max(1, Math.ceil((page.total ?? 0) / page.items))
  const last = pages > 2 ? await list(pages) : [page, second][pages - 1]!
  const beyond = pages > 1 ? await list(pages + 1) : second
  const listed = (pages - 1) * page.items + last.items + beyond.items
  // The total of the later answer has the calls that began meanwhile.
  const isTotal = [last.total, beyond.total].includes(listed)
  const shown = exchanges.flatMap(callsOf)
  const isCheap = (JSON.stringify(shown).length / shown.length) * LARGE_PAGE < poll.maxAnswerBytes
  const isLarger = isCheap && poll.pageSize < LARGE_PAGE && second.items > 0
  const large = isLarger ? await list(1, LARGE_PAGE) : NO_PAGE
  const rows = exchanges.flatMap(callsOf)
  return { poll, exchanges, unknown, ...seen, page, second, pages, isTotal, last, beyond, known, missing, large, rows }
}

type Row = Record<string, unknown>

/** The calls of an answer, in any form. */
const callsOf = ({ body }: Exchange) => rowsOf(body).filter((row): row is Row => isMap(row) && 'sessionId' in row)

/** @param isGood undefined if the answers do not show it */
function finding(check: Check, isGood: boolean | undefined, text: string, meaning: string = MEANINGS[check]): Finding {
  if (isGood === undefined) return { check, result: 'not_checked', message: 'not checked: the answers do not show it' }
  return { check, result: isGood ? 'ok' : 'notice', message: isGood ? text : `${text}: ${meaning}` }
}

const WEBHOOKS: Finding = {
  check: 'webhooks',
  result: 'not_checked',
  message: `not checked: only the daemon gets them, and \`callwatch status\` says if none has come; then ${MEANINGS.webhooks}`,
}

function ofList(seen: Seen): Finding[] {
  const { page, second, large, poll, stop } = seen
  const refused = stop === undefined ? false : undefined
  if (page === NO_PAGE) {
    const text = `a page of ${poll.pageSize} calls is refused`
    return [finding('page_size', refused, text, 'nothing can be counted; lower poll.page_size')]
  }
  const evidence = addToEvidence(NO_EVIDENCE, [...page.calls, ...second.calls])
  const order = knownOrder(evidence)
  const isOrdered = evidence.rises + evidence.falls < STEPS_NEEDED ? undefined : order !== 'unknown'
  const hasSize = page.items < poll.pageSize && second.items === 0 ? undefined : page.items === poll.pageSize
  const larger = large.items > 0 ? `, ${large.items} of ${LARGE_PAGE}` : ''
  return [
    finding('order', isOrdered, isOrdered ? order : 'not by time'),
    finding('page_size', hasSize, `${page.items} calls of ${poll.pageSize} requested${larger}`),
    ...ofTotal(seen),
    requests(seen, order),
  ]
}

function ofTotal({ page, last, beyond, pages, isTotal, stop }: Seen): Finding[] {
  if (page.total === undefined) return [finding('total', false, 'none')]
  const isShown = last !== NO_PAGE
  const isDeep = isShown || (stop === undefined ? false : undefined)
  const ends = isTotal ? '' : `, but page ${pages} has ${last.items} calls, and the next one ${beyond.items}`
  return [
    finding('depth', isDeep, `page ${pages}, the last one by the total, is ${isDeep ? 'shown' : 'refused'}`),
    finding('total', isShown ? isTotal : undefined, `${page.total}${ends}`),
  ]
}

/** Without Get Call for open calls further back: how many there are changes. The newest page shows how often calls began lately. */
function requests({ page, second, last, poll, ...seen }: Seen, order: ReturnType<typeof knownOrder>): Finding {
  const { calls, items } = order === 'oldest first' ? last : page
  const starts = calls.flatMap((call) => ownStart(call) ?? [])
  const secondsPerPage = ((Math.max(...starts) - Math.min(...starts)) / items) * page.items
  const pages = seen.isTotal || second.items === 0 ? seen.pages : Infinity
  const isKnown = order !== 'unknown' && starts.length > 1
  const pagesOf = (seconds: number) => (isKnown ? Math.min(pages, Math.ceil(seconds / secondsPerPage)) : pages)
  const [ofPoll, ofSweep] = [pagesOf(poll.interval), pagesOf(poll.lookback)]
  const perMinute = Math.ceil((60 * ofPoll) / poll.interval + (60 * ofSweep) / poll.sweepInterval)
  const most = poll.maxRequestsPerMinute
  const text = `${ofPoll} for a poll and ${ofSweep} for a sweep, so about ${perMinute} a minute of at most ${most}`
  return finding('requests', Number.isFinite(perMinute) ? perMinute <= most : undefined, text)
}

function ofCalls({ rows, unknown, ...seen }: Seen): Finding[] {
  const inside = (key: string) => rows.flatMap((row) => (Array.isArray(row[key]) ? row[key].filter(isMap) : []))
  const parts = { call: rows, participant: inside('participants'), recording: inside('recordings') }
  const fields = Object.entries(parts).flatMap(([form, objects]) => {
    const names = [...new Set(objects.flatMap(Object.keys))]
    return names.filter((name) => kindOf(form, name) === undefined).map((name) => `${form}.${name}`)
  })
  const sessions = [...Map.groupBy(rows, ({ sessionId }) => sessionId).values()]
  const timesOf = (session: typeof rows, field: string) => session.flatMap((row) => Number(row[field]) || [])
  // Get Call may omit a time that the list has.
  const again = sessions.filter((session) =>
    ['initiatedAt', 'startedAt'].some((field) => new Set(timesOf(session, field)).size > 1),
  ).length
  const sessionsWith = (field: string) => sessions.filter((session) => session.some((row) => row[field])).length
  const [withStart, withMid] = [sessionsWith('initiatedAt'), sessionsWith('mid')]
  const ifSeen = (isGood: boolean) => (rows.length === 0 ? undefined : isGood)
  return [
    finding('fields', ifSeen(fields.length === 0), listOf(fields)),
    finding('values', ifSeen(unknown.size === 0), listOf([...unknown])),
    finding('session_ids', ifSeen(again === 0), `${again} of ${sessions.length} are used for several calls`),
    finding('initiated_at', ifSeen(withStart === sessions.length), `in ${withStart} of ${sessions.length} sessions`),
    ...ofListed(seen),
    finding('mid', ifSeen(withMid > 0), `in ${withMid} of ${sessions.length} sessions`),
  ]
}

/** What the list shows, neither good nor bad. */
function ofListed({ exchanges, poll }: Pick<Seen, 'exchanges' | 'poll'>): Finding[] {
  const rows = exchanges.filter(({ path }) => path.startsWith('/calls?')).flatMap(callsOf)
  const keyOf = ({ sessionId, mid, initiatedAt }: Row) => JSON.stringify([sessionId, mid, initiatedAt])
  // Pages overlap.
  const calls = [...new Map(rows.map((row) => [keyOf(row), row])).values()]
  return [endedAt(calls, poll), meetingIds(calls)]
}

function endedAt(calls: readonly Row[], { statusMap }: PollConfig): Finding {
  const statusOf = ({ status }: Row) => {
    const spelled = String(status).trim().toLowerCase()
    return statusMap[spelled] ?? spelled
  }
  const byStatus = Map.groupBy(calls, statusOf)
  const counts = FINAL_STATUSES.flatMap((status) => {
    const ended = byStatus.get(status)
    return ended === undefined
      ? []
      : { status, of: ended.length, absent: ended.filter((call) => !call['endedAt']).length }
  }).toSorted((a, b) => b.absent - a.absent)
  const text = `absent in ${counts.map(({ status, of, absent }) => `${absent} of ${of} ${status}`).join(', ')}`
  const isAbsent = counts.some(({ absent }) => absent > 0)
  return finding('ended_at', counts.length > 0 || undefined, isAbsent ? `${text}; ${MEANINGS.ended_at}` : text)
}

function meetingIds(calls: readonly Row[]): Finding {
  const meetings = calls.filter(({ mode }) => typeof mode === 'string' && mode !== 'call')
  const own = meetings.filter(({ sessionId }) => !/^v1\.[^.]+\.[^.]+\../.test(String(sessionId))).length
  const text = `${meetings.length - own} of ${meetings.length} begin with v1.<region>.<appId>.`
  const others = `, ${own} are ids that the app chose; ${MEANINGS.meeting_ids}`
  return finding('meeting_ids', meetings.length > 0 || undefined, own > 0 ? text + others : text)
}

/** At most ten names. A name of other characters may be a value, and is not shown. */
function listOf(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => (/^[\w. -]{1,60}$/.test(name) ? name : 'an unusual name'))
  return shown.join(', ') || 'all are known'
}

function ofGetCall({ known, missing }: Seen): Finding[] {
  const { body, status } = known?.exchange ?? {}
  const data = isEnvelope(body) ? body['data'] : body
  const form = Array.isArray(data) ? `list of ${data.length}` : isMap(data) ? 'object' : 'no call'
  const isKnown = known?.exchange && known.call !== undefined
  const code = 'ERR_CALL_SESSION_NOT_FOUND'
  const isMissing = missing.exchange && valueAt(missing.exchange.body, ['error', 'code']) === code
  return [
    finding('get_call', isKnown, `${status}, ${isEnvelope(body) ? '' : 'bare '}${form}`),
    finding('unknown_id', isMissing, `${missing.exchange?.status} ${isMissing ? 'with' : 'without'} ${code}`),
  ]
}

function ofAnswers({ page, exchanges }: Seen): Finding[] {
  const ahead = page.serviceTime - page.hostTime
  const isDated = exchanges.every((each) => serviceClock(each) !== undefined)
  const date = `${isDated ? 'each answer has a' : 'answers have no'} Date; the clock of the service is ${Math.round(ahead / 60)} min ahead`
  // An error may come without the headers.
  const left = exchanges.flatMap((each) => rateLimitWindow(each, 0)?.remaining ?? []).at(-1)
  const encoding = exchanges.map((each) => header(each, 'content-encoding')).find(Boolean)
  return [
    finding('clock', page === NO_PAGE ? undefined : isDated && Math.abs(ahead) <= MAX_SKEW_SECONDS, date),
    finding('rate_limit', left !== undefined, left === undefined ? 'no headers' : `${left} requests are left`),
    finding('compression', encoding !== undefined, encoding ?? 'none'),
  ]
}
