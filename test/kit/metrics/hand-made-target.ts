import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { labelsOf, type FinalStatus } from '../../../src/ledger/call.ts'
import { newLedger, indexCall, type SyncState, type LedgerState } from '../../../src/ledger/state.ts'
import type { SummedCalls } from '../../../src/ledger/summed-calls.ts'
import type { Finish, TrackedCall } from '../../../src/ledger/tracked-call.ts'
import type { ExportedTarget } from '../../../src/metrics/derived-metrics.ts'
import { finishAt, RATIO } from '../alerts/sample-rules.ts'

/** The current time of hand-made targets (UNIX seconds): 2026-09-21T14:13:20Z. */
export const NOW = 1_790_000_000

export type HandMade = {
  /** Durable series by key, as the ledger keeps them. */
  counters?: Record<string, number>
  calls?: TrackedCall[]
  finished?: Finish[]
  usual?: SummedCalls[]
  sync?: Partial<SyncState>
}

/** A ledger with only the given content. */
export function handMadeLedger({
  counters = {},
  calls = [],
  finished = [],
  usual = [],
  sync = {},
}: HandMade = {}): LedgerState {
  const ledger = newLedger(NOW - 3600)
  for (const [key, value] of Object.entries(counters)) ledger.counters.set(key, value)
  for (const call of calls) indexCall(ledger, call)
  for (const one of finished) ledger.finished.add(one)
  ledger.earlier = { finished: ledger.finished, periods: [], gaps: [] }
  ledger.usual = usual
  ledger.sync = { ...ledger.sync, ...sync }
  return ledger
}

/** The sync state of a target whose last poll was successful and has just ended. */
export const POLLED: Partial<SyncState> = {
  clockSkew: 0,
  lastSweepBegan: NOW - 1,
  lastSuccess: NOW,
  previousSuccess: NOW - 15,
  lastSuccessHostTime: NOW,
}

export function handMadeTarget(
  made: HandMade & { target?: string; alerts?: AlertInstance[]; rules?: Rule[]; sweepAge?: number } = {},
): ExportedTarget {
  const { target = 'production', alerts = [], rules = [], sweepAge } = made
  return {
    name: target,
    ledger: handMadeLedger(made),
    alerts: new Map(alerts.map((instance) => [instance.key, instance])),
    settings: { rules },
    sweepAge: () => sweepAge,
    pollAge: () => 5,
    recent: { requests: () => ({ all: 0, wrong: 0 }) },
  }
}

/** An ongoing audio call between two users. */
export function openCall(id: string, differing: Partial<TrackedCall> = {}): TrackedCall {
  return {
    id,
    session: undefined,
    mid: undefined,
    phase: 'open',
    status: 'ongoing',
    labels: labelsOf('audio', 'call', 'user'),
    firstSeen: NOW - 20,
    initiatedAt: NOW - 30,
    startedAt: NOW - 25,
    endedAt: undefined,
    totalParticipants: 2,
    joined: 2,
    minutes: [0.5, 0, 0.75, 0],
    finish: undefined,
    notFound: 0,
    retainUntil: undefined,
    marks: 0,
    ...differing,
  }
}

/** The finish of a call some seconds ago. */
export function finish(status: FinalStatus, secondsAgo = 10): Finish {
  return finishAt(NOW - secondsAgo, status, { known: NOW - secondsAgo + 3 })
}

/** A call that ended ten seconds ago. */
export function finishedCall(id: string, differing: Partial<TrackedCall> = {}): TrackedCall {
  const ended = { phase: 'final', status: 'ended', endedAt: NOW - 10, joined: 0, finish: finish('ended') } as const
  return openCall(id, { ...ended, ...differing })
}

export const RATIO_RULE: Rule = { ...RATIO, for: 120 }

/** An alert that has been firing for a minute. */
export function firing(rule: Rule = RATIO_RULE): AlertInstance {
  return {
    key: rule.name,
    labels: {},
    rule,
    state: 'firing',
    since: NOW - 180,
    firingSince: NOW - 60,
    credited: 120,
    evaluatedAt: NOW,
    value: 0.425,
    peak: 0.5,
    calls: 40,
    counts: { ended: 23, unanswered: 5, rejected: 12, canceled: 0, other: 0, total: 40 },
    tooFewSince: undefined,
  }
}
