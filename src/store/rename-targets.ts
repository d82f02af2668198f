import { isPattern, matchesValue, patternProblem } from '../alerts/match.ts'
import { literally } from '../alerts/match-keys.ts'
import type { SyncState } from '../ledger/state.ts'
import { isMap } from '../schema/path.ts'
import type { Cluster } from './cluster.ts'
import { list, parse, type Row, type Sql, type Step, type Value } from './sql.ts'
import type { ReceiverState, Rename } from './store.ts'
import { changing, keyIsGiven, TABLES, type TableName } from './tables.ts'

/** How the texts of a column change with a name. */
type Renaming = (text: string, rename: Rename) => string

/**
 * Where the store has names of targets, next to `targets` and `events`. Other tables refer to a target by its number. In the order in which
 * commits and senders lock these tables, so that they cannot deadlock.
 */
const NAMES: readonly (readonly [table: TableName, column: string, renaming: Renaming])[] = [
  ['notified', 'data', inJson],
  ['receivers', 'data', inSetUps],
  ['alert_episodes', 'target', asName],
  ['alert_episodes', 'notes', (text, rename) => text.replaceAll(/^.+$/gm, (line) => inJson(line, rename))],
  ['silences', 'data', (text, rename) => inJson(text, rename, asMatched)],
  ['undelivered', 'data', inSeries],
]

/** Locks all targets before any other rows and in one order, as commits do. */
const FIND = 'SELECT number, name, sync FROM callwatch.targets WHERE name IN texts($1) ORDER BY number FOR UPDATE'
/** Frees the target, and skips a sequence number, so that the next commit under the old name is stale. */
const RENAME = 'UPDATE callwatch.targets SET name = $2, owner = NULL, seq = $3, sync = $4 WHERE number = $1'
const RENAME_EVENTS = 'UPDATE callwatch.events SET named = coalesce(named, target), target = $2 WHERE target = $1'

/** So that webhooks are opened again: what they have in memory has the old name. */
const CHANGE_WEBHOOKS = 'UPDATE callwatch.webhooks SET revision = revision + 1'

/** Gives targets other names, within a transaction. */
export async function renameTargets(
  sql: Sql,
  renames: readonly Rename[],
  cluster: Pick<Cluster, 'ordering' | 'tables'> | undefined,
): Promise<void> {
  const rows = await sql.all(FIND, [list(renames.flatMap(({ name, formerly }) => [name, formerly]))])
  const stored = new Map(rows.map((row) => [row['name'], row]))
  for (const rename of renames) {
    const { name, formerly } = rename
    const row = stored.get(formerly)
    // Another daemon may have renamed it.
    if (row === undefined || stored.has(name)) continue
    const number = Number(row['number'])
    const sync = parse<SyncState>(row['sync'])
    const seq = sync.seq + 1
    await sql.batch([
      { statement: RENAME, args: [number, name, seq, JSON.stringify({ ...sync, seq })] },
      ...(cluster?.tables ?? []).map((table): Step => {
        return { statement: `DELETE FROM callwatch.${table} WHERE target = $1`, args: [number] }
      }),
      ...(cluster === undefined ? [] : [cluster.ordering]),
      { statement: RENAME_EVENTS, args: [formerly, name] },
      { statement: CHANGE_WEBHOOKS },
    ])
    for (const one of NAMES) await renameIn(sql, rename, one)
  }
}

/** Changes a column. A row that has the new key already is replaced. */
async function renameIn(sql: Sql, rename: Rename, [table, column, renaming]: (typeof NAMES)[number]): Promise<void> {
  const { key } = TABLES[table]
  const keys = key.join(', ')
  const { formerly } = rename
  const containing = [formerly, JSON.stringify(formerly).slice(1, -1), '=~'].map(
    (text) => `%${text.replaceAll(/[!%_]/g, '!$&')}%`,
  )
  const contains = containing.map((_, i) => `${column} LIKE $${i + 1} ESCAPE '!'`).join(' OR ')
  const rows = await sql.all(
    `SELECT ${keys}, ${column} AS text FROM callwatch.${table} WHERE ${contains} ORDER BY ${keys} FOR UPDATE`,
    containing,
  )
  const changed = rows.flatMap((row) => {
    const next = renaming(String(row['text']), rename)
    return next === row['text'] ? [] : [{ row, next }]
  })
  const keyOf = (row: Row) => key.map((name) => valueOf(row[name]))
  const given = changed.map(({ row, next }) => [...keyOf(row), next])
  const replaced = key.includes(column) ? changed.map(({ row, next }) => keyOf({ ...row, [column]: next })) : []
  await sql.batch([
    { statement: `DELETE FROM callwatch.${table} WHERE ${keyIsGiven(table)}`, given: replaced },
    { statement: changing(table, column), given },
  ])
}

function asName(text: string, { name, formerly }: Rename): string {
  return text === formerly ? name : text
}

/** PostgreSQL's client returns some numbers as text, and flags as booleans. */
const valueOf = (value: unknown): Value => (typeof value === 'string' ? value : Number(value))

/** Changes a name wherever JSON has it: in `target`, and in lists of `targets`. @param nameIn changes the text of such a field */
function inJson(text: string, rename: Rename, nameIn: Renaming = asName): string {
  const renamed = (value: unknown, isName: boolean): unknown => {
    if (Array.isArray(value)) return value.map((one) => renamed(one, isName))
    if (isMap(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, renamed(one, key === 'target' || key === 'targets')]),
      )
    return isName && typeof value === 'string' ? nameIn(value, rename) : value
  }
  return JSON.stringify(renamed(JSON.parse(text), false))
}

/** Of which targets a receiver got the first report. */
function inSetUps(text: string, { name, formerly }: Rename): string {
  const { setUps, ...state } = parse<ReceiverState>(text)
  const renamed = Object.entries(setUps).map(([of, created]) => [of === formerly ? name : of, created])
  return JSON.stringify({ ...state, setUps: Object.fromEntries(renamed) })
}

/** A regular expression that matched the old name also matches the new one. */
function asMatched(text: string, rename: Rename): string {
  const { name, formerly } = rename
  if (!isPattern(text)) return asName(text, rename)
  if (!matchesValue(text, formerly) || matchesValue(text, name)) return text
  const wider = text.replace(/^=~\s*(.*)$/s, (_, expression) => `=~(?:${expression})|${literally(name)}`)
  return patternProblem(wider) === undefined ? wider : text
}

/** Undelivered events of one call, or of the alerts of one target, stay in one series. */
function inSeries(text: string, { name, formerly }: Rename): string {
  const event = parse<{ series: string }>(text)
  if (!event.series.startsWith(`${formerly} `)) return text
  return JSON.stringify({ ...event, series: `${name}${event.series.slice(formerly.length)}` })
}
