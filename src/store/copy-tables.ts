/**
 * What a column holds, whichever store it is in. Numbers are 64-bit floats, whole ones below 2^53, flags 0 or 1. A `target`
 * is copied as its name: the numbers by which tables refer to targets differ from store to store.
 */
export type ColumnKind = 'target' | 'text' | 'number' | 'whole' | 'flag' | 'bytes'

/** A value of a column; a `number` may be missing. */
export type CopyValue = string | number | Uint8Array | null

/** A row's values in the order of its table's columns. */
export type CopyRow = readonly CopyValue[]

type Columns = Readonly<Record<string, ColumnKind>>

/**
 * All that a store keeps, by table, as both kinds of stores have it. What only concerns the daemons that use it now is not
 * part of it: locks, members, the latest commits, overviews.
 */
export const COPY_TABLES = {
  targets: {
    key: 1,
    columns: { name: 'text', fingerprint: 'text', seq: 'whole', sync: 'text', removed: 'number', expired: 'number' },
  },
  calls: {
    key: 2,
    columns: {
      target: 'target',
      id: 'text',
      tracked: 'flag',
      data: 'bytes',
      finished: 'number',
      status: 'whole',
      labels: 'whole',
      began: 'number',
      noticed: 'number',
      duration: 'number',
      answer_delay: 'number',
      participants: 'number',
      audio: 'number',
      video: 'number',
      participant_audio: 'number',
      participant_video: 'number',
      recorded: 'flag',
    },
  },
  counters: { key: 2, columns: { target: 'target', series: 'text', value: 'number' } },
  deleted_call_totals: { key: 2, columns: { target: 'target', quantity: 'text', value: 'number' } },
  gaps: { key: 2, columns: { target: 'target', ended: 'number', began: 'number' } },
  alerts: { key: 2, columns: { target: 'target', alert: 'text', data: 'text' } },
  usage: { key: 2, columns: { target: 'target', quarter: 'whole', minutes: 'number' } },
  evaluations: { key: 2, columns: { target: 'target', hour: 'whole', data: 'text' } },
  events: {
    key: 1,
    columns: {
      position: 'whole',
      id: 'text',
      target: 'text',
      at: 'number',
      n: 'whole',
      total: 'whole',
      data: 'text',
      participants: 'text',
    },
  },
  webhooks: { key: 1, columns: { name: 'text', revision: 'whole', data: 'text' } },
  undelivered: {
    key: 3,
    columns: { webhook: 'text', position: 'whole', place: 'whole', dead: 'flag', data: 'text' },
  },
  outbox: { key: 1, columns: { id: 'whole', receiver: 'text', claimed: 'flag', data: 'text' } },
  recipients: { key: 3, columns: { target: 'text', alert: 'text', receiver: 'text' } },
  alert_episodes: {
    key: 3,
    columns: {
      target: 'text',
      alert: 'text',
      since: 'number',
      until: 'number',
      rule: 'text',
      severity: 'text',
      data: 'text',
      notes: 'text',
    },
  },
  deduplication_keys: { key: 1, columns: { key: 'text', at: 'number' } },
  silences: { key: 1, columns: { id: 'whole', until: 'number', data: 'text' } },
  pauses: { key: 1, columns: { key: 'text', until: 'number' } },
} as const satisfies Readonly<
  Record<string, { /** The number of columns that identify a row. */ key: number; columns: Columns }>
>

export type CopyTable = keyof typeof COPY_TABLES

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
export const COPY_TABLE_NAMES = Object.keys(COPY_TABLES) as readonly CopyTable[]

/** The columns of a table in order, each with what it holds. */
export function columnsOf(table: CopyTable): readonly (readonly [name: string, kind: ColumnKind])[] {
  return Object.entries<ColumnKind>(COPY_TABLES[table].columns)
}

/**
 * How a store writes what its SQL has in another way: before the name of a table, between two, behind a text in an order, and
 * what to read in place of a table.
 */
export type Dialect = {
  schema: string
  join: string
  bytewise: string
  instead?: Partial<Record<CopyTable, string>>
}

/** Selects a table's rows by its key, texts in the order of their bytes. */
export function selectRows(table: CopyTable, { schema, join, bytewise, instead = {} }: Dialect): string {
  const columns = columnsOf(table)
  const isOfTarget = columns.some(([, kind]) => kind === 'target')
  const selected = columns.map(([name, kind]) => (kind === 'target' ? 'name AS target' : name))
  const order = columns.slice(0, COPY_TABLES[table].key).map(([column, kind]) => {
    const name = kind === 'target' ? 'name' : column
    return kind === 'target' || kind === 'text' ? `${name}${bytewise}` : name
  })
  const from = isOfTarget
    ? `${schema}targets ${join} ${schema}${table} ON target = number`
    : (instead[table] ?? `${schema}${table}`)
  return `SELECT ${selected.join(', ')} FROM ${from} ORDER BY ${order.join(', ')}`
}

/** So many rows are read, written and compared at a time. */
export const COPY_BATCH = 1000

/** A store that is read whole. Every method rejects with a {@link StoreError}. */
export type CopySource = {
  /** How it is called in a sentence: its file, or its database. */
  readonly place: string
  /** The rows of a table by its key, in the order of their bytes, in batches that are full but for the last one. */
  rows: (table: CopyTable) => AsyncIterable<readonly CopyRow[]>
  /** Closes it, and lets daemons use it again. */
  close: () => Promise<void>
}

/** An empty store that is filled, in one transaction. `rows` reads what was written so far. */
export type CopyDestination = CopySource & {
  write: (table: CopyTable, rows: readonly CopyRow[]) => Promise<void>
  /** Keeps all that was written; closed without it, the store is as empty as before. */
  commit: () => Promise<void>
}
