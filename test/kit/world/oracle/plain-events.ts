import { isFinalStatus } from '../../../../src/simulator/calls/call.ts'
import { isFinal, wasOverBefore } from '../../../../src/simulator/expected/counted-calls.ts'
import type { LedgerEvent } from '../../../../src/simulator/calls/ledger.ts'

const SPELLINGS = new Map([
  ['cancelled', 'canceled'],
  ['missed', 'unanswered'],
  ['busy', 'rejected'],
])
const LABELS = {
  type: ['audio', 'video'],
  mode: ['call', 'meet', 'presenter'],
  receiverType: ['user', 'group'],
} as const
const DAY = 86_400

/** The status as it is counted: one of the six, or `other`. */
export function statusLabel({ status }: Pick<LedgerEvent, 'status'>): string {
  const lower = status.toLowerCase()
  const known = SPELLINGS.get(lower) ?? lower
  return isFinalStatus(known) || known === 'initiated' || known === 'ongoing' ? known : 'other'
}

/**
 * The events as a correct daemon understands them: values outside the documented ones are `other`, and a time more than a day
 * ahead is none, since nothing can have happened then.
 */
export function plainEvents(events: readonly LedgerEvent[]): LedgerEvent[] {
  return events.map((event) => {
    const plain = { ...event, status: statusLabel(event) }
    for (const name of ['initiatedAt', 'startedAt', 'endedAt'] as const) {
      if ((event[name] ?? 0) > event.at + DAY) delete plain[name]
    }
    for (const name of ['type', 'mode', 'receiverType'] as const) {
      if (!LABELS[name].some((known) => known === event[name])) plain[name] = 'other'
    }
    return plain
  })
}

/** Without the ends before the set-up of calls that are open again later: those count whole. */
export function withoutEarlyEnds(events: readonly LedgerEvent[], created: number): readonly LedgerEvent[] {
  const ends = new Map<string, LedgerEvent[]>()
  const early = new Set<LedgerEvent>()
  for (const event of events) {
    const since = ends.get(event.call)
    if (isFinal(event)) ends.set(event.call, [...(since ?? []), event])
    else if (since?.[0] !== undefined && wasOverBefore(since[0], created)) {
      for (const end of since) early.add(end)
      ends.delete(event.call)
    }
  }
  return early.size === 0 ? events : events.filter((event) => !early.has(event))
}
