import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { ALL_LABELS, FINAL_STATUSES } from '../../src/ledger/call.ts'
import { statusCode } from '../../src/ledger/call-codes.ts'
import { CALL_COLUMNS, valuesOf } from '../../src/store/call-columns.ts'
import { newLedger } from '../../src/ledger/state.ts'
import { MARK, type TrackedCall } from '../../src/ledger/tracked-call.ts'
import { random } from '../../src/simulator/random.ts'
import { openSqliteStore } from '../../src/store/open-sqlite.ts'
import type { Queried } from '../processes/query-history.ts'
import { connect } from '../../src/store/postgres/connection.ts'
import { openPostgresStore } from '../../src/store/open-postgres.ts'
import type { DaemonStoreAddress } from '../../src/store/open-store.ts'
import type { DatabaseAnswer } from '../processes/database.ts'
import type { Bench, Row, Scenario } from '../scenario.ts'

const TARGETS = 10
const DAYS = 35
const ROWS_A_STATEMENT = 100

/** Lists and reports of a long history in SQLite, while the store gets commits. */
export const history: Scenario = {
  name: 'history',
  rows: [
    'history query',
    'history query (commit)',
    'history query (event loop)',
    'charts',
    'charts (35 days)',
    'report',
    'report (by day)',
    'bytes a call on disk',
  ],
  run: async (bench) => {
    const { history: calls } = bench.sizes
    const path = join(bench.folder, 'history.db')
    await fill(path, calls, bench.now)
    const queried = await query(bench, { path })
    const db = new DatabaseSync(path)
    const [size] = db.prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size').all()
    db.close()
    return rowsOf(queried, calls, Number(size?.['bytes']) / calls, '')
  },
}

/** The same in PostgreSQL. */
export const sharedHistory: Scenario = {
  name: 'history in PostgreSQL',
  rows: history.rows.map((row) => `${row} (PostgreSQL)`),
  run: async (bench) => {
    const { history: calls } = bench.sizes
    const database = await bench.start('database', {})
    const { url } = await database.ask<DatabaseAnswer>({})
    await fillDatabase(url, calls, bench.now)
    const queried = await query(bench, { url, lease: 60 })
    const { run, close } = await connect(url, { deadline: STATEMENT_SECONDS })
    const [size] = await run(
      "SELECT pg_total_relation_size('callwatch.calls') + pg_total_relation_size('callwatch.rollups') AS bytes",
    )
    await close()
    return rowsOf(queried, calls, Number(size?.['bytes']) / calls, ' (PostgreSQL)')
  },
}

async function query(bench: Bench, address: DaemonStoreAddress): Promise<Queried> {
  const process = await bench.start('query-history', { address, now: bench.now, days: DAYS })
  return process.ask<Queried>({})
}

function rowsOf(queried: Queried, calls: number, bytes: number, store: string): Row[] {
  const {
    pages,
    slowestPages,
    searching,
    charts,
    slowestCharts,
    longest,
    rollups,
    commits,
    eventLoop,
    report,
    reportByDay,
  } = queried
  const note = `p99 of pages of 50 with drawn filters, ${calls.toLocaleString('en')} finished calls; the slowest: ${slowestPages}; ${searching} had to search on`
  return [
    { row: 'history query', measured: pages, target: 100, unit: 'ms', note },
    { row: 'history query (commit)', measured: commits, target: 100, unit: 'ms', note: 'p99 of commits meanwhile' },
    { row: 'history query (event loop)', measured: eventLoop, target: 50, unit: 'ms', note: 'the longest turn' },
    {
      row: 'charts',
      measured: charts,
      target: 100,
      unit: 'ms',
      note: `p99 of an hour to ${DAYS} days, with drawn filters; the slowest: ${slowestCharts}`,
    },
    {
      row: 'charts (35 days)',
      measured: longest,
      target: 50,
      unit: 'ms',
      note: `median of all targets; rollups took ${rollups.toFixed(0)} s for all calls`,
    },
    { row: 'report', measured: report, target: 1, unit: 's', note: `of all ${DAYS} days, by all keys` },
    { row: 'report (by day)', measured: reportByDay, target: 0.1, unit: 's', note: 'of the same days' },
    { row: 'bytes a call on disk', measured: bytes, target: 400, unit: 'B', note: 'with its indexes' },
  ].map((row) => ({ ...row, row: `${row.row}${store}` }))
}

