import { execFileSync } from 'node:child_process'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Notification } from '../../../src/alerts/notification.ts'
import { eventsOf, writeBody } from '../../../src/events/event.ts'
import { EVENT_TYPES } from '../../../src/views/event.ts'
import type { Observation } from '../../../src/ledger/observation.ts'
import type { Store } from '../../../src/store/store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { firingOf, POLL_AGE } from '../../kit/alerts/sample-rules.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'
import { openIn } from '../../kit/store/place.ts'
import { owningStore } from '../../kit/store/postgres/daemon.ts'
import { callwatch, configFile, emptyFolder, MAIN, start } from '../../kit/commands/callwatch.ts'

type Found = {
  /** How long ago (seconds). */
  ago?: number
  notifications?: Notification[]
  backfilled?: boolean
}

/** How a daemon tells of its polls of a target. */
async function watching(store: Store, name: string) {
  const target = await openIn(store, { name, fingerprint: name })
  return async (id: string, observation: Observation, found: Found = {}) => {
    const { ago = 0, notifications = [], backfilled = false } = found
    const bodies = eventsOf({ ledger: target.deltaOf(observation), notifications, backfilled })
    const events = { id, at: Date.now() / 1000 - ago, texts: bodies.map(writeBody) }
    await target.see(observation, { events })
  }
}

/** The arguments of the command on a store. */
function argsOn(store: string) {
  const config = configFile(`
targets: [{ name: production, base_url: 'http://127.0.0.1:1/v3', api_key: key }]
store: { ${store} }
`)
  return (...more: readonly string[]) => ['events', ...more, '--config', config]
}

/** A store that a daemon uses, and the command beside it. */
async function storeInUse() {
  const path = join(emptyFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= store.close())
  onTestFinished(close)
  const args = argsOn(`path: ${path}`)
  return {
    path,
    store,
    close,
    args,
    watched: (name: string) => watching(store, name),
    events: (...more: string[]) => callwatch(args(...more)),
    follow: (...more: string[]) => start(args('--follow', ...more)),
  }
}

const minutes = (video: number) => ({ audio: 0, video, total: undefined })

/** Six events: a call and an alert of one target, two hours ago; a call and its correction of another one, now. */
async function sixEvents() {
  const used = await storeInUse()
  const [production, staging] = [await used.watched('production'), await used.watched('staging')]
  const call = { type: 'video', initiatedAt: CREATED + 1, startedAt: CREATED + 5 } as const
  const fired = firingOf(POLL_AGE, 'production', CREATED + 70, { value: 400, labels: { type: 'video' } })
  await production('first', completePoll(6, seen('x', 'ongoing', call)), { ago: 7300 })
  await production('second', completePoll(70, seen('x', 'ongoing', call)), { ago: 7200, notifications: [fired] })
  const ended = { ...call, endedAt: CREATED + 65 }
  await staging('third', completePoll(60, seen('y', 'ongoing', call)))
  const counted = { callMinutes: minutes(3) }
  await staging('fourth', completePoll(70, seen('y', 'ended', { ...ended, ...counted })), { backfilled: true })
  await staging('fifth', completePoll(80, seen('y', 'rejected', { ...ended, callMinutes: minutes(2) })))
  return used
}

const JSON_LINE = /^\{.*\}$/gm
type Printed = { id: string; type: string; subject?: string; data: object; callwatchcursor: string }
/** The events that were printed. */
const printedIn = (stdout: string): Printed[] => (stdout.match(JSON_LINE) ?? []).map((line) => JSON.parse(line))
/** The commit of an event, and its place in it. */
const placeOf = ({ callwatchcursor }: Printed) => callwatchcursor.replace(/^\d+\.(\d+)\.(.*)$/, '$2-$1')
const idsIn = (stdout: string) => printedIn(stdout).map(placeOf)
const ALL = ['first-0', 'first-1', 'second-0', 'third-0', 'third-1', 'fourth-0', 'fifth-0']

