import { isFinal, labelsOf, wasOverBefore } from '../../../../src/simulator/expected/counted-calls.ts'
import type { LedgerEvent } from '../../../../src/simulator/calls/ledger.ts'
import { callsUntil } from './expected-calls.ts'
import { plainEvents } from './plain-events.ts'

/** Calls, by their ids in the ledger, by the reason for which the expected series depend on when one polls; a call may have several. */
export type SetAside = {
  /** Its status changed after it was final. */
  finalChanged: string[]
  /** It was out of the list and unknown to Get Call, for good or for a while. */
  vanished: string[]
  /** When it became final it had no `endedAt`, and it had ended, or it rang at the set-up. */
  withoutEndedAt: string[]
  /** The next call of its session was in its place before two polls had seen its last state. */
  replaced: string[]
  /** Type, mode or receiver type changed: exact only as sums over that label. */
  labelsChanged: string[]
}

/**
 * The calls that a comparison with the expected series may set aside, by name (semantics.md, Three kinds of numbers).
 *
 * @param created the set-up (seconds since 1970): what ended before it, and is open again later, has not changed its end
 */
export function setAside(events: readonly LedgerEvent[], created?: number): SetAside {
  const calls = callsUntil(events, Infinity, created)
  const finalChanged = new Set<string>()
  const vanished = new Set<string>()
  const replaced = new Set<string>()
  const labelsChanged = new Set<string>()
  const over = new Map<string, { status: string; end: LedgerEvent }>()
  for (const event of plainEvents(events)) {
    const { call, status } = event
    const before = over.get(call)
    const isAgain = before !== undefined && !isFinal(event) && wasOverBefore(before.end, created ?? -Infinity)
    if (isAgain) over.delete(call)
    else if (before !== undefined && before.status !== status) finalChanged.add(call)
    if (before === undefined && isFinal(event)) over.set(call, { status, end: event })
    if (event.event === 'vanished') vanished.add(call)
    if (event.event === 'replaced') replaced.add(call)
    if (!sameLabels(event, calls.get(call)!.first)) labelsChanged.add(call)
  }
  const withoutEndedAt = [...calls].flatMap(([id, { final }]) => {
    if (final === undefined || final.endedAt !== undefined) return []
    const rangAtSetUp = wasOverBefore(final, created ?? -Infinity) && final.at >= created!
    return final.status === 'ended' || rangAtSetUp ? id : []
  })
  return {
    finalChanged: [...finalChanged],
    vanished: [...vanished],
    withoutEndedAt,
    replaced: [...replaced],
    labelsChanged: [...labelsChanged],
  }
}

function sameLabels(a: LedgerEvent, b: LedgerEvent): boolean {
  return JSON.stringify(labelsOf(a)) === JSON.stringify(labelsOf(b))
}
