import { readCursor, writeCursor } from '../../../src/events/cursor.ts'
import type { CallChange } from '../../../src/views/call.ts'
import { readEvents } from '../../../src/events/read-events.ts'
import { COUNTERS } from '../../../src/ledger/series.ts'
import { stepsBetween, type Step } from '../../../src/ledger/delta/transitions.ts'
import { MARK, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import type { Store } from '../../../src/store/store.ts'

/** A CloudEvent as a reader has it. */
export type KnownEvent = { id: string; source: string; type: string; time: string; subject?: string; data: CallChange }

/**
 * What is wrong with a target's events, by its counters: an id that is there twice, a step of a call that does not follow the one before,
 * or another number of steps than the counters have, which count the corrections of a status as well.
 *
 * @param rows all calls; those that were over at the set-up are counted, and have no events
 */
export function eventProblems(
  events: readonly KnownEvent[],
  counters: Iterable<readonly [string, number]>,
  rows: Iterable<TrackedCall> = [],
): string[] {
  const problems: string[] = []
  const steps = new Map<string, number>()
  const last = new Map<string, string>()
  const ids = new Set<string>()
  // A step to an undocumented status is no event while the call is open.
  const count = ({ from, to, observed }: Step) => {
    if (from === 'other' || to === 'other') return
    const step = `${from}|${to}|${observed}`
    steps.set(step, (steps.get(step) ?? 0) + 1)
  }
  for (const { id, type, subject = '', data } of events) {
    if (ids.has(id)) problems.push(`the event ${id} is in the log twice`)
    ids.add(id)
    const { from, to, inferred, before: corrected, after } = data
    if (corrected !== undefined && after !== undefined && corrected.status !== after.status) {
      for (const step of stepsBetween(corrected.status, after.status, data.mode)) count(step)
    }
    const isEndOfReappeared = from === 'lost' && type !== 'callwatch.call.reappeared'
    if (from === undefined || to === undefined || isEndOfReappeared) continue
    const before = last.get(subject)
    // An id that is used again, and a call that was over at the set-up, begin anew.
    if (before !== undefined && before !== from && from !== 'none' && from !== 'other') {
      problems.push(`the event ${id} of ${subject} is from ${from}, after one to ${before}`)
    }
    last.set(subject, to)
    count({ from, to, observed: inferred !== true })
  }
  for (const { marks, finish, status } of rows) {
    if (finish === undefined || (marks & MARK.overAtSetUp) === 0) continue
    const { mode } = finish.labels
    for (const step of [
      ...stepsBetween('none', finish.status, mode),
      ...(status === finish.status ? [] : stepsBetween(finish.status, status, mode)),
    ])
      count(step)
  }
  const prefix = `${COUNTERS.transitions.name}|`
  const counted = new Map(
    [...counters]
      .filter(([series]) => series.startsWith(prefix))
      .map(([series, number]) => [series.slice(prefix.length), number] as const)
      .filter(([step]) => !/(?:^|\|)other\|/.test(step)),
  )
  for (const step of new Set([...steps.keys(), ...counted.keys()])) {
    const [logged = 0, happened = 0] = [steps.get(step), counted.get(step)]
    if (logged !== happened) problems.push(`events: ${logged} of ${step}, ${happened} counted`)
  }
  return problems
}

/** All that a reader gets that stops and goes on, each time from its cursor. */
export async function readLog(store: Pick<Store, 'events' | 'latestEvents'>, from = '0'): Promise<KnownEvent[]> {
  const found: KnownEvent[] = []
  for (let cursor = readCursor(from)!, limit = 1; ; limit = (limit * 7) % 101) {
    const { events, next } = await readEvents(store, { cursor, limit })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own events
    found.push(...events.map(({ event }) => JSON.parse(JSON.stringify(event)) as KnownEvent))
    if (writeCursor(next) === writeCursor(cursor)) return found
    cursor = readCursor(writeCursor(next))!
  }
}