test('events prints what happened, a line each, in the order in which it was found', async () => {
  const { events } = await sixEvents()
  const { code, stdout, stderr } = await events()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trimEnd().split('\n')).toEqual([
    '2026-09-21 14:13:21 UTC  production  initiated   x  video call, inferred',
    '2026-09-21 14:13:25 UTC  production  ongoing     x  video call, inferred',
    '2026-09-21 14:14:30 UTC  production  firing      NoGoodPoll (type=video)  critical, poll_age 6m 40s, threshold 5m',
    '2026-09-21 14:13:21 UTC  staging  initiated   y  video call, inferred',
    '2026-09-21 14:13:25 UTC  staging  ongoing     y  video call, inferred',
    '2026-09-21 14:14:25 UTC  staging  ended       y  video call, 1m, backfilled',
    '2026-09-21 14:14:40 UTC  staging  corrected   y  ended → rejected, video minutes 3 → 2, video call, 1m',
  ])
})

test('events names the session of a call that has another id', async () => {
  const { watched, events } = await storeInUse()
  const call = { session: 'room', type: 'video', initiatedAt: CREATED } as const
  await (
    await watched('production')
  )('first', completePoll(5, seen('cw:1', 'initiated', call)))
  expect((await events()).stdout).toBe(
    '2026-09-21 14:13:20 UTC  production  initiated   cw:1 of session room  video call\n',
  )
  const [first] = printedIn((await events('--json')).stdout)
  expect([first?.subject, first?.data]).toEqual([
    'cw:1',
    expect.objectContaining({ call_id: 'cw:1', session_id: 'room' }),
  ])
})

test('an alert that expired says why, and one without a value that it is unknown', async () => {
  const { watched, events } = await storeInUse()
  const expired = { kind: 'expired', expiredBecause: 'rule removed', value: Number.NaN } as const
  const notifications = [firingOf(POLL_AGE, 'production', CREATED + 5, expired)]
  await (
    await watched('production')
  )('first', completePoll(5), { notifications })
  expect((await events()).stdout).toBe(
    '2026-09-21 14:13:25 UTC  production  expired     NoGoodPoll  rule removed, critical, poll_age unknown, threshold 5m\n',
  )
})

test('events --json prints a CloudEvent a line, with the cursor that continues after it', async () => {
  const { store, events } = await sixEvents()
  const { code, stdout, stderr } = await events('--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n')).toHaveLength(ALL.length + 1)
  const printed = printedIn(stdout)
  expect(printed.map(placeOf)).toEqual(ALL)
  const [row] = await store.events(3, 1)
  const { data, ...logged } = JSON.parse(row!.texts[0]!)
  expect(printed[3]).toEqual({
    specversion: '1.0',
    id: expect.stringMatching(/^[\w-]{22}$/),
    source: 'urn:callwatch:staging',
    datacontenttype: 'application/json',
    callwatchcursor: '3.0.third',
    ...logged,
    type: 'callwatch.call.initiated',
    data: { target: 'staging', call_id: 'y', session_id: 'y', ...data },
  })
  for (const [i, { callwatchcursor }] of printed.entries()) {
    expect(idsIn((await events('--json', '--after', callwatchcursor)).stdout)).toEqual(ALL.slice(i + 1))
  }
})

test.each([
  [
    ['--type', 'call.ended', '--type', 'callwatch.alert.firing'],
    ['second-0', 'fourth-0'],
  ],
  [
    ['--type', 'call.corrected,call.ended'],
    ['fourth-0', 'fifth-0'],
  ],
  [['--target', 'production', '--target', 'staging'], ALL],
  [['--target', 'production, nowhere'], ALL.slice(0, 3)],
  [['--target', 'nowhere'], []],
  [['--target', 'staging', '--type', 'call.ongoing'], ['third-1']],
  [['--since', '1h'], ALL.slice(3)],
  [['--since', '7250s'], ALL.slice(2)],
  [['--since', '3h'], ALL],
  [['--since', '3h', '--limit', '2'], ALL.slice(0, 2)],
  [
    ['--since', '3h', '--type', 'call.ongoing', '--limit', '9'],
    ['first-1', 'third-1'],
  ],
  [['--limit', '2'], ALL.slice(-2)],
  [['--limit', '1', '--type', 'call.initiated'], ['third-0']],
  [['--limit', '0'], []],
  [['--after', '0', '--limit', '0'], []],
  [['--after', '0', '--limit', '3'], ALL.slice(0, 3)],
  [['--after', '1.0.first', '--target', 'staging', '--limit', '3'], ALL.slice(3, 6)],
])('events %j selects events', async (args, ids) => {
  const { events } = await sixEvents()
  const { code, stdout, stderr } = await events('--json', ...args)
  expect({ code, stderr, ids: idsIn(stdout) }).toEqual({ code: 0, stderr: '', ids })
})

