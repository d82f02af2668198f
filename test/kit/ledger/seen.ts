import type { SeenCall } from '../../../src/ledger/call.ts'
import type { FinishedCall } from '../../../src/ledger/finished-calls.ts'
import { COUNTERS, HISTOGRAMS, type DurableCounter } from '../../../src/ledger/series.ts'
import { applyDelta, newLedger, type Delta, type LedgerState } from '../../../src/ledger/state.ts'
import { horizon } from '../../../src/ledger/horizon.ts'
import { sessionOf } from '../../../src/ledger/identity.ts'
import { callIdentities } from '../../../src/polling/call-identities.ts'
import type { KnownList } from '../../../src/ledger/known-list.ts'
import { computeDelta, possiblyEvicted, type LedgerOptions } from '../../../src/ledger/delta/compute-delta.ts'
import type { Observation, ServiceAnswer } from '../../../src/ledger/observation.ts'
import { isCounted, type TrackedCall } from '../../../src/ledger/tracked-call.ts'

/** When the targets of these tests were set up (UNIX seconds). */
export const CREATED = 1_790_000_000

/** A list that was read, of which nothing is known. */
export const KNOWN_LIST: KnownList = { end: 'first', joint: [], isWhole: false }

const NOTHING = { audio: undefined, video: undefined, total: undefined }

/** A call as an answer shows it: an audio call between two users by default. */
export function seen(id: string, status: SeenCall['status'], more: Partial<SeenCall> = {}): SeenCall {
  return {
    id,
    session: id,
    mid: undefined,
    status,
    type: 'audio',
    mode: 'call',
    receiverType: 'user',
    initiatedAt: undefined,
    startedAt: undefined,
    endedAt: undefined,
    callMinutes: NOTHING,
    participantMinutes: NOTHING,
    hasParticipantList: true,
    totalParticipants: undefined,
    joined: undefined,
    hasRecording: false,
    badValue: false,
    ...more,
  }
}

export function listed(now: number, ...calls: SeenCall[]): ServiceAnswer {
  return { source: 'list', serviceTime: now, hostTime: now, calls, notFound: [], invalid: {} }
}

export function asked(now: number, call: SeenCall | undefined, notFound: string[] = []): ServiceAnswer {
  return {
    source: 'get',
    serviceTime: now,
    hostTime: now,
    calls: call === undefined ? [] : [call],
    notFound,
    invalid: {},
  }
}

/** A poll that lists just these calls, all there are, `seconds` after the set-up. */
export function completePoll(seconds: number, ...calls: SeenCall[]): Observation {
  const now = CREATED + seconds
  return {
    answers: [listed(now, ...calls)],
    success: {
      endsSweep: true,
      isConfirmed: true,
      beganServiceTime: now,
      beganHostTime: now,
      serviceTime: now,
      hostTime: now,
      listed: new Set(calls.map(({ id }) => id)),
      list: KNOWN_LIST,
    },
  }
}

const OPTIONS: LedgerOptions = { lookback: 86_400, baseline: 'skip', details: 'missing' }

/** A ledger for observations made by a test. */
export function ledgerBook(options: Partial<LedgerOptions> = {}, state: LedgerState = newLedger(CREATED)) {
  const settings = { ...OPTIONS, ...options }
  /** Rows of counted calls that were evicted, as in a store. */
  const history = new Map<string, TrackedCall>()
  const counted = (counter: DurableCounter, ...values: string[]) =>
    state.counters.get([counter.name, ...values].join('|')) ?? 0
  /** Applies an observation; returns what it changed. */
  const see = (shown: Observation): Delta | undefined => {
    const identities = callIdentities()
    const answers = shown.answers.map((answer) => {
      const calls = answer.calls.map((call) => ({ ...call }))
      identities.identify(calls, state, horizon(state.sync, settings.lookback), {
        now: answer.serviceTime,
        source: answer.source,
      })
      return { ...answer, calls }
    })
    const observation = { ...shown, answers }
    const sessions = new Set(possiblyEvicted(state, observation, settings))
    const rows = [...history.values()].filter((call) => sessions.has(sessionOf(call)))
    const delta = computeDelta(state, observation, settings, Map.groupBy(rows, sessionOf))
    if (delta === undefined) return undefined
    applyDelta(state, delta, 86_400)
    for (const id of delta.calls.keys()) history.delete(id)
    for (const call of delta.evicted) if (isCounted(call)) history.set(call.id, call)
    return delta
  }
  return {
    state,
    /** A test may change them, as a reload of the configuration does. */
    settings,
    history,
    see,
    /** Two sweeps, one after the other: the horizon is at the lookback before them. */
    settle: (...polled: Parameters<typeof completePoll>) => {
      for (let sweep = 0; sweep < 2; sweep++) see(completePoll(...polled))
    },
    counted,
    started: () => total(state, COUNTERS.started),
    finished: () => total(state, COUNTERS.finished),
    lost: () => total(state, COUNTERS.lost),
    reappeared: () => total(state, COUNTERS.reappeared),
    observations: (histogram: keyof typeof HISTOGRAMS) =>
      total(state, HISTOGRAMS[histogram], (key) => !key.endsWith('|sum')),
  }
}

/** The contents of a ledger, in a form that can be compared. */
export function contents({ calls, finished, ...rest }: LedgerState): Contents {
  return {
    ...rest,
    calls: callsById(calls),
    finished: finished.between(-Infinity, Infinity),
    recorded: recordedOf(finished),
  }
}

/** How many calls have a recording, and how many have none, by status and labels. */
function recordedOf(finished: LedgerState['finished']): string[] {
  return finished
    .tally(-Infinity, Infinity)
    .map((tally) => JSON.stringify(tally))
    .toSorted()
}

export function callsById(calls: Pick<LedgerState['calls'], 'values'>): Map<string, TrackedCall> {
  return new Map(Array.from(calls.values(), (call) => [call.id, call]))
}

export type Contents = Omit<LedgerState, 'calls' | 'finished'> & {
  calls: Map<string, TrackedCall>
  finished: FinishedCall[]
  recorded: string[]
}

/** The sum of all series of a counter. */
export function total(
  state: LedgerState,
  counter: DurableCounter,
  matches: (key: string) => boolean = () => true,
): number {
  let sum = 0
  for (const [key, value] of state.counters) {
    if ((key === counter.name || key.startsWith(`${counter.name}|`)) && matches(key)) sum += value
  }
  return sum
}
