import { pino } from 'pino'
import { filter, firstValueFrom, Subject } from 'rxjs'
import { usageOf } from '../../kit/history/as-shown.ts'
import { targetAuditView } from '../../../src/views/commands/audit.ts'
import { auditTarget } from '../../../src/commands/audit/target.ts'
import { partsOf } from '../../../src/commands/calls/listing.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { connect } from '../../../src/pipeline/connection.ts'
import { hintQueue } from '../../../src/pipeline/hint-queue.ts'
import { pipeline } from '../../../src/pipeline/pipeline.ts'
import { openTarget, type Target, type TargetSettings } from '../../../src/pipeline/target.ts'
import { UNLIMITED } from '../../../src/polling/rate-limiter.ts'
import { callsClient } from '../../../src/service/calls-client.ts'
import type { Transport } from '../../../src/service/transport.ts'
import type { Store } from '../../../src/store/store.ts'
import { CALL_FORMATS } from '../../../src/views/call-csv.ts'
import { virtualClock, type VirtualClock } from '../../kit/virtual-clock.ts'
import { readLog } from '../../kit/events/event-problems.ts'
import { CREATED, total } from '../../kit/ledger/seen.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import type { Place } from '../../kit/store/place.ts'

/**
 * What the service shows of a session with several calls. A: a row for each. B: the latest one in the place of those before. K: as A, but
 * the room keeps its `initiatedAt`. D: as A, and two devices begin the first two in the same second.
 */
export const FORMS = ['A', 'B', 'K', 'D'] as const
export type Form = (typeof FORMS)[number]

type Call = { session: string; mode: 'meet' | 'call'; from: number; minutes: number }

const GROUP = 'standup'
const INTERVAL = 30
/** A row stays as it is for two polls at least before the next one takes its place. */
const callsOf = (form: Form): readonly Call[] => [
  ...[
    { from: 67, minutes: 3 },
    { from: form === 'D' ? 67 : 337, minutes: 2 },
    { from: 547, minutes: 5 },
    { from: 937, minutes: 1 },
  ].map((meeting) => ({ ...meeting, session: GROUP, mode: 'meet' as const })),
  { from: 97, minutes: 4, session: 'v1.us.1', mode: 'call' },
]

/** Seconds after the set-up. The second meeting is over, and the third one has not begun. */
export const AFTER_TWO_MEETINGS = 510
export const BEFORE_SECOND_MEETING = 335
export const BEFORE_LAST_MEETING = 900
/** All are over. */
export const END = 1110

/** A service in which a group meets four times in one session, while two people have a call. */
type Meetings = { form: Form; clock: VirtualClock; transport: Transport }

