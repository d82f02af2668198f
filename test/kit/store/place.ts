import { expect } from 'vitest'
import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { Episode } from '../../../src/alerts/episode.ts'
import type { AlertDelta } from '../../../src/alerts/evaluate.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import { applyDelta, type Delta, type LedgerState } from '../../../src/ledger/state.ts'
import { newDraft } from '../../../src/ledger/delta/delta-draft.ts'
import { computeDelta, type LedgerOptions } from '../../../src/ledger/delta/compute-delta.ts'
import type { Observation } from '../../../src/ledger/observation.ts'
import type { TrackedCall } from '../../../src/ledger/tracked-call.ts'
import type { Commit, Store, StoredTarget, TargetIdentity } from '../../../src/store/store.ts'
import type { StoreReader } from '../../../src/store/reader.ts'
import { parse } from '../../../src/store/sql.ts'
import { firingOf, POLL_AGE } from '../alerts/sample-rules.ts'
import { completePoll, contents, CREATED, seen } from '../ledger/seen.ts'
import type { HistoryRow } from './read-call-history.ts'

/**
 * Where a store is: the next one that is opened there finds what an earlier one kept. Where targets have owners, a store
 * owns each target that it opens, until it is closed.
 */
export type Place = {
  open: (receivers?: readonly string[]) => Promise<Store>
  reader: () => Promise<StoreReader>
  callHistory: () => Promise<HistoryRow[]>
}
/** Makes an empty place. */
export type NewPlace = () => Promise<Place>

export const OPTIONS: LedgerOptions = { lookback: 1000, baseline: 'skip', details: 'missing' }
export const NO_ALERTS: AlertDelta = { changed: [], ended: [], notifications: [] }
export const A = { name: 'a', fingerprint: 'x' }
export const B = { name: 'b', fingerprint: 'y' }
export const DAY = 86_400

/** What a commit has besides its delta. `changes` are those of alerts. */
export type More = Partial<Commit> & { changes?: readonly Notification[] }

/** A commit of a delta, with nothing else but what is given. */
export function commitOf(ledger: Delta, { changes = [], alerts = NO_ALERTS, ...more }: More = {}): Commit {
  return { ledger, alerts: { ...alerts, notifications: [...alerts.notifications, ...changes] }, ...more }
}

/** Writes and logs changes of a target, as its commits do. */
export async function commitChanges(
  store: Store,
  target: string,
  changes: Pick<More, 'changes' | 'events'>,
): Promise<void> {
  const { ledger } = await store.openTarget({ name: target, fingerprint: '' }, CREATED, DAY)
  await store.commit(target, commitOf(newDraft(ledger.sync).delta, changes))
}

/** A target in a store, and how it moves on. */
export type OpenTarget = StoredTarget & {
  store: Store
  /** Steps, commits and applies, as the daemon does. */
  see: (observation: Observation, more?: More) => Promise<Delta>
  /** The delta of an observation, not committed. */
  deltaOf: (observation: Observation) => Delta
}

export async function openIn(store: Store, identity: TargetIdentity = A): Promise<OpenTarget> {
  const opened = await store.openTarget(identity, CREATED, DAY)
  const { ledger } = opened
  const deltaOf = (observation: Observation) => computeDelta(ledger, observation, OPTIONS)!
  return {
    ...opened,
    store,
    deltaOf,
    see: async (observation, more) => {
      const delta = deltaOf(observation)
      await store.commit(identity.name, commitOf(delta, more))
      applyDelta(ledger, delta, DAY)
      return delta
    },
  }
}

/** Target A in a store at a new place, and how a restart finds it. */
export async function openAt(
  newPlace: NewPlace,
): Promise<OpenTarget & { place: Place; restart: () => Promise<OpenTarget> }> {
  const place = await newPlace()
  const target = await openIn(await place.open())
  const restart = async () => {
    await target.store.close()
    return openIn(await place.open())
  }
  return { ...target, place, restart }
}

/** A target of which these calls are over: those of `tracked` are tracked, all others are history only. */
export async function filled(
  store: Store,
  identity: TargetIdentity,
  ended: Record<string, number>,
  tracked: readonly string[] = [],
): Promise<LedgerState> {
  const { ledger, see, deltaOf } = await openIn(store, identity)
  const calls = Object.entries(ended).map(([id, at]) => seen(id, 'ended', { endedAt: CREATED + at }))
  const first = await see(completePoll(2000, ...calls))
  const evicted = [...first.calls.values()].filter(({ id }) => !tracked.includes(id))
  const second = { ...deltaOf(completePoll(2001)), evicted }
  await store.commit(identity.name, commitOf(second))
  applyDelta(ledger, second, DAY)
  expect([...contents(ledger).calls.keys()]).toEqual(tracked)
  return ledger
}

/** Of each call: its target, its id, and when it finished (seconds after the set-up). */
export const summariesOf = (history: readonly { target: string; call: TrackedCall }[]): string[] =>
  history.map(({ target, call }) => `${target} ${call.id} ${call.finish!.at - CREATED}`)

/** As many calls, which were over a tenth of a second after each other. */
export const many = (number: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: number }, (_, i) => [`call ${i}`, 1 + i / 10]))

/** Which alerts have fired, by the keys of their rules, each with how or why it ended: `NoCalls`, `NoCalls resolved`, `NoCalls target reset`. */
export async function episodesIn({ rows }: Pick<Store, 'rows'>): Promise<string[]> {
  const found = await rows('SELECT alert, data FROM callwatch.alert_episodes ORDER BY since, alert', [])
  return found.map(({ alert, data }) => {
    const { outcome, expiredBecause = outcome } = parse<Episode>(data)
    return expiredBecause === undefined ? String(alert) : `${String(alert)} ${expiredBecause}`
  })
}

/** That the shipped rule for a service without a successful poll fires. */
export const notification = firingOf(POLL_AGE, 'a', CREATED, { value: 400, peak: 400 })

/** The alert of that notification. */
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
}
