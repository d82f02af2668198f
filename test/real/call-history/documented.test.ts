import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { connect, type Connection } from '../../../src/store/postgres/connection.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { DAY } from '../../kit/store/place.ts'
import { owningStore } from '../../kit/store/postgres/daemon.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { drawCalls, fillWith, NOW } from './drawn-calls.ts'
import { ANSWERS } from './expected-answers.ts'

const ROOT = join(import.meta.dirname, '../../..')
const DOC = readFileSync(join(ROOT, 'docs/sql.md'), 'utf8')
const CALLS = drawCalls()

/** The page's blocks of SQL, each under its heading and for one kind of store or for both. */
const ON_THE_PAGE = DOC.split(/^#+ (?=.)/m).flatMap((section) => {
  const [heading = ''] = section.split('\n', 1)
  return [...section.matchAll(/^```sql\n(?:-- (\w+)\n)?(.*?)^```/gms)].map(([, store, sql = '']) => ({
    heading,
    store,
    sql,
  }))
})
/** The queries of a file, each after a comment that begins with its heading. */
const inFile = (store: string, name: string) =>
  readFileSync(join(ROOT, `config/sql/${name}.sql`), 'utf8')
    .split('\n\n')
    .map((sql) => ({ heading: sql.slice(3, sql.indexOf('\n')), store, sql }))
const BLOCKS = [...ON_THE_PAGE, ...inFile('SQLite', 'sqlite'), ...inFile('PostgreSQL', 'postgres')]
const ACCESS = 'Access in PostgreSQL'
const queriesFor = (...stores: string[]) =>
  BLOCKS.filter(({ heading, store }) => heading !== ACCESS && (store === undefined || stores.includes(store)))

/** The types of the page, in SQLite and PostgreSQL. */
const TYPES: Record<string, [sqlite: string, postgres: string]> = {
  text: ['text', 'text'],
  time: ['real', 'timestamp with time zone'],
  number: ['real', 'double precision'],
  integer: ['integer', 'integer'],
  boolean: ['integer', 'boolean'],
}

