import { interval } from 'rxjs'
import type { Hint } from '../../../src/ledger/hint.ts'
import { sessionOf } from '../../../src/ledger/identity.ts'
import { hasEvents } from '../../../src/ledger/tracked-call.ts'
import type { Committed } from '../../../src/pipeline/commit.ts'
import { newWebhooks, type SimulatedWebhook } from '../../../src/simulator/answers/webhooks.ts'
import { SIMULATED_APP, withPrefix } from '../../../src/simulator/calls/session-id.ts'
import { advance } from '../../../src/simulator/calls/world.ts'
import { readWebhook } from '../../../src/web/hooks.ts'
import type { VirtualClock } from '../../kit/virtual-clock.ts'
import type { WorldService } from '../../kit/world/start-world.ts'

/** One life of the daemon's process, as the service's webhooks reach it. */
export type Listener = {
  /** When it began to listen: between these two times (monotonic seconds). */
  since: { from: number; to: number }
  hear: (hint: Hint) => void
  isAlive: () => boolean
}

/** The webhooks of the simulated service, and what the daemon should count of the ends of calls that they announce. */
export type SimulatedHooks = {
  /** The process that gets the webhooks from now on; undefined while there is none. */
  listener: Listener | undefined
  /** Notes what the process counted. */
  committed: (committed: Committed) => void
  /** How many ends of calls were counted in all. */
  reached: () => [string, number][]
  /** What differs from what each process counted, a line each. */
  problems: () => string[]
  stop: () => void
}

/** An end that a commit found (monotonic seconds). */
type Found = { session: string; at: number; found: number }
/** What a process heard of ends, by session, and found, and counted. */
type Life = {
  since: Listener['since']
  heard: Map<string, number[]>
  ends: Found[]
  counted: Counts
  lastCommit: number
}
type Counts = { announced: number; missed: number }

/** Sessions with several calls: which of them a webhook is about depends on when it comes. */
const OF_ROOM = /^(?:cw:)?group-/
/** The triggers that announce an end. */
const END = /^(?:call_(?:ended|busy|cancelled|rejected|unanswered)|meeting_ended)$/
/** How often due webhooks are sent (milliseconds). */
const SEND_MS = 500
/** How long before an end and after it was found its webhook is listened for (seconds). */
const WINDOW = 60

/** Sends the service's webhooks without a network. Forged ones and those of other apps do not get past the receiver. */
export function simulatedHooks(service: WorldService, clock: VirtualClock): SimulatedHooks {
  const webhooks = newWebhooks(service)
  const lives: Life[] = []

  function deliver(webhook: SimulatedWebhook): void {
    if (webhook.isForged) return
    const { listener } = hooks
    if (listener?.isAlive() !== true) return webhooks.failed(webhook)
    const { appId, hint } = readWebhook(Buffer.from(webhook.body))!
    if (appId !== SIMULATED_APP || hint === undefined) return
    const { heard } = lives.at(-1)!
    if (END.test(hint.trigger)) heard.set(hint.id, [...(heard.get(hint.id) ?? []), clock.monotonic()])
    listener.hear(hint)
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
      if (listener === undefined) return
      const counted = { announced: 0, missed: 0 }
      lives.push({ since: listener.since, heard: new Map(), ends: [], counted, lastCommit: -Infinity })
    },
    committed: ({ ledger: { calls, finishes }, ends }) => {
      const { counted, ...life } = lives.at(-1)!
      const now = clock.monotonic()
      lives.at(-1)!.lastCommit = now
      counted.announced += ends!.announced
      counted.missed += ends!.missed
      for (const call of calls.values()) {
        const { finish } = call
        if (finish === undefined || !finishes.includes(finish) || !hasEvents(call)) continue
        life.ends.push({ session: sessionOf(call), at: now - (finish.known - finish.at), found: now })
      }
    },
    problems: () => lives.flatMap((life, i) => problemsOf(life).map((problem) => `process ${i + 1}: ${problem}`)),
    reached: () =>
      (['announced', 'missed'] as const).map((outcome) => {
        return [`webhook.${outcome}`, lives.reduce((sum, { counted }) => sum + counted[outcome], 0)]
      }),
    stop: () => sending.unsubscribe(),
  }
  return hooks
}

function problemsOf(life: Life): string[] {
  const outcomes = life.ends.map((end) => outcomesOf(end, life))
  return (['announced', 'missed'] as const).flatMap((outcome) => {
    const most = outcomes.filter((possible) => possible.includes(outcome)).length
    const least = outcomes.filter((possible) => possible.length === 1 && possible[0] === outcome).length
    const is = life.counted[outcome]
    return is >= least && is <= most ? [] : [`${least} to ${most} ends were ${outcome}, and ${is} were counted`]
  })
}

/** As what an end may be counted. */
function outcomesOf({ session, at, found }: Found, { since, heard, lastCommit }: Life): (keyof Counts | 'not')[] {
  if (at - WINDOW < since.from) return ['not']
  if (OF_ROOM.test(session)) return ['announced', 'missed', 'not']
  const mayBeNot = at - WINDOW < since.to ? (['not'] as const) : []
  const came = (heard.get(withPrefix(session)) ?? []).find((time) => time >= at - WINDOW && time <= found + WINDOW)
  if (came === undefined) return lastCommit > found + WINDOW ? ['missed', ...mayBeNot] : ['not']
  return lastCommit > Math.max(came, found) || came <= found ? ['announced', ...mayBeNot] : ['not']
}