/** Makes a store with so many finished calls, as the daemon writes them. */
async function fill(path: string, calls: number, now: number): Promise<void> {
  const store = openSqliteStore({ path })
  for (let i = 0; i < TARGETS; i++) await store.openTarget({ name: `target-${i}`, fingerprint: '' }, now, 86_400)
  await store.close()
  const db = new DatabaseSync(path)
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN')
  const columns = ['target', 'tracked', ...CALL_COLUMNS]
  const row = `(${columns.map(() => '?').join(', ')})`
  const insert = db.prepare(
    `INSERT INTO calls (${columns.join(', ')}) VALUES ${Array.from({ length: ROWS_A_STATEMENT }, () => row).join(', ')}`,
  )
  const draw = random(1, 'history')
  for (let i = 0; i < calls; i += ROWS_A_STATEMENT) {
    const values: SQLInputValue[] = []
    for (let n = i; n < i + ROWS_A_STATEMENT; n++) {
      const call = drawnCall(n, now - DAYS * 86_400 * (1 - n / calls), draw)
      values.push(1 + Math.floor(draw() * TARGETS), 0, ...valuesOf(call))
    }
    insert.run(...values)
  }
  db.prepare('UPDATE targets SET sync = ?').run(syncAt(now))
  const marks = 'SELECT DISTINCT CAST(finished / 900 AS INTEGER) * 900, target, 1 FROM calls'
  db.exec(`INSERT INTO stale_rollups (quarter, target, version) ${marks}`)
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

/** The sync state of a target that was polled all the time. */
const syncAt = (now: number) => JSON.stringify({ ...newLedger(now - DAYS * 86_400).sync, lastSuccess: now })

function drawnCall(n: number, at: number, draw: () => number): TrackedCall {
  const finished = Math.floor(at)
  // Most calls are of few kinds, and end well.
  const labels = ALL_LABELS[Math.floor(draw() ** 4 * ALL_LABELS.length)]!
  const status = FINAL_STATUSES[Math.floor(draw() ** 3 * FINAL_STATUSES.length)]!
  const duration = Math.floor(600 * draw() ** 3)
  const [initiatedAt, startedAt] = [finished - duration - 8, finished - duration]
  const minutes = duration / 60
  const isAnswered = status === 'ended'
  return {
    id: `v1.us.${(n * 2_654_435_761).toString(16).padStart(16, '0').slice(-16)}`,
    session: undefined,
    mid: Math.floor((draw() - 0.5) * 2 ** 32),
    phase: 'final',
    status,
    labels,
    firstSeen: finished - duration,
    initiatedAt,
    startedAt: isAnswered ? startedAt : undefined,
    endedAt: finished,
    totalParticipants: 2,
    joined: 0,
    minutes: [minutes, 0, 2 * minutes, 0],
    finish: {
      status,
      labels,
      at: finished,
      known: finished + 12,
      knownHostTime: finished + 12,
      began: initiatedAt,
      answerDelay: isAnswered ? 8 : undefined,
      duration: isAnswered ? duration : undefined,
      audio: minutes,
      video: 0,
      invited: { joined: isAnswered ? 1 : 0, absent: isAnswered ? 0 : 1 },
    },
    notFound: 0,
    retainUntil: undefined,
    marks: draw() < 0.02 ? MARK.recordingSeen : 0,
  }
}

/** Rows in one statement. */
const ROWS_AT_ONCE = 250_000
/** How long one may take (seconds). */
const STATEMENT_SECONDS = 600

/** The same in a database, which draws the calls itself. */
async function fillDatabase(url: string, calls: number, now: number): Promise<void> {
  const store = await openPostgresStore({ url, lease: 60 })
  for (let i = 0; i < TARGETS; i++) await store.openTarget({ name: `target-${i}`, fingerprint: '' }, now, 86_400)
  await store.close()
  const { run, close } = await connect(url, { deadline: STATEMENT_SECONDS })
  await run('UPDATE callwatch.targets SET sync = $1', [syncAt(now)])
  for (let from = 0; from < calls; from += ROWS_AT_ONCE) {
    await run(
      `INSERT INTO callwatch.calls (target, tracked, ${CALL_COLUMNS.join(', ')})
      SELECT (SELECT min(number) FROM callwatch.targets) + floor(random() * ${TARGETS} + n * 0), false,
        'v1.us.' || lpad(to_hex(n * 2654435761), 16, '0'), 2, status, labels, at - 60, at - 60,
        CASE WHEN status = ${statusCode('ended')} THEN at - 52 END, at, 2, NULL,
        1.5, 0, 3, 0, 0, NULL, CASE WHEN random() + n * 0 < 0.02 THEN ${MARK.recordingSeen} ELSE 0 END,
        status, labels, at, at + 12, at + 12, NULL, NULL, NULL, NULL, NULL, floor((random() + n * 0) * 2e9), NULL
      FROM generate_series($1::bigint, $2::bigint) AS n,
        LATERAL (SELECT floor($3::float8 - ${DAYS * 86_400} * (1 - n / $4::float8)) AS at,
          2 + floor(power(random() + n * 0, 3) * 4) AS status,
          floor(power(random() + n * 0, 4) * ${ALL_LABELS.length}) AS labels) AS finish`,
      [from, Math.min(calls, from + ROWS_AT_ONCE) - 1, now, calls],
    )
  }
  const marks = 'SELECT DISTINCT floor(finished / 900)::bigint * 900, target, 1 FROM callwatch.calls'
  await run(`INSERT INTO callwatch.stale_rollups (quarter, target, version) ${marks}`)
  await run('VACUUM ANALYZE callwatch.calls')
  await close()
}