test('without a limit the newest 50 are printed; those of a rare type are found in a long log', async () => {
  const { watched, events } = await storeInUse()
  const poll = await watched('production')
  await poll('rare', completePoll(1), { notifications: [firingOf(POLL_AGE, 'production', CREATED)] })
  for (let i = 2; i < 120; i++) await poll(`commit-${i}`, completePoll(i, seen(`call ${i}`, 'initiated')))
  const ids = idsIn((await events('--json')).stdout)
  expect(ids).toEqual(Array.from({ length: 50 }, (_, i) => `commit-${i + 70}-0`))
  expect(idsIn((await events('--json', '--limit', '1', '--type', 'alert.firing')).stdout)).toEqual(['rare-0'])
  expect(idsIn((await events('--json', '--type', 'alert.firing,alert.resolved')).stdout)).toEqual(['rare-0'])
})

test.each([
  [['--limit', '2'], 2, 'these are the newest 2: --limit says how many are printed\n'],
  [['--since', '3h', '--limit', '2'], 2, 'these are the first 2: --limit says how many are printed\n'],
  [['--limit', '9'], ALL.length, ''],
  [['--since', '3h'], ALL.length, ''],
])('events %j says which end of a longer log it prints', async (args, lines, stderr) => {
  const { events } = await sixEvents()
  const printed = await events(...args)
  expect(printed).toMatchObject({ code: 0, stderr })
  expect(printed.stdout.trimEnd().split('\n')).toHaveLength(lines)
})

test('a log in which nothing is wanted has no events', async () => {
  const { watched, events } = await storeInUse()
  for (const args of [[], ['--since', '1h'], ['--after', '0']]) {
    expect(await events(...args)).toEqual({ code: 0, stdout: 'no events\n', stderr: '' })
    expect(await events(...args, '--json')).toEqual({ code: 0, stdout: '', stderr: '' })
  }
  await (
    await watched('production')
  )('first', completePoll(1, seen('x', 'initiated')), { ago: 7200 })
  expect((await events('--since', '1h')).stdout).toBe('no events\n')
})

test('a cursor whose next events were deleted exits 2, and names the one that reads the rest', async () => {
  const { store, events } = await sixEvents()
  await store.deleteEvents(Date.now() / 1000 - 3600)
  const { code, stdout, stderr } = await events('--json', '--after', '1.1.first')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^the events after this cursor were deleted by events\.retention, or the store was restored/)
  const [, oldest = ''] = /`--after (\S+)` reads all that are left$/m.exec(stderr) ?? []
  expect(idsIn((await events('--json', '--after', oldest)).stdout)).toEqual(ALL.slice(2))
})

test.each([
  [['--after', 'yesterday'], 'yesterday is no cursor; expected the callwatchcursor of an event that `--json` has'],
  [['--type', 'call.endd'], `there is no type call.endd; there is: ${EVENT_TYPES.join(', ')}\n`],
  [['--type', 'call.ended,,call.lost'], 'It must be a name, or several separated by commas.'],
  [['--target', ''], 'It must be a name, or several separated by commas.'],
  [['--since', '20261101'], '--since 20261101: expected a date such as 2026-11-01'],
  [['--since', 'yesterday'], '--since yesterday: expected a date such as 2026-11-01'],
  [['--since', '1h', '--after', '0'], "option '--since <time>' cannot be used with option '--after <cursor>'"],
  [['--limit', 'all'], 'It must be a whole number, 0 or more.'],
])('events %j exits 2 with a sentence', async (args, sentence) => {
  const { events } = await storeInUse()
  const { code, stdout, stderr } = await events(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(sentence)
})

test('events without a store exits 2 with a sentence, also with --follow', async () => {
  const config = configFile(`
targets: [{ name: production, base_url: 'http://127.0.0.1:1/v3', api_key: key }]
store: { path: nowhere.db }
`)
  for (const args of [[], ['--follow']]) {
    const { code, stderr } = await start(['events', ...args, '--config', config]).ended
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('there is no store nowhere.db') })
  }
})