export function meetings(form: Form): Meetings {
  const clock = virtualClock(CREATED)
  const shown = () => {
    const now = clock.wall() - CREATED
    const begun = callsOf(form)
      .filter(({ from }) => from <= now)
      .toSorted((a, b) => b.from - a.from)
    const rows =
      form === 'B' ? begun.filter((call, i) => begun.findIndex((one) => isOfSession(one, call)) === i) : begun
    return rows.map((call) => rowOf(call, now, form === 'K' && call.session === GROUP ? 67 : call.from))
  }
  const reply = (status: number, body: object) => ({
    status,
    headers: { date: new Date(clock.wall() * 1000).toUTCString() },
    body: JSON.stringify(body),
  })
  const transport: Transport = async ({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://service')
    const [, session] = /\/calls\/([^/]+)$/.exec(pathname) ?? []
    if (session !== undefined) {
      const data = shown().filter(({ sessionId }) => sessionId === session)
      return data.length > 0 ? reply(200, { data }) : reply(404, { error: { code: 'ERR_CALL_SESSION_NOT_FOUND' } })
    }
    const [page, perPage] = [Number(searchParams.get('page')), Number(searchParams.get('perPage'))]
    const rows = shown()
    const data = rows.slice((page - 1) * perPage, page * perPage)
    const total_pages = Math.ceil(rows.length / perPage)
    return reply(200, { data, meta: { pagination: { total: rows.length, total_pages, current_page: page } } })
  }
  return { form, clock, transport }
}

const isOfSession = (one: Call, { session }: Call) => one.session === session

function rowOf({ session, mode, from, minutes }: Call, now: number, rings: number) {
  const isOver = now >= from + minutes * 60
  const talked = isOver ? minutes : Math.floor((now - from) / 60)
  return {
    sessionId: session,
    mid: `mid of ${from} ${minutes}`,
    type: 'audio',
    mode,
    receiverType: mode === 'meet' ? 'group' : 'user',
    status: isOver ? 'ended' : 'ongoing',
    initiatedAt: CREATED + rings,
    startedAt: CREATED + from,
    ...(isOver && { endedAt: CREATED + from + minutes * 60 }),
    totalAudioMinutes: talked,
    totalVideoMinutes: 0,
    totalParticipants: 1,
    participants: [{ uid: 'a', isJoined: true, totalAudioMinutes: talked, totalVideoMinutes: 0 }],
  }
}

/** A process that polls the service into a store. */
type Poller = {
  target: () => Target
  /** Polls every half minute until so many seconds after the set-up. */
  until: (seconds: number) => Promise<void>
  /** How many commits there were, and how often the process died. */
  commits: () => number
  deaths: () => number
  /** What the place of its store shows of the calls, as {@link happenedIn}. */
  shownIn: (place: Place) => ReturnType<typeof shownOf>
}

type PollerOptions = {
  /** Seconds. */
  lookback?: number
  /** The process dies right after so many commits. Then it starts again on the same store. */
  diesAfter?: number
}

/** A process that polls the meetings into a new place. */
export async function polledMeetings(form: Form, place: Place, options: PollerOptions = {}) {
  const one = await poller(meetings(form), await place.open(), options)
  return { ...one, shown: () => one.shownIn(place) }
}

export async function poller(
  world: Meetings,
  store: Store,
  { lookback = 86_400, diesAfter }: PollerOptions = {},
): Promise<Poller> {
  const { clock, transport } = world
  const settings = settingsOf(lookback)
  let commits = 0
  let deaths = 0
  let died = Promise.withResolvers<'died'>()
  const mortal: Store = {
    ...store,
    commit: async (...commit) => {
      await store.commit(...commit)
      if (++commits !== diesAfter) return
      died.resolve('died')
      await new Promise(() => undefined)
    },
  }
  const open = () => openTarget({ settings, store: mortal, clock })
  let target = await open()
  const poll = async () => {
    const client = connect(settings, () => target, {
      ownership: { owns: () => true },
      clock,
      log: pino({ level: 'silent' }),
      transportTo: () => transport,
    })
    const never$ = new Subject<void>()
    const options = { target, client, hints: hintQueue(clock, {}), draining$: never$, aborted$: never$ }
    const polls$ = pipeline({ ...options, random: () => 0.5, offset: 0, mask: (text) => text })
    const polled = firstValueFrom(polls$.pipe(filter(({ kind }) => kind === 'polled')))
    const state: { end?: unknown } = {}
    const ended = Promise.race([polled, died.promise]).then((end) => (state.end = end))
    // A database answers in its own time.
    while (state.end === undefined) await Promise.race([ended, clock.advance(0)])
    if (state.end !== 'died') return
    deaths += 1
    died = Promise.withResolvers()
    target = await open()
  }
  const until = async (seconds: number) => {
    for (; clock.wall() < CREATED + seconds; await clock.advance(INTERVAL)) await poll()
  }
  const shownIn = (place: Place) => shownOf(world, { target, settings, store, place })
  return { target: () => target, until, commits: () => commits, deaths: () => deaths, shownIn }
}

function settingsOf(lookback: number): TargetSettings {
  const poll = pollConfig({ interval: INTERVAL, pageSize: 2, lookback, sweepInterval: INTERVAL })
  return { target: targetConfig(), poll, rules: [] }
}

type Shown = { target: Target; settings: TargetSettings; store: Store; place: Place }

/** All that shows the calls to a user, in the order in which they ended. */
async function shownOf({ clock, transport }: Meetings, { target, settings, store, place }: Shown) {
  const { poll, target: config } = settings
  const { name, ledger } = target
  const reader = await place.reader()
  try {
    const history = (await place.callHistory()).toSorted((a, b) => Number(a['finished']) - Number(b['finished']))
    const wanted = { finished: { since: 0, until: Infinity }, filter: {}, from: {} }
    const all = { wanted, limit: Infinity, warn: () => undefined }
    const listed = await Array.fromAsync(partsOf(reader, [name], all))
    const calls = listed.flat().toSorted((a, b) => (a.finished! < b.finished! ? -1 : 1))
    const stored = await reader.target(name)
    const audit = await auditTarget({
      target: name,
      sync: stored!.sync,
      reader,
      clientWith: (options) => callsClient(transport, { ...config, ...poll, ...options, wall: clock.wall }),
      asking: { clock, rateLimiter: UNLIMITED, timeout: 10, retries: 0, random: () => 0.5, onRequest: () => undefined },
      clock,
      poll,
      full: true,
    })
    const { equal, problem, differences, imbalances } = targetAuditView(audit)
    const events = new Map<string, string[]>()
    for (const { type, data } of await readLog(store)) {
      const { call_id } = data
      events.set(call_id, [...(events.get(call_id) ?? []), type])
    }
    const column = (counter: (typeof COUNTERS)['started' | 'finished' | 'lost'], mode: string) =>
      total(ledger, counter, (series) => series.split('|').includes(mode))
    const report = await usageOf(store, { by: ['mode'], zone: 'UTC', from: 0, to: Infinity })
    const lines = calls.map((call) => CALL_FORMATS.csv.line(call).split(','))
    return {
      started: { meet: column(COUNTERS.started, 'meet'), call: column(COUNTERS.started, 'call') },
      finished: { meet: column(COUNTERS.finished, 'meet'), call: column(COUNTERS.finished, 'call') },
      lost: total(ledger, COUNTERS.lost),
      history: history.map((row) => [row['session_id'], row['status'], row['audio_minutes']]),
      report: report.map(({ mode, calls: { ended }, minutes }) => [mode, ended, minutes.audio]),
      api: calls.map(({ session_id, status, minutes }) => [session_id, status, minutes.audio]),
      csv: lines.map((line) => [line[2], line[6], Number(line[10])]),
      events: calls.map(({ call_id }) => events.get(call_id)),
      ids: [history.map((row) => row['call_id']), lines.map((line) => line[1]), [...events.keys()]].map(
        (ids) => new Set(ids).size,
      ),
      audit: { equal, problem, differences, imbalances },
    }
  } finally {
    await reader.close()
  }
}

/** What must be shown in the end. */
export function happenedIn(form: Form) {
  const endOf = ({ from, minutes }: Call) => from + minutes * 60
  const calls = callsOf(form).toSorted((a, b) => endOf(a) - endOf(b))
  const rows = calls.map(({ session, minutes }) => [session, 'ended', minutes])
  return {
    started: { meet: 4, call: 1 },
    finished: { meet: 4, call: 1 },
    lost: 0,
    history: rows,
    report: [
      ['call', 1, 4],
      ['meet', 4, 11],
    ],
    api: rows,
    csv: rows,
    events: calls.map(({ mode }) =>
      [...(mode === 'call' ? ['initiated'] : []), 'ongoing', 'ended'].map((status) => `callwatch.call.${status}`),
    ),
    ids: [5, 5, 5],
    audit: { equal: true, problem: null, differences: [], imbalances: [] },
  }
}
