import type { AlertInstance } from '../alerts/alert-instance.ts'
import type { EvaluationRecord } from '../alerts/trigger.ts'
import type { Silence } from '../alerts/match.ts'
import { QUANTITIES, sumOfAmounts, type Amounts, type Quantity } from '../ledger/balance.ts'
import { unpackCall } from '../ledger/call-record.ts'
import { newLedger, type SyncState, type LedgerState } from '../ledger/state.ts'
import type { TrackedCall } from '../ledger/tracked-call.ts'
import { unpackEvaluations } from './evaluation-log.ts'
import { StoreError, type LoggedEvents, type NewEvents, type OutboxEntry, type OutboxContent } from './store.ts'
import type { StoredWebhook, UndeliveredEvent } from './webhook-store.ts'

// The rows that both stores have, as values.

type Row = Readonly<Record<string, unknown>>

/** JSON that a store itself wrote: T is what it was written from. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function parse<T>(text: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(String(text)) as T
}

/** Bytes of a row. */
export function bytesOf({ data }: Row): Uint8Array {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column is a BLOB or bytea
  return data as Uint8Array
}

/** The call of a row with its `id` and `data`. */
export function callOf(row: Row): TrackedCall {
  return unpackCall(String(row['id']), bytesOf(row))
}

/** A target's ledger before its calls and counters are added. */
export function ledgerOf(sync: SyncState): LedgerState {
  return { ...newLedger(sync.created), sync }
}

/**
 * Since when finished calls are needed for windows (UNIX seconds).
 *
 * @param longestWindow how far back windows reach (seconds)
 */
export function finishedSince(
  { created, lastSuccess = created, previousSuccess = lastSuccess }: SyncState,
  longestWindow: number,
): number {
  return Math.min(previousSuccess, lastSuccess - longestWindow)
}

/** The store has another target under this name. */
export function otherTarget(name: string): StoreError {
  return new StoreError(
    'refused',
    `target ${name} had another address, on_behalf_of or query when its calls were counted; ` +
      `give the new one another name, or run with --reset-target ${name} to count from nothing`,
  )
}

/** A commit of the log of events. Its texts are JSON, and so have no line breaks. */
export function loggedEventsOf({ position, id, target, at, total, data, participants }: Row): LoggedEvents {
  return {
    position: Number(position),
    id: String(id),
    target: String(target),
    at: Number(at),
    total: Number(total),
    texts: String(data).split('\n'),
    ...(participants !== '' && { participants: String(participants).split('\n') }),
  }
}

/** The columns of what a commit adds to the log of events. */
export function eventColumns({ id, at, texts, participants = [] }: NewEvents) {
  return { id, at, n: texts.length, data: texts.join('\n'), participants: participants.join('\n') }
}

/** A webhook, of a row with the counts and the first of its undelivered events. */
export function storedWebhookOf({
  name,
  revision,
  data,
  waiting,
  dead,
  first,
  first_position: position,
}: Row): StoredWebhook {
  return {
    name: String(name),
    revision: Number(revision),
    progress: parse(data),
    waiting: Number(waiting),
    dead: Number(dead),
    oldest: first === null ? undefined : { position: Number(position), at: parse<UndeliveredEvent>(first).at },
  }
}

export function undeliveredOf({ position, place, dead, data }: Row): UndeliveredEvent {
  // SQLite has no booleans.
  return { ...parse<UndeliveredEvent>(data), position: Number(position), place: Number(place), dead: Boolean(dead) }
}

/** The columns of an undelivered event. */
export function undeliveredColumns({ position, place, dead, ...rest }: UndeliveredEvent) {
  return { position, place, dead, data: JSON.stringify(rest) }
}

/** The alerts of rows with `name` and `data`, by target. */
export function alertsByTarget(rows: readonly Row[]): { target: string; alerts: AlertInstance[] }[] {
  const byTarget = Map.groupBy(rows, ({ name }) => String(name))
  return [...byTarget].map(([target, alerts]) => ({
    target,
    alerts: alerts.flatMap(({ data }) => (data === null ? [] : parse<AlertInstance>(data))),
  }))
}

/** The evaluations of rows with `hour` and `data`, those since a moment (UNIX seconds). */
export function evaluationsOf(rows: readonly Row[], since: number): EvaluationRecord[] {
  return rows.flatMap(({ hour, data }) => unpackEvaluations(Number(hour), String(data))).filter(({ at }) => at >= since)
}

/** What waits in the outbox, of a row with `id`, `claimed` and `data`. */
export function outboxEntryOf({ id, claimed, data }: Row): OutboxEntry {
  return { id: Number(id), claimed: claimed === true || claimed === 1, content: parse<OutboxContent>(data) }
}

/** The silence of a row with `id`, `until` and `data`, which may have another end: it expired early then. */
export function silenceOf({ id, until, data }: Row): Silence {
  return { ...parse<Omit<Silence, 'id'>>(data), id: Number(id), until: Number(until) }
}

/** What an edit at `now` makes of a silence: what it matched until then is kept. Undefined if it was edited meanwhile. */
export function editedSilence(
  before: Silence,
  edit: Omit<Silence, 'id'>,
  now: number,
): Omit<Silence, 'id'> | undefined {
  const { match, edits = 0, earlier = [] } = before
  if (edit.edits !== edits + 1) return undefined
  const isSame = JSON.stringify(match) === JSON.stringify(edit.match)
  return { ...edit, earlier: isSame ? earlier : [...earlier, { match, until: now }] }
}

/** The amounts of a target's rows of `deleted_call_totals`. */
export function deletedCallTotals(rows: readonly Row[]): Amounts {
  const values = new Map(rows.map(({ quantity, value }) => [quantity, Number(value)]))
  return QUANTITIES.map((quantity) => values.get(quantity) ?? 0)
}

/** What was counted of calls whose rows are deleted: the same transaction adds it to the table `deleted_call_totals`. */
export function deletedCallTotalsOf(
  deleted: readonly TrackedCall[],
): (readonly [quantity: Quantity, amount: number])[] {
  const sums = sumOfAmounts(deleted)
  return QUANTITIES.map((quantity, i) => [quantity, sums[i]!] as const).filter(([, amount]) => amount !== 0)
}
