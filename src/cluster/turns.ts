import { BehaviorSubject, filter, ReplaySubject, type Observable } from 'rxjs'
import type { Turn } from './ownership.ts'

export type TurnEvent = { kind: 'acquired' | 'released' | 'lost'; target: string }

export type TurnsOptions = {
  notify: (event: TurnEvent) => void
  /** Another daemon may acquire a target, which the store does not know yet. */
  onFree: () => void
}

/** The targets that this daemon owns, as far as it knows. */
export type Turns = {
  /** The turn that a target has, and each that it will have. */
  turn$: (target: string) => Observable<Turn>
  /** Whether this daemon owns a target, and has not released it. */
  has: (target: string) => boolean
  /** All of them, released ones too until the store has confirmed that: an answer on its way may be older. */
  noted: () => string[]
  /** Those that this daemon keeps. */
  wanted: () => string[]
  begin: (target: string) => void
  /** Drains a target; once nothing uses it, another daemon may acquire it. */
  end: (target: string) => void
  /** Another daemon may own the target from now on. */
  lose: (target: string) => void
  /** Writes to the store what was released; what cannot be written now is written by the next call. */
  release: (write: (targets: readonly string[]) => Promise<void>) => Promise<void>
}

/** A turn and its stage, which only ever moves on to the next one. */
type Held = {
  turn: Turn
  stage: 'owned' | 'draining' | 'free' | 'released'
  users: number
  draining: ReplaySubject<void>
  aborted: ReplaySubject<void>
}

export function newTurns({ notify, onFree }: TurnsOptions): Turns {
  const turns = new Map<string, Held>()
  /** The turn of each target that was asked for. */
  const subjects = new Map<string, BehaviorSubject<Turn | undefined>>()

  function subjectOf(target: string): BehaviorSubject<Turn | undefined> {
    let subject = subjects.get(target)
    if (subject === undefined) subjects.set(target, (subject = new BehaviorSubject<Turn | undefined>(undefined)))
    return subject
  }

  function use(target: string, held: Held): () => void {
    held.users += 1
    return () => {
      held.users -= 1
      releaseOnceUnused(target, held)
    }
  }

  function releaseOnceUnused(target: string, held: Held): void {
    if (held.users > 0 || held.stage !== 'draining' || turns.get(target) !== held) return
    held.stage = 'free'
    subjectOf(target).next(undefined)
    notify({ kind: 'released', target })
    onFree()
  }

  return {
    turn$: (target) => subjectOf(target).pipe(filter((turn) => turn !== undefined)),
    has: (target) => isHeld(turns.get(target)),
    noted: () => [...turns.keys()],
    wanted: () => [...turns].filter(([, { stage }]) => stage === 'owned').map(([target]) => target),
    begin: (target) => {
      const [draining, aborted] = [new ReplaySubject<void>(1), new ReplaySubject<void>(1)]
      const turn: Turn = { draining$: draining, aborted$: aborted, use: () => use(target, held) }
      const held: Held = { turn, stage: 'owned', users: 0, draining, aborted }
      turns.set(target, held)
      notify({ kind: 'acquired', target })
      subjectOf(target).next(turn)
    },
    end: (target) => {
      const held = turns.get(target)
      if (held?.stage !== 'owned') return
      held.stage = 'draining'
      held.draining.next()
      releaseOnceUnused(target, held)
    },
    lose: (target) => {
      const held = turns.get(target)
      turns.delete(target)
      if (!isHeld(held)) return
      subjectOf(target).next(undefined)
      notify({ kind: 'lost', target })
      held.aborted.next()
      held.draining.next()
    },
    release: async (write) => {
      const free = [...turns].filter(([, { stage }]) => stage === 'free')
      if (free.length === 0) return
      for (const [, held] of free) held.stage = 'released'
      await write(free.map(([target]) => target)).catch(() => {
        for (const [, held] of free) held.stage = 'free'
      })
    },
  }
}

function isHeld(held: Held | undefined): held is Held {
  return held?.stage === 'owned' || held?.stage === 'draining'
}
