import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { lastValueFrom, ReplaySubject, tap } from 'rxjs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import { newEvents } from '../../../src/events/new-events.ts'
import { readEvents } from '../../../src/events/read-events.ts'
import { deliverEvents } from '../../../src/events/webhooks/deliver-events.ts'
import { eventPoster } from '../../../src/events/webhooks/post-event.ts'
import { signedHeaders } from '../../../src/events/webhooks/sign.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { completePoll, CREATED, seen } from '../../kit/ledger/seen.ts'
import { freePort } from '../../kit/postgres/start-postgres.ts'
import { openIn } from '../../kit/store/place.ts'
import { SECRET, webhookOf } from '../../kit/events/webhooks/any-webhook.ts'

const ROOT = join(import.meta.dirname, '../../..')
const TYPESCRIPT = readFileSync(join(ROOT, 'config/webhooks/receiver.ts'), 'utf8')
const PYTHON = readFileSync(join(ROOT, 'config/webhooks/receiver.py'), 'utf8')
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'b').toString('base64')}`
/** How many calls of the log were missed. */
const MISSED = 40

describe.each([
  ['TypeScript', { code: TYPESCRIPT, file: 'receiver.ts', program: process.execPath }],
  ['Python', { code: PYTHON, file: 'receiver.py', program: 'python3' }],
])('the receiver in %s', (name, shown) => {
  const isMissing = spawnSync(shown.program, ['--version']).status !== 0 && process.env['CI'] !== 'true'
  if (isMissing) console.warn(`the receiver in ${name} is not tested: apt-get install python3`)
  const tested = test.skipIf(isMissing)
  let receiver: Awaited<ReturnType<typeof start>> | undefined
  beforeAll(async () => {
    if (!isMissing) receiver = await start(shown)
  }, 90_000)
  afterAll(() => receiver?.end())
  /** The receiver as it was when it started. */
  const started = () => {
    receiver!.inDatabase((db) => db.exec('DELETE FROM seen; DELETE FROM missed'))
    return receiver!
  }

  tested('accepts all deliveries, and processes each event once, however often it comes', async () => {
    const { url, processed } = started()
    const { store, events } = await missedCalls()
    await deliverAll(store, url)
    const all = { ids: events.map(({ id }) => id).toSorted(), missed: MISSED }
    expect(processed()).toEqual(all)
    const post = posterTo(url)
    for (const { id, text } of events.toReversed()) await post(id, text)
    expect(processed()).toEqual(all)
  })

  tested('refuses an altered byte, an old or future time, and another secret', async () => {
    const { url, processed } = started()
    const { id, text } = await missedCall()
    const [body, now] = [Buffer.from(text), systemClock.wall()]
    body[body.length - 3]! ^= 1
    const altered = await fetch(url, { method: 'POST', headers: signedHeaders(id, now, text, [SECRET]), body })
    expect(altered.status).toBe(401)
    const headers = { ...signedHeaders(id, now, text, [SECRET]), 'webhook-id': `${id}0` }
    expect((await fetch(url, { method: 'POST', headers, body: text })).status).toBe(401)
    const skewed = [
      [-360, "its clock is 6 min ahead of this host's"],
      [360, "this host's clock is 6 min ahead of its"],
    ] as const
    const problem = 'the webhook crm refused the message with 401'
    for (const [seconds, why] of skewed) {
      const clock = { ...systemClock, wall: () => systemClock.wall() + seconds }
      const refused = { status: 401, message: `${problem}; ${why}` }
      await expect(posterTo(url, {}, clock)(id, text)).rejects.toMatchObject(refused)
    }
    const refused = { status: 401, message: problem }
    await expect(posterTo(url, { secret: OTHER_SECRET })(id, text)).rejects.toMatchObject(refused)
    expect((await fetch(url, { method: 'POST', body: text })).status).toBe(401)
    expect(processed()).toEqual({ ids: [], missed: 0 })
  })

  tested('accepts the old secret beside the new one', async () => {
    const { url, processed } = started()
    const { id, text } = await missedCall()
    await posterTo(url, { secret: OTHER_SECRET, old_secret: SECRET })(id, text)
    expect(processed()).toEqual({ ids: [id], missed: 1 })
  })

  tested('does not keep the id of an event that it could not process, which is then sent again', async () => {
    const { url, processed, inDatabase } = started()
    const { id, text } = await missedCall()
    inDatabase((db) => db.exec('ALTER TABLE missed RENAME TO missed_before'))
    await expect(posterTo(url)(id, text)).rejects.toMatchObject({ retryable: true })
    inDatabase((db) => db.exec('ALTER TABLE missed_before RENAME TO missed'))
    expect(processed()).toEqual({ ids: [], missed: 0 })
    await posterTo(url)(id, text)
    expect(processed()).toEqual({ ids: [id], missed: 1 })
  })
})

/** Runs a receiver as somebody would who copied it. */
async function start({ code, file, program }: { code: string; file: string; program: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-receiver-'))
  writeFileSync(join(folder, file), code)
  const installed = join(folder, 'node_modules/callwatch')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'package.json'), JSON.stringify({ type: 'module', exports: './index.js' }))
  writeFileSync(join(installed, 'index.js'), `export * from '${pathToFileURL(join(ROOT, 'src/index.ts')).href}'`)
  const port = await freePort()
  const env = { PATH: process.env['PATH'], CRM_WEBHOOK_SECRET: SECRET, PORT: String(port) }
  const receiver = spawn(program, [file], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  receiver.stderr.on('data', (text) => (complaints += text))
  const ended = once(receiver, 'exit')
  const end = async () => {
    receiver.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${port}/`
  await vi
    .waitFor(() => fetch(url, { method: 'POST' }), { timeout: 60_000 })
    .catch((error: unknown) => {
      throw new Error(`${file} does not answer: ${complaints}`, { cause: error })
    })
  const inDatabase = <T>(use: (db: DatabaseSync) => T): T => {
    using db = new DatabaseSync(join(folder, 'crm.db'))
    return use(db)
  }
  const column = (query: string) =>
    inDatabase((db) =>
      db
        .prepare(query)
        .all()
        .map(({ value }) => value),
    )
  const processed = () => ({
    ids: column('SELECT id AS value FROM seen ORDER BY id'),
    missed: column("SELECT session_id AS value FROM missed WHERE session_id LIKE 'room %'").length,
  })
  return { url, processed, inDatabase, end }
}

