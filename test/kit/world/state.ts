import type { Call } from '../../../src/simulator/calls/call.ts'
import type { Reply } from '../../../src/simulator/answers/http.ts'
import { random, type Random } from '../../../src/simulator/random.ts'
import type { Entry } from '../../../src/simulator/calls/world.ts'
import type { TurnedLife } from './calls/turn.ts'

/** What a world keeps beside what the simulator does. Changed in place. */
export type WorldState = {
  /** When the calls began to arrive, in milliseconds since 1970. */
  startMs: number
  /** Of every call that has come into the list. */
  beside: WeakMap<Entry, Beside>
  /** Calls that have vanished, for a while or for good. */
  hidden: Set<Entry>
  /** Calls that began until here are too old for the list. */
  unlistedUntilMs: number
  /** When each state of a call was first and last in an answer that was delivered (milliseconds since 1970). */
  seen: WeakMap<Call, { firstMs: number; lastMs: number }>
  /** What the present answer shows. */
  shown: Call[]
  /** How many calls have come into the list. */
  rows: number
  /** How many imports have been planned. */
  imports: number
  /** The order in which calls were listed last. */
  order: string
  /** Pages that are answered again for a while, by what was asked for; `at` in seconds since 1970. */
  cache: Map<string, { at: number; reply: Reply }>
  /** How many answers have had a Date. */
  dates: number
  /** The time that the Date header of the present answer shows. */
  shownAt: number
  /**
   * How often each thing really happened, by kind and name: `fault.reset`, `order.oldest`, `fact.swift`, `odd.unusable` and
   * so on. What never happened is not in it.
   */
  reached: Map<string, number>
  /** Streams of the seed, each for one purpose. */
  streams: Record<'order' | 'replica' | 'dates' | 'imports', Random>
}

/** What is known of a call beside its entry. */
export type Beside = {
  /** Rises from each call that came into the list to the next. */
  row: number
  /** When it came into the list, in milliseconds since 1970. */
  sinceMs: number
  life: TurnedLife
  /** A further row of that call: it shows what that entry does. */
  sameAs?: Entry
  /** What it was lately and until when, the latest last; kept while pages lag. */
  past?: { untilMs: number; call: Call }[]
}

export function createState(seed: number | string, startMs: number): WorldState {
  return {
    startMs,
    beside: new WeakMap(),
    hidden: new Set(),
    seen: new WeakMap(),
    shown: [],
    unlistedUntilMs: -Infinity,
    rows: 0,
    imports: 0,
    order: 'newest',
    cache: new Map(),
    dates: 0,
    shownAt: 0,
    reached: new Map(),
    streams: {
      order: random(seed, 'order'),
      replica: random(seed, 'replica'),
      dates: random(seed, 'dates'),
      imports: random(seed, 'imports'),
    },
  }
}

export function besideOf({ beside }: WorldState, entry: Entry): Beside {
  return beside.get(entry)!
}

/** Makes an entry known that has come into the list. */
export function addBeside(state: WorldState, entry: Entry, life: TurnedLife, nowMs: number): void {
  state.rows++
  state.beside.set(entry, { row: state.rows, sinceMs: Math.max(nowMs, life.initiatedMs), life })
}

export function reach({ reached }: Pick<WorldState, 'reached'>, what: string): void {
  reached.set(what, (reached.get(what) ?? 0) + 1)
}
