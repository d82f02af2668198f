import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { AlertDelta } from '../../../src/alerts/evaluate.ts'
import { apply, type Delta, type LedgerState } from '../../../src/ledger/state.ts'
import { step, type LedgerOptions, type Observation } from '../../../src/ledger/step.ts'
import type { Store } from '../../../src/store/store.ts'
import type { StoreReader } from '../../../src/store/store-reader.ts'
import { firingOf, POLL_AGE } from '../../alerts/sample-rules.ts'
import { CREATED } from '../../ledger/seen.ts'

/**
 * Where a store is: what one that was opened there kept, the next one finds. Where targets have owners, whoever opens one
 * owns it, and lets go of it when the store is closed.
 */
export type Place = {
  open: (notifiers?: readonly string[]) => Promise<Store>
  reader: () => Promise<StoreReader>
}
/** Makes a place with nothing in it. */
export type NewPlace = () => Promise<Place>

export const OPTIONS: LedgerOptions = { lookback: 1000, baseline: 'skip', details: 'missing' }
export const NO_ALERTS: AlertDelta = { changed: [], ended: [], notifications: [] }
export const A = { name: 'a', fingerprint: 'x' }
export const DAY = 86_400

/** Steps, commits and applies, as the daemon does. */
export async function see(
  store: Store,
  ledger: LedgerState,
  observation: Observation,
  target: string = A.name,
): Promise<Delta> {
  const delta = step(ledger, observation, OPTIONS)!
  await store.commit(target, { ledger: delta, alerts: NO_ALERTS, outgoing: [] })
  apply(ledger, delta, DAY)
  return delta
}

/** A change that is told: that the shipped rule for a service that is not heard of fires. */
export const notification = firingOf(POLL_AGE, 'a', CREATED, { value: 400, peak: 400 })

/** The alert that it tells of. */
export const instance: AlertInstance = {
  key: POLL_AGE.name,
  labels: {},
  rule: POLL_AGE,
  state: 'firing',
  since: CREATED,
  firingSince: CREATED,
  credited: 0,
  evaluatedAt: CREATED,
  value: 400,
  peak: 400,
  calls: undefined,
  counts: undefined,
  tooFewSince: undefined,
  toldAt: CREATED,
}