test('names of calls, targets and alerts neither reach a terminal as control characters nor begin a line', async () => {
  const { watched, events } = await storeInUse()
  const poll = await watched('a\u202e\u2028b')
  const notifications = [firingOf({ ...POLL_AGE, name: 'No\u001bCalls\n' }, 'a', CREATED)]
  await poll('first', completePoll(1, seen('x\u001b[31m\u0007\r\ny\u009b\tz', 'initiated')), { notifications })
  const { stdout } = await events()
  expect(stdout.replaceAll(/^\S+ \S+ UTC {2}/gm, '')).toBe(
    'a b  initiated   x[31m y z  audio call\na b  firing      NoCalls   critical, poll_age 0.5s, threshold 5m\n',
  )
  const json = (await events('--json')).stdout
  // oxlint-disable-next-line no-control-regex
  expect(json).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  expect(JSON.parse(json.split('\n')[0]!)).toMatchObject({ subject: 'x\u001b[31m\u0007\r\ny\u009b\tz' })
})

test('--follow continues with what is committed later, until SIGTERM', async () => {
  const { watched, follow } = await sixEvents()
  const { child, printed, ended } = follow('--json', '--limit', '1', '--target', 'later,staging')
  await printed(/\.0\.fifth"/)
  const poll = await watched('later')
  await poll('sixth', completePoll(90, seen('z', 'initiated', { initiatedAt: CREATED + 90 })))
  await printed(/\.0\.sixth"/)
  child.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  expect({ code, stderr, ids: idsIn(stdout) }).toEqual({ code: 0, stderr: '', ids: ['fifth-0', 'sixth-0'] })
})

test('--follow ends with --limit events after a cursor', async () => {
  const { watched, follow } = await sixEvents()
  const { printed, ended } = follow('--json', '--after', '4.0.fourth', '--limit', '2')
  await printed(/\.0\.fifth"/)
  await (
    await watched('later')
  )('sixth', completePoll(90, seen('z', 'ongoing', { initiatedAt: CREATED + 90 })))
  const { code, stdout } = await ended
  expect({ code, ids: idsIn(stdout) }).toEqual({ code: 0, ids: ['fifth-0', 'sixth-0'] })
})

test('--follow says that the store cannot be read, and continues when it can', async () => {
  const { path, watched, follow } = await sixEvents()
  const { child, printed, ended } = follow('--json')
  await printed(/\.0\.fifth"/)
  let warned = ''
  child.stderr!.on('data', (text) => (warned += text))
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  other.exec('ALTER TABLE events RENAME TO away')
  await vi.waitFor(() => expect(warned).toContain('; retries each second\n'), { timeout: 90_000 })
  other.exec('ALTER TABLE away RENAME TO events')
  await (
    await watched('later')
  )('sixth', completePoll(90, seen('z', 'initiated')))
  await printed(/\.0\.sixth"/)
  child.kill('SIGINT')
  const { code, stdout, stderr } = await ended
  expect({ code, ids: idsIn(stdout) }).toEqual({ code: 0, ids: [...ALL, 'sixth-0'] })
  expect(stderr).toMatch(/^the store \S+ cannot be used: [^\n]*; retries each second\n$/)
})

/** The store after somebody stopped its daemon, and restored a copy that was made of it then. */
async function restored({ path, close }: Awaited<ReturnType<typeof storeInUse>>, copy: string) {
  await close()
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  renameSync(copy, path)
  const again = openSqliteStore({ path })
  onTestFinished(() => again.close())
  return watching(again, 'later')
}

function copyOf(path: string): string {
  const copy = join(emptyFolder(), 'copy.db')
  const db = new DatabaseSync(path)
  db.exec(`VACUUM INTO '${copy}'`)
  db.close()
  return copy
}

test('--follow continues in a file that was restored from a backup', async () => {
  const used = await sixEvents()
  const { child, printed, ended } = used.follow('--json')
  await printed(/\.0\.fifth"/)
  const poll = await restored(used, copyOf(used.path))
  await poll('sixth', completePoll(90, seen('z', 'initiated')))
  await printed(/\.0\.sixth"/)
  child.kill('SIGINT')
  const { code, stdout, stderr } = await ended
  expect({ code, stderr, ids: idsIn(stdout) }).toEqual({ code: 0, stderr: '', ids: [...ALL, 'sixth-0'] })
})

test('--follow ends with 2 if the backup lacks what was printed', async () => {
  const used = await storeInUse()
  const poll = await used.watched('production')
  await poll('first', completePoll(1, seen('x', 'initiated')))
  const copy = copyOf(used.path)
  await poll('second', completePoll(2, seen('y', 'initiated')))
  const { printed, ended } = used.follow('--json')
  await printed(/\.0\.second"/)
  await restored(used, copy)
  const { code, stderr } = await ended
  expect(code).toBe(2)
  expect(stderr).toMatch(/^[^\n]* the store was restored or replaced; `--after \S+` reads all that are left\n$/)
})

test('--follow ends with 2 once its file was deleted', async () => {
  const { path, follow } = await sixEvents()
  const { printed, ended } = follow('--json')
  await printed(/\.0\.fifth"/)
  rmSync(path)
  const { code, stderr } = await ended
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^[^\n]*there is no store[^\n]*\n$/) })
})

test('--follow ends without a message when nothing reads its output any more', async () => {
  const { watched, args } = await storeInUse()
  const poll = await watched('production')
  // More than a pipe holds.
  const calls = Array.from({ length: 2000 }, (_, i) => seen(`call ${i}`, 'initiated', { initiatedAt: CREATED }))
  await poll('first', completePoll(1, ...calls))
  const command = [process.execPath, MAIN, ...args('--follow', '--json', '--after', '0')].map((each) => `"${each}"`)
  const errors = join(emptyFolder(), 'errors')
  const shell = `{ ${command.join(' ')} 2>&1 >&3 | cat >&2; } 3>&1 2>"${errors}" | head -1; cat "${errors}"`
  const stdout = execFileSync('sh', ['-c', shell], { encoding: 'utf8', timeout: 150_000 })
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(idsIn(stdout)).toEqual(['first-0'])
})

inOwnPostgres('events in PostgreSQL', ({ server, newDatabase }) => {
  test('are selected, and followed beyond a crash of the server', async () => {
    const url = await newDatabase()
    const args = argsOn(`url: '${url}'`)
    const call = { initiatedAt: CREATED }
    const early = await watching(await owningStore(url), 'early')
    await early('first', completePoll(1, seen('x', 'initiated', call)), { ago: 7200 })
    await early('second', completePoll(2, seen('x', 'initiated', call), seen('y', 'initiated', call)))
    const ids = async (...more: string[]) => idsIn((await callwatch(args('--json', ...more))).stdout)
    expect(await ids()).toEqual(['first-0', 'second-0'])
    expect(await ids('--since', '1h')).toEqual(['second-0'])
    expect(await ids('--after', '1.0.first')).toEqual(['second-0'])
    expect(await ids('--type', 'call.lost')).toEqual([])

    const { child, printed, ended } = start(args('--follow', '--json'))
    await printed(/\.0\.second"/)
    let warned = ''
    child.stderr!.on('data', (text) => (warned += text))
    await server().kill()
    await vi.waitFor(() => expect(warned).toContain('; retries each second\n'), { timeout: 90_000 })
    await server().restart()
    const late = await watching(await owningStore(url), 'late')
    await late('third', completePoll(3, seen('z', 'initiated', call)))
    await printed(/\.0\.third"/)
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, stderr: warned })
  })
})
