import { interval } from 'rxjs'
import type { Hint } from '../../../src/ledger/hint.ts'
import { COUNTERS, seriesKey } from '../../../src/ledger/series.ts'
import type { LedgerState } from '../../../src/ledger/state.ts'
import { MARK, type TrackedCall } from '../../../src/ledger/tracked-call.ts'
import { newWebhooks, SIMULATED_APP, type SimulatedWebhook } from '../../../src/simulator/answers/webhooks.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import type { Commit } from '../../../src/store/store.ts'
import { readWebhook } from '../../../src/web/hooks.ts'
import type { VirtualClock } from '../../kit/virtual-clock.ts'
import type { WorldService } from '../../kit/world/start-world.ts'
import { sessionOf } from '../../../src/ledger/identity.ts'

/** One life of the daemon's process, as the service's webhooks reach it. Times are UNIX seconds by the host's clock. */
export type Listener = {
  /** When it began to listen: between these two times. */
  since: { from: number; to: number }
  hear: (hint: Hint) => void
  now: () => number
  isAlive: () => boolean
}

/** The webhooks of the simulated service, and what the daemon should count of the ends of calls that they announce. */
export type SimulatedHooks = {
  /** The process that gets the webhooks from now on; undefined while there is none. */
  listener: Listener | undefined
  /** Notes the ends that a commit counts. */
  committed: (commit: Commit, now: number) => void
  /** How many ends of calls were expected with each outcome, at most. */
  reached: () => [string, number][]
  /** What differs from what the daemon counted, a line each. */
  problems: (ledger: LedgerState, rows: Iterable<TrackedCall>) => string[]
  stop: () => void
}

/** The triggers that announce the end of a session: of a call, of a meeting. */
const SESSION = ['call_ended', 'meeting_ended']
/** The triggers that announce that a call failed, by its status. */
const OF_FAILED: Readonly<Record<string, readonly string[]>> = {
  unanswered: ['call_unanswered'],
  rejected: ['call_rejected', 'call_busy'],
  canceled: ['call_cancelled'],
}
const RINGING = Object.values(OF_FAILED).flat()

/** Sessions with several calls. */
const OF_ROOM = /^(?:cw:)?group-/

type Outcome = 'yes' | 'no' | 'unknown'

/** How often due webhooks are sent (milliseconds). */
const SEND_MS = 500
/** How long before and after an end its webhook is listened for (seconds). */
const WINDOW = 60
/** By how much the clocks may differ (seconds). */
const CLOCK_TOLERANCE = 10

