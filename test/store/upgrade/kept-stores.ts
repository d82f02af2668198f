import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { alertHistory } from '../../../src/history/alert-history.ts'
import { updateRollups } from '../../../src/history/update-rollups.ts'
import { USAGE_KEYS, usageOf } from '../../../src/history/usage.ts'
import { openStore, type StoreAddress } from '../../../src/store/open-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { CREATED } from '../../ledger/seen.ts'
import { NOW } from '../../metrics/hand-made-target.ts'
import { BIN } from '../../postgres/start-postgres.ts'
import { DAY } from '../contract/place.ts'
import { TARGETS } from '../copy/filled-store.ts'
import { readCallHistory } from '../read-call-history.ts'

/** The versions of the schema of which stores are kept here, as the release that first had them wrote them. */
export const KEPT_VERSIONS = [1]

const file = (version: number, end: string) => join(import.meta.dirname, `version-${version}.${end}.gz`)
const read = (name: string) => gunzipSync(readFileSync(name))
const write = (name: string, data: string | Uint8Array) => writeFileSync(name, gzipSync(data, { level: 9 }))

/** In which their times and minutes differ by less than a microsecond. */
const kindOf = (address: StoreAddress) => ('path' in address ? 'file' : 'database')

/** What a kept store said when it was written. */
export function keptSayings(version: number, address: StoreAddress): object {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
  return JSON.parse(read(file(version, `${kindOf(address)}.json`)).toString()) as object
}

export function restoreFile(version: number, path: string): void {
  writeFileSync(path, read(file(version, 'db')))
}

/** @param url of an empty database */
export function restoreDatabase(version: number, url: string): void {
  const input = read(file(version, 'sql'))
  execFileSync(join(BIN, 'psql'), ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', url], { input, stdio: 'pipe' })
}

/** Keeps a store of this version, which is in a closed file and, the same, in a database. */
export async function keepStores(version: number, path: string, url: string): Promise<void> {
  for (const address of [{ path }, { url }]) {
    const store = await openAll(address)
    // One of two is added up: the other one stays to be.
    await updateRollups(store, NOW + DAY)
    write(file(version, `${kindOf(address)}.json`), JSON.stringify(await sayingsOf(store, address)))
    await store.sharing?.leave()
    await store.close()
  }
  write(file(version, 'db'), readFileSync(path))
  const dump = execFileSync(join(BIN, 'pg_dump'), ['--schema=callwatch', '--no-owner', url], { maxBuffer: 1e9 })
  write(file(version, 'sql'), dump)
}

/** A store as a daemon opens it that owns all targets. */
export async function openAll(address: StoreAddress): Promise<Store> {
  const store = await openStore({ ...address, lease: 60 }, ['slack', 'webhook'])
  const names = TARGETS.map(({ name }) => name)
  await store.sharing?.join('test', {}, '{}')
  await store.sharing?.acquire(names, names.length)
  return store
}

/** All that users and daemons get from a store (JSON), in which {@link filledStore} is. */
export async function sayingsOf(store: Store, address: StoreAddress): Promise<object> {
  const targets = []
  for (const identity of TARGETS) {
    const { ledger, alerts } = await store.openTarget(identity, NOW, DAY)
    const counters = [...ledger.counters].toSorted(([a], [b]) => (a < b ? -1 : 1))
    targets.push({ ...identity, sync: ledger.sync, counters, alerts })
  }
  const all = { from: 0, to: 4e9 }
  const sayings = {
    targets,
    calls: await readCallHistory(address),
    report: await usageOf(store, { ...all, by: USAGE_KEYS, zone: 'Europe/Berlin' }),
    alerts: await alertHistory(store, all, { configured: [], now: NOW }, 1000),
    events: await store.latestEvents(1000),
    silences: await store.silences(CREATED),
    outbox: [await store.outbox('slack'), await store.outbox('webhook')],
    webhooks: await store.webhooks(),
  }
  return JSON.parse(JSON.stringify(sayings))
}