type PostedEvent = { id: string; text: string }

/** A log of calls that rang and were missed. */
async function missedCalls(): Promise<{ store: Store; events: PostedEvent[] }> {
  const store = openSqliteStore({ path: ':memory:' })
  onTestFinished(() => store.close())
  const target = await openIn(store)
  for (const status of ['initiated', 'unanswered'] as const) {
    const calls = Array.from({ length: MISSED }, (_, i) =>
      seen(`call ${i}`, status, { session: `room ${i}`, initiatedAt: CREATED + 1 }),
    )
    const poll = completePoll(target.ledger.sync.seq + 1, ...calls)
    const changes = { ledger: target.deltaOf(poll), notifications: [], backfilled: false }
    await target.see(poll, { events: newEvents(changes, systemClock.wall())! })
  }
  const { events } = await readEvents(store, { limit: 1000 })
  expect(events).toHaveLength(2 * MISSED)
  return { store, events: events.map(({ event }) => ({ id: event.id, text: JSON.stringify(event) })) }
}

async function missedCall(): Promise<PostedEvent> {
  return (await missedCalls()).events.at(-1)!
}

/** Delivers the whole log, as the daemon does. */
async function deliverAll(store: Store, url: string): Promise<void> {
  const webhook = webhookOf({ url, from: 'start' })
  const draining$ = new ReplaySubject<void>(1)
  let delivered = 0
  const delivered$ = deliverEvents({
    webhook,
    post: eventPoster(webhook, systemClock),
    store,
    clock: systemClock,
    expiredBefore: () => systemClock.wall() - 86_400,
    isLeader: () => true,
    expectLeader: async () => undefined,
    draining$,
  }).pipe(
    tap((event) => {
      expect(event).toMatchObject({ kind: 'events', outcome: 'delivered' })
      if ((delivered += 1) === 2 * MISSED) draining$.next()
    }),
  )
  await lastValueFrom(delivered$)
}

/** Posts an event as the daemon does. */
function posterTo(url: string, given: Parameters<typeof webhookOf>[0] = {}, clock = systemClock) {
  const post = eventPoster(webhookOf({ url, ...given }), clock)
  return (id: string, text: string) => post(id, text, new AbortController().signal)
}