/** Sends the service's webhooks without a network. Forged ones and those of other apps do not get past the receiver. */
export function simulatedHooks(service: WorldService, clock: VirtualClock): SimulatedHooks {
  const webhooks = newWebhooks(service)
  const heard = new WeakMap<Listener, Map<string, number[]>>()
  const differences: string[] = []
  const counted = new Set<string>()
  /** When each trigger first named a call, as this process knows it, and which of them the store has. */
  const first = new Map<string, number>()
  const stored = new Set<string>()
  /** How often each outcome is expected, at least and at most. */
  const expected: Record<Outcome, [least: number, most: number]> = { yes: [0, 0], no: [0, 0], unknown: [0, 0] }
  /** When calls ended that are not counted yet, as this process knows it, and the known skew of the service's clock. */
  let ends = new Map<string, number>()
  let skew = 0
  let uncounted: TrackedCall[] = []

  function deliver(webhook: SimulatedWebhook): void {
    if (webhook.isForged) return
    const { listener } = hooks
    if (listener?.isAlive() !== true) return webhooks.failed(webhook)
    const { appId, hint } = readWebhook(Buffer.from(webhook.body))!
    if (appId !== SIMULATED_APP || hint === undefined) return
    const { id, trigger } = hint
    const now = listener.now()
    const key = `${trigger} ${id}`
    const times = heard.get(listener)!
    if (id !== undefined) times.set(key, [...(times.get(key) ?? []), now])
    if (id !== undefined && !first.has(trigger)) first.set(trigger, now)
    listener.hear(hint)
  }

  function outcomesOf(call: TrackedCall, ended: number, now: number): Outcome[] {
    const { status, labels, began } = call.finish!
    const session = sessionOf(call)
    // A webhook names the session: which call of it has ended, depends on when it comes.
    if (OF_ROOM.test(session)) return ['yes', 'no', 'unknown']
    const announcing = status === 'ended' || status === 'other' ? SESSION : RINGING
    // A session may have had another call before.
    const least = call.session !== undefined && began < call.finish!.at ? began - skew - CLOCK_TOLERANCE : -Infinity
    const times = announcing.flatMap((one) => heard.get(hooks.listener!)!.get(`${one} ${session}`) ?? [])
    const isAnnounced = times.some((at) => at >= least && at <= ended + WINDOW)
    if (isAnnounced) return ['yes']
    if (now <= ended + WINDOW) return []
    const { from, to } = hooks.listener!.since
    const expected = status === 'ended' ? [SESSION[labels.mode === 'call' ? 0 : 1]!] : (OF_FAILED[status] ?? [])
    const isExpected = expected.some((one) => (first.get(one) ?? Infinity) <= ended)
    const mayNo = isExpected && from <= ended - WINDOW
    return [...(mayNo ? ['no' as const] : []), ...(!isExpected || to > ended - WINDOW ? ['unknown' as const] : [])]
  }

  function count(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) expected[outcome][1] += 1
    if (outcomes.length === 1) expected[outcomes[0]!][0] += 1
  }

  const sending = interval(SEND_MS, clock.scheduler).subscribe(() => {
    advance(service.world, clock.wall(), service.switches)
    webhooks.due().forEach(deliver)
  })
  let current: Listener | undefined
  const hooks: SimulatedHooks = {
    get listener() {
      return current
    },
    set listener(listener) {
      current = listener
      for (const trigger of first.keys()) if (!stored.has(trigger)) first.delete(trigger)
      if (listener === undefined) return
      heard.set(listener, new Map())
      // Another process knows only what the store has.
      ends = new Map(uncounted.map((call) => [call.id, call.finish!.at - skew]))
    },
    committed: ({ ledger: { calls, sync } }, now) => {
      skew = sync.clockSkew ?? 0
      for (const trigger of Object.keys(sync.webhooks ?? {})) {
        stored.add(trigger)
        if (trigger !== 'any' && !first.has(trigger))
          differences.push(`no ${trigger} named a call, but the store says so`)
      }
      for (const call of calls.values()) {
        if (call.finish === undefined || counted.has(call.id) || (call.marks & MARK.overAtSetUp) !== 0) continue
        const ended = ends.get(call.id) ?? call.finish.at - skew
        ends.set(call.id, ended)
        uncounted = uncounted.filter(({ id }) => id !== call.id)
        if ((call.marks & MARK.endCounted) === 0) {
          uncounted.push(call)
          continue
        }
        counted.add(call.id)
        ends.delete(call.id)
        const outcomes = outcomesOf(call, ended, now)
        if (outcomes.length === 0)
          differences.push(`the end of ${call.id} at ${ended} was counted at ${now}: too early`)
        count(outcomes)
      }
    },
    problems: ({ counters }, rows) => {
      const all = [...rows].filter(({ finish, marks }) => finish !== undefined && (marks & MARK.overAtSetUp) === 0)
      const missing = all.filter(({ id }) => !counted.has(id)).map(({ id }) => `the end of ${id} was not counted`)
      const actual = (outcome: Outcome) => counters.get(seriesKey(COUNTERS.webhookEnds, outcome)) ?? 0
      const wrong = (['yes', 'no', 'unknown'] as const).flatMap((outcome) => {
        const [least, most] = expected[outcome]
        const is = actual(outcome)
        return is >= least && is <= most
          ? []
          : [`ends announced "${outcome}": ${least} to ${most} are right, ${is} counted`]
      })
      const sum = actual('yes') + actual('no') + actual('unknown')
      const total = sum === all.length ? [] : [`${sum} ends are counted by their webhooks, of ${all.length}`]
      return [...differences, ...missing, ...wrong, ...total]
    },
    reached: () => Object.entries(expected).map(([outcome, [, most]]) => [`webhook.${outcome}`, most]),
    stop: () => sending.unsubscribe(),
  }
  return hooks
}
