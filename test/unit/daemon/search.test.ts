import { pino } from 'pino'
import { NEVER } from 'rxjs'
import { expect, test } from 'vitest'
import type { DaemonEvent } from '../../../src/daemon/daemon-event.ts'
import { searchIn } from '../../../src/daemon/search.ts'
import { connect } from '../../../src/pipeline/connection.ts'
import { hintQueue } from '../../../src/pipeline/hint-queue.ts'
import { pipeline, type PipelineEvent } from '../../../src/pipeline/pipeline.ts'
import { openTarget } from '../../../src/pipeline/target.ts'
import { newRateLimiter } from '../../../src/polling/rate-limiter.ts'
import type { Transport } from '../../../src/service/transport.ts'
import { takesPart } from '../../../src/simulator/calls/call.ts'
import type { Search } from '../../../src/web/server.ts'
import { simulatedTransport } from '../../promises/simulation/simulated-transport.ts'
import { pollConfig, targetConfig } from '../../kit/pipeline/settings.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { createWorldService } from '../../kit/world/start-world.ts'

const START = 1_800_000_000
const DAY = 86_400
const INTERVAL = 15

/** A target with 2000 calls of two days, or as many as are given, polled on a virtual clock, and a search in it. */
async function polled({ maxRequestsPerMinute = 60, pageSize = 100, history = 2000 } = {}) {
  const clock = virtualClock(START)
  const options = { history, historySeconds: 2 * DAY, callsPerMinute: 2, mostRecordedResponses: 0 }
  const service = createWorldService({ ...options, switches: { peopleFilters: 'ignored' } }, START)
  const sent: { at: number; by: 'poll' | 'search' }[] = []
  const answers = simulatedTransport(service, clock, () => 0.5)
  const by = (which: 'poll' | 'search') => (): Transport => (request) => {
    sent.push({ at: clock.monotonic(), by: which })
    return answers(request)
  }
  const store = openSqliteStore({ path: ':memory:' })
  const poll = pollConfig({ interval: INTERVAL, pageSize, maxRequestsPerMinute, retries: 0, lookback: 4 * DAY })
  const settings = { target: targetConfig({ apiKey: service.keys.fullAccess }), poll, rules: [] }
  const target = await openTarget({ settings, store, clock })
  target.rateLimiter = newRateLimiter({ clock, maxRequestsPerMinute, pausedUntil: undefined, onPause: () => undefined })
  const log = pino({ level: 'silent' })
  const ownership = { owns: () => true }
  const client = connect(settings, () => target, { ownership, clock, log, transportTo: by('poll') })
  const hints = hintQueue(clock, settings.target)
  const given = { target, client, hints, random: () => 0, offset: 0, mask: (text: string) => text }
  const polls: Extract<PipelineEvent, { kind: 'polled' | 'skipped' }>[] = []
  const running = pipeline({ ...given, draining$: NEVER, aborted$: NEVER }).subscribe((event) => {
    if (event.kind === 'polled' || event.kind === 'skipped') polls.push(event)
  })
  const reported: DaemonEvent[] = []
  const search = searchIn({
    loaded: () => [target],
    clock,
    random: () => 0,
    mask: (text) => text,
    report: (event) => reported.push(event),
    transportTo: by('search'),
  })
  const searchFor = (wanted: Parameters<Search>[0]['wanted'], since = START - DAY) =>
    search({ target: target.name, wanted, since, aborted: new AbortController().signal })
  return { clock, service, target, sent, polls, running, reported, search, searchFor }
}

/** The most requests in any 60 seconds. */
const mostInMinute = (sent: readonly { at: number }[]) =>
  Math.max(...sent.map(({ at }) => sent.filter((other) => other.at > at - 60 && other.at <= at).length))

test('searches find calls while polls go on: each poll is successful and in time, and no minute has more requests than allowed', async () => {
  const { clock, service, sent, polls, reported, searchFor } = await polled()
  await clock.advance(120)
  const [known, before] = [service.world.listing.map(({ call }) => call), polls.length]
  const users = [...new Set(known.flatMap(({ participants }) => participants.map(({ uid }) => uid)))]
  for (const uid of users.slice(0, 4)) {
    const search = searchFor({ uid })
    await clock.advance(60)
    const found = await search
    const own = known.filter((call) => call.initiatedAt! >= START - DAY && takesPart(call, uid))
    expect(found).toMatchObject({ filter: 'ignored', isWhole: true })
    const sessions = found !== undefined && 'calls' in found ? found.calls.map(({ session }) => session) : []
    expect(sessions).toEqual(expect.arrayContaining(own.map(({ sessionId }) => sessionId)))
  }
  const many = users.slice(0, 20).map((uid) => searchFor({ uid }))
  await clock.advance(60)
  await Promise.all(many)
  const reports = polls.slice(before).map((event) => (event.kind === 'polled' ? event.report : undefined))
  expect(reports.map((report) => report?.successful)).toEqual(Array.from({ length: 300 / INTERVAL }, () => true))
  expect(Math.max(...reports.map((report) => report!.seconds))).toBeLessThan(3)
  expect(mostInMinute(sent)).toBeLessThanOrEqual(60)
  const requests = reported.flatMap((event) => (event.kind === 'searched' ? event.requests : []))
  expect(requests.length).toBe(sent.filter(({ by }) => by === 'search').length)
  expect(requests.length).toBeGreaterThan(60)
})

test('while polls read a long list, a search has few requests, and ends after 50 s with what it has read', async () => {
  const { clock, sent, searchFor } = await polled({ maxRequestsPerMinute: 30, pageSize: 20 })
  await clock.advance(30)
  const search = searchFor({ uid: 'user-1' })
  await clock.advance(49)
  expect(await Promise.race([search, Promise.resolve('nothing yet')])).toBe('nothing yet')
  await clock.advance(1.1)
  expect(await search).toMatchObject({ isWhole: false })
  const count = (which: string) => sent.filter(({ at, by }) => at > 29 && by === which).length
  expect(count('search')).toBeLessThan(4)
  expect(count('poll')).toBeGreaterThan(18)
})

test('a search for which polls leave nothing ends after 50 s with a sentence', async () => {
  const { clock, target, searchFor, reported } = await polled({ history: 50 })
  target.rateLimiter = { ...target.rateLimiter, hasSpare: () => false }
  const search = searchFor({ uid: 'user-1' })
  await clock.advance(50.1)
  expect(await search).toEqual({ problem: 'polls left no request for this search; try again later' })
  expect(reported).toEqual([{ kind: 'searched', target: target.name, requests: [] }])
})

test('a search ends when nobody waits for it any more', async () => {
  const { clock, sent, target, search } = await polled()
  await clock.advance(120)
  const left = new AbortController()
  const found = search({ target: target.name, wanted: { uid: 'user-1' }, since: 0, aborted: left.signal })
  await clock.advance(2)
  left.abort()
  expect(await found).toMatchObject({ isWhole: false })
  const before = sent.filter(({ by }) => by === 'search').length
  await clock.advance(30)
  expect(sent.filter(({ by }) => by === 'search').length).toBe(before)
})

test('a target that this daemon does not poll is not searched', async () => {
  const { search, sent } = await polled({ history: 50 })
  const asked = { wanted: { uid: 'user-1' }, since: 0, aborted: new AbortController().signal }
  expect(await search({ target: 'elsewhere', ...asked })).toBeUndefined()
  expect(sent).toEqual([])
})
