import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { alertHistory } from '../../kit/history/as-shown.ts'
import { updateRollups } from '../../../src/history/rollups.ts'
import { USAGE_KEYS } from '../../../src/history/usage-keys.ts'
import { usageOf } from '../../kit/history/as-shown.ts'
import { openCopySource, openStore, type StoreAddress } from '../../../src/store/open-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { columnsOf, COPIED, rowsOf } from '../../../src/store/copy.ts'
import type { Value } from '../../../src/store/sql.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'
import { BIN } from '../../kit/postgres/start-postgres.ts'
import { DAY } from '../../kit/store/place.ts'
import { TARGETS } from '../../kit/filled-store.ts'
import { readCallHistory } from '../../kit/store/read-call-history.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

/** The released versions of the schema, of which stores are kept here, as the program wrote them when the version was frozen. */
export const KEPT_VERSIONS: readonly number[] = []

/** A version of the schema of which a store is kept, and the folder that has it. */
export type KeptStore = { version: number; folder: string }

const file = ({ version, folder }: KeptStore, end: string) => join(folder, `version-${version}.${end}.gz`)
const read = (name: string) => gunzipSync(readFileSync(name))
const write = (name: string, data: string | Uint8Array) => writeFileSync(name, gzipSync(data, { level: 9 }))

/** In which their times and minutes differ by less than a microsecond. */
const kindOf = (address: StoreAddress) => ('path' in address ? 'file' : 'database')

/** What a kept store had when it was written, as {@link contentsOf} reads it. */
export function keptContents(kept: KeptStore, address: StoreAddress): object {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
  return JSON.parse(read(file(kept, `${kindOf(address)}.json`)).toString()) as object
}

export function restoreFile(kept: KeptStore, path: string): void {
  writeFileSync(path, read(file(kept, 'db')))
}

/** @param url of an empty database */
export function restoreDatabase(kept: KeptStore, url: string): void {
  const input = read(file(kept, 'sql'))
  execFileSync(join(BIN, 'psql'), ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', url], { input, stdio: 'pipe' })
}

/** Keeps a store that is in a closed file and, the same, in a database. */
export async function keepStores(kept: KeptStore, path: string, url: string): Promise<void> {
  for (const address of [{ path }, { url }]) {
    const store = await openAll(address)
    // The oldest calls of ten hours, some of which are rollups of three hours. What comes after them stays to be added up.
    let after = await updateRollups(store, NOW + DAY)
    for (let i = 0; i < 30; i++) after = await updateRollups(store, NOW + DAY, after)
    expect(await store.rows('SELECT 1 FROM callwatch.rollups', [])).not.toEqual([])
    expect(await store.rows('SELECT 1 FROM callwatch.stale_rollups', [])).not.toEqual([])
    await closeAll(store)
    write(file(kept, `${kindOf(address)}.json`), JSON.stringify(await contentsOf(address)))
  }
  const whole = join(temporaryFolder(), 'whole.db')
  // With what is in its log of writes.
  using db = new DatabaseSync(path)
  db.exec(`VACUUM INTO '${whole}'`)
  write(file(kept, 'db'), readFileSync(whole))
  const dump = execFileSync(join(BIN, 'pg_dump'), ['--schema=callwatch', '--no-owner', url], { maxBuffer: 1e9 })
  write(file(kept, 'sql'), dump)
}

/** A store as a daemon opens it that owns all targets. */
export async function openAll(address: StoreAddress): Promise<Store> {
  const store = await openStore({ ...address, lease: 600 }, ['slack', 'webhook'])
  const names = TARGETS.map(({ name }) => name)
  await store.cluster?.join('test', '{}', {})
  await store.cluster?.acquire(names, names.length)
  return store
}

/** Closes it, so that others may use it at once. */
export async function closeAll(store: Store): Promise<void> {
  await store.cluster?.leave()
  await store.close()
}

/** All that is in a store: its tables, and what is read from them by SQL, as a report and as the history of alerts (JSON). */
export async function contentsOf(address: StoreAddress): Promise<object> {
  const store = await openAll(address)
  const all = { from: 0, to: 4e9 }
  const shown = {
    calls: await readCallHistory(address),
    // The app of a target is not stored.
    report: await usageOf(store, { ...all, by: USAGE_KEYS.filter((key) => key !== 'app'), zone: 'Europe/Berlin' }),
    alerts: await alertHistory(store, all, { configured: [], now: NOW }, 1000),
  }
  await closeAll(store)
  return JSON.parse(JSON.stringify({ tables: await tablesOf(address), ...shown }))
}

async function tablesOf(address: StoreAddress): Promise<Record<string, object[]>> {
  const source = await openCopySource(address)
  const tables: Record<string, object[]> = {}
  for (const table of COPIED) {
    const columns = columnsOf(table).map(([name]) => name)
    const rows = (await Array.fromAsync(rowsOf(source, table))).flat()
    tables[table] = rows.map((row) => Object.fromEntries(row.map((value, i) => [columns[i]!, jsonOf(value)])))
  }
  await source.close()
  return tables
}

function jsonOf(value: Value): string | number | null {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}
