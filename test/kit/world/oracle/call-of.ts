import type { LedgerEvent } from '../../../../src/simulator/calls/ledger.ts'

/** What a row of callwatch or an item of an answer says of the call that it is of. Times are UNIX seconds. */
type Row = { session: string; initiatedAt?: number | undefined; startedAt?: number | undefined }

const START_TOLERANCE_SECONDS = 1

/** Names the call of the ledger that a row is of: of its session the one that began then. Undefined if none did. */
export function callsOf(events: readonly LedgerEvent[]): (row: Row) => string | undefined {
  const sessions = new Map<string, Map<string, { initiatedAt: Set<number>; startedAt: Set<number> }>>()
  for (const { sessionId, call, ...event } of events) {
    const calls = sessions.get(sessionId) ?? new Map()
    const times = calls.get(call) ?? { initiatedAt: new Set(), startedAt: new Set() }
    for (const name of ['initiatedAt', 'startedAt'] as const)
      if (event[name] !== undefined) times[name].add(event[name])
    sessions.set(sessionId, calls.set(call, times))
  }
  return ({ session, ...row }) => {
    const calls = sessions.get(session) ?? new Map()
    if (calls.size === 1) return [...calls.keys()][0]
    const distances = [...calls].map(([call, times]) => {
      const apart = (['initiatedAt', 'startedAt'] as const).flatMap((name) =>
        [...times[name]].map((time) => Math.abs(time - (row[name] ?? Infinity))),
      )
      return [call, Math.min(...apart)] as const
    })
    const [nearest] = distances.toSorted(([, a], [, b]) => a - b)
    return nearest !== undefined && nearest[1] <= START_TOLERANCE_SECONDS ? nearest[0] : undefined
  }
}