/** A relation's columns on the page: of each its type in SQLite and PostgreSQL, and whether it may be NULL. */
const columnsOf = (relation: string) => {
  const [, section = ''] = DOC.split(`## Columns of ${relation}\n`)
  const [table = ''] = section.split('\n## ')
  return [...table.matchAll(/^- (`[\w`, ]+`) \((\w+)(, NULL)?/gm)].flatMap(([, names = '', type = '', isNull]) => {
    const [sqlite, postgres] = TYPES[type]!
    return Array.from(names.matchAll(/\w+/g), ([name]) => ({ name, sqlite, postgres, mayBeNull: isNull !== undefined }))
  })
}
const RELATIONS = ['call_history', 'alert_history']

const about = (rows: readonly (readonly unknown[])[]) =>
  rows.map((row) => row.map((value) => (typeof value === 'number' ? expect.closeTo(value, 4) : value)))

function answerOf(heading: string): unknown[][] {
  const expected = ANSWERS[heading]?.(CALLS)
  expect(expected, `an answer to "${heading}"`).not.toHaveLength(0)
  return about(expected!)
}

test('docs/sql.md and config/sql have each query for both stores, and the tests know the answer of each', () => {
  const headings = (blocks: typeof BLOCKS) => blocks.map(({ heading }) => heading)
  expect(headings(queriesFor('SQLite'))).toEqual(headings(queriesFor('PostgreSQL')))
  expect(new Set(headings(queriesFor('SQLite', 'PostgreSQL', 'Grafana')))).toEqual(new Set(Object.keys(ANSWERS)))
  expect(queriesFor('SQLite').length).toBeGreaterThan(9)
  expect(RELATIONS.map((relation) => columnsOf(relation).length)).toEqual([18, 15])
})

describe('the documented relations in SQLite', () => {
  /** A store that is in use. */
  async function filledFile(): Promise<string> {
    const path = join(temporaryFolder(), 'callwatch.db')
    const store = openSqliteStore({ path })
    onTestFinished(() => store.close())
    await fillWith(store, CALLS)
    return path
  }

  /** In a process of its own: a zone is one of a process. */
  function ask(path: string, statements: readonly string[]): Record<string, unknown>[][] {
    const program = `
      const { DatabaseSync } = require('node:sqlite')
      const db = new DatabaseSync('file:' + process.argv[1] + '?mode=ro')
      console.log(JSON.stringify(JSON.parse(process.argv[2]).map((sql) => db.prepare(sql).all())))`
    const env = { TZ: 'Europe/Berlin' }
    return JSON.parse(
      execFileSync(process.execPath, ['-e', program, path, JSON.stringify(statements)], { env, encoding: 'utf8' }),
    )
  }

  const atNow = (sql: string) => sql.replaceAll('unixepoch()', String(NOW)).replaceAll("'now'", `${NOW}, 'unixepoch'`)

  test('answers each query of docs/sql.md and config/sql, read while the store is in use', async () => {
    const path = await filledFile()
    const queries = queriesFor('SQLite')
    const answers = ask(path, queries.map(({ sql }) => atNow(sql))) // oxfmt-ignore
    const found = queries.map(({ heading }, i) => {
      const rows = answers[i]!.map((row) =>
        Object.entries(row).map(([name, value]) => (name === 'has_recording' ? value === 1 : value)),
      )
      return [heading, rows]
    })
    expect(found).toEqual(queries.map(({ heading }) => [heading, answerOf(heading)]))
  })

  test.each(RELATIONS)('%s has the columns and types of docs/sql.md', async (relation) => {
    const columns = columnsOf(relation)
    const path = await filledFile()
    const types = columns.map(({ name }) => `group_concat(DISTINCT typeof(${name})) AS ${name}`)
    const [[found = {}] = [], [first = {}] = []] = ask(path, [
      `SELECT ${types.join(', ')} FROM ${relation}`,
      `SELECT * FROM ${relation} LIMIT 1`,
    ])
    expect(Object.keys(first)).toEqual(columns.map(({ name }) => name))
    const typesOf = (text: string) => text.split(',').toSorted().join(' or ')
    const documented = columns.map(({ name, sqlite, mayBeNull }) => [name, mayBeNull ? `null,${sqlite}` : sqlite])
    expect(Object.entries(found).map(([name, text]) => [name, typesOf(String(text))])).toEqual(
      documented.map(([name, text]) => [name, typesOf(text!)]),
    )
  })

  test('finds calls of a range of time in an index, of one target and of all', async () => {
    const path = join(temporaryFolder(), 'callwatch.db')
    await openSqliteStore({ path }).close()
    using db = new DatabaseSync(path, { readOnly: true })
    const planOf = (sql: string) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
        .filter((detail) => /\bcalls\b/.test(detail))
    const [oneCall, ranges] = [true, false].map((isOne) =>
      queriesFor('SQLite')
        .filter(({ heading }) => (heading === 'One call') === isOne)
        .map(({ sql }) => planOf(sql)),
    )
    for (const plan of ranges!) {
      expect(new Set(plan)).toEqual(new Set(plan.filter((step) => /USING (?:COVERING )?INDEX (?:calls_by_finish \(target=\? AND finished[>=]|open_calls \(target=\?\))/.test(step)))) // oxfmt-ignore
    }
    expect(oneCall).toEqual([['SEARCH calls USING INDEX sqlite_autoindex_calls_1 (target=? AND id=?)']])
    expect(ranges!.flat().length).toBeGreaterThan(10)
  })
})

inPostgres('the documented relations in PostgreSQL', ({ newDatabase }) => {
  let reporting: Promise<Connection> | undefined

  /** A connection of the page's role to a filled store, the same for all tests. */
  async function connectReporting(): Promise<Connection> {
    const url = await newDatabase()
    const store = await owningStore(url)
    await fillWith(store, CALLS)
    await store.close()
    const owner = await connect(url)
    const [access, ...others] = BLOCKS.filter(({ heading }) => heading === ACCESS)
    expect(others).toEqual([])
    await owner.run(access!.sql.replace('DATABASE callwatch', `DATABASE ${new URL(url).pathname.slice(1)}`))
    // The queries say themselves in which zone days are.
    await owner.run("ALTER ROLE reporting SET timezone = 'America/New_York'")
    await owner.close()
    const connection = await connect(Object.assign(new URL(url), { username: 'reporting' }).href, { readOnly: true })
    // callwatch's own connections set what it depends on. Any other client has what the page sets for the role.
    await connection.run(`
      SELECT set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), false)
      FROM pg_roles CROSS JOIN unnest(rolconfig) AS setting WHERE rolname = 'reporting'`)
    return connection
  }

  const run = async (sql: string) => (await (reporting ??= connectReporting())).run(sql)
  afterAll(async () => (await reporting)?.close())

  const atNow = (sql: string) =>
    sql
      .replaceAll('now()', `to_timestamp(${NOW})`)
      // As Grafana replaces them.
      .replace(/\$__timeGroup\((\w+), '5m', 0\)/, 'floor(extract(epoch from $1)/300)*300')
      .replace(/\$__timeFilter\((\w+)\)/, `$1 BETWEEN '${iso(NOW - 2 * DAY)}' AND '${iso(NOW)}'`)
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString()

  test.each(queriesFor('PostgreSQL', 'Grafana'))(
    'answers "$heading" of docs/sql.md and config/sql, to the role of that page',
    async ({ heading, sql }) => {
      // oxfmt-ignore
      const isExact = heading === 'One call'
      const rows = await run(atNow(sql))
      expect(rows.map((row) => Object.values(row).map((value) => plain(value, isExact)))).toEqual(answerOf(heading))
    },
  )

  test.each(RELATIONS)('%s has the columns and types of docs/sql.md', async (relation) => {
    const columns = columnsOf(relation)
    const found = await run(
      `SELECT attname AS name, format_type(atttypid, atttypmod) AS postgres FROM pg_attribute
      WHERE attrelid = '${relation}'::regclass AND attnum > 0 ORDER BY attnum`,
    )
    expect(found.map((column) => ({ ...column }))).toEqual(columns.map(({ name, postgres }) => ({ name, postgres })))
    const nulls = columns.map(({ name }) => `bool_or(${name} IS NULL) AS ${name}`)
    const [nullable] = await run(`SELECT ${nulls.join(', ')} FROM ${relation}`)
    expect({ ...nullable }).toEqual(Object.fromEntries(columns.map(({ name, mayBeNull }) => [name, mayBeNull])))
  })

  test('is all that the role of docs/sql.md can read, and it writes nothing', async () => {
    for (const table of ['calls', 'targets', 'events', 'counters', 'webhooks']) {
      await expect(run(`SELECT FROM callwatch.${table}`)).rejects.toThrow('permission denied')
    }
    const write = () => run('CREATE TABLE callwatch.more ()')
    await run('SET default_transaction_read_only = off')
    await expect(write()).rejects.toThrow('permission denied')
    // Ends the connection.
    await run('RESET default_transaction_read_only')
    await expect(write()).rejects.toThrow('is read-only')
  })
})

inPostgres('call_history with many rows in PostgreSQL', ({ newDatabase }) => {
  test('finds calls of a range of time in an index, of one target and of all', async () => {
    const url = await newDatabase()
    await (await owningStore(url)).close()
    const connection = await connect(url, { deadline: 60 })
    onTestFinished(() => connection.close())
    await connection.run(`
      INSERT INTO callwatch.targets (name, fingerprint, seq, sync, epoch)
      SELECT 'target ' || n, '', 1, '', 0 FROM generate_series(1, 5) AS n`)
    await connection.run(`
      INSERT INTO callwatch.calls (target, id, tracked, phase, last_status, last_labels, first_seen, finish_at, audio, video,
        participant_audio, participant_video, not_found, marks)
      SELECT number, n, false, 2, 2, 0, 0, ${NOW} - 90 * n, 0, 0, 0, 0, 0, 0
      FROM callwatch.targets, generate_series(0, 34000) AS n ORDER BY n DESC`)
    await connection.run('VACUUM ANALYZE callwatch.calls')
    await connection.run('VACUUM ANALYZE callwatch.targets')
    const plan = async (condition: string) => {
      const rows = await connection.run(`EXPLAIN SELECT count(*) FROM callwatch.call_history WHERE ${condition}`)
      return rows.map((row) => String(row['QUERY PLAN'])).join('\n')
    }
    const day = `finished >= to_timestamp(${NOW - DAY})`
    for (const condition of [day, `${day} AND target = 'target 3'`, 'finished IS NULL']) {
      const steps = await plan(condition)
      expect(steps).toMatch(/Scan (?:using|on) calls_by_finish_time/)
      expect(steps).not.toContain('Seq Scan on calls')
    }
    expect(await plan("target = 'target 3' AND session_id = '7'")).toContain('calls_pkey')
  })
})

/** A value as SQLite answers it: a time as a text without fractions in UTC, or as UNIX seconds. */
function plain(value: unknown, isExact: boolean): unknown {
  if (value instanceof Date) {
    return isExact ? value.getTime() / 1000 : value.toISOString().replace('T', ' ').slice(0, 19)
  }
  return typeof value === 'string' && /^-?[\d.]+$/.test(value) ? Number(value) : value
}
