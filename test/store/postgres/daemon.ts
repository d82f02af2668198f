import { onTestFinished } from 'vitest'
import { apply, type LedgerState } from '../../../src/ledger/state.ts'
import { step } from '../../../src/ledger/step.ts'
import { openPostgresStore, type PostgresStoreOptions } from '../../../src/store/postgres/postgres-store.ts'
import type { Settings } from '../../../src/store/settings.ts'
import type { SharedStore } from '../../../src/store/sharing.ts'
import type { Commit } from '../../../src/store/store.ts'
import { completeLook, seen } from '../../ledger/seen.ts'
import { DAY, NO_ALERTS, OPTIONS } from '../contract/place.ts'

/** A shared store, closed after the test. */
export async function openShared(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<SharedStore> {
  const store = await openPostgresStore({ url, lease: 60, ...options })
  onTestFinished(() => store.close().catch(() => undefined))
  return store
}

/** The same, of a daemon that is a member. */
export async function joined(
  url: string,
  name: string,
  options: Partial<PostgresStoreOptions> & { settings?: Settings; note?: string } = {},
): Promise<SharedStore> {
  const { settings = {}, note = '{}', ...others } = options
  const store = await openShared(url, others)
  await store.sharing.join(name, settings, note)
  return store
}

/** A commit that follows what is known: a look that sees a call. */
export function commitOf(ledger: LedgerState, call: string, status: 'ongoing' | 'ended' = 'ongoing'): Commit {
  const look = completeLook(ledger.facts.seq + 1, seen(call, status))
  return { ledger: step(ledger, look, OPTIONS)!, alerts: NO_ALERTS, outgoing: [] }
}

/** Commits, and moves on. */
export async function commitTo(store: SharedStore, target: string, ledger: LedgerState, commit: Commit): Promise<void> {
  await store.commit(target, commit)
  apply(ledger, commit.ledger, DAY)
}
