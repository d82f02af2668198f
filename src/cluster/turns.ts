import { BehaviorSubject, filter, ReplaySubject, type Observable } from 'rxjs'
import type { Turn } from './ownership.ts'

export type TurnEvent = { kind: 'gained' | 'left' | 'lost'; target: string }

export type TurnsOptions = {
  notify: (event: TurnEvent) => void
  /** A target has become free for others, which the store does not know yet. */
  onFree: () => void
}

/** The targets that this daemon owns, or has not heard that it does not. */
export type Turns = {
  /** The turn that a target has, and each that it will have. */
  turn$: (target: string) => Observable<Turn>
  /** Whether a target is this daemon's, and not for others yet. */
  has: (target: string) => boolean
  /** All of them: what was let go of is noted until the store says so too, since what is on its way may say otherwise. */
  noted: () => string[]
  /** Those that are to be watched on. */
  wanted: () => string[]
  begin: (target: string) => void
  /** Asks that a target be watched no more; once it is not, it is for others. */
  end: (target: string) => void
  /** It may be another daemon's from now on. */
  lose: (target: string) => void
  /** Tells of all that is for others, and was not told of yet; what cannot be told now is when this is called again. */
  release: (tell: (targets: readonly string[]) => Promise<void>) => Promise<void>
}

/** A turn with what moves it, and how far it has come: only ever from one stage to the next. */
type Held = {
  turn: Turn
  stage: 'watched' | 'leaving' | 'free' | 'released'
  users: number
  over: ReplaySubject<void>
  lost: ReplaySubject<void>
}

export function newTurns({ notify, onFree }: TurnsOptions): Turns {
  const turns = new Map<string, Held>()
  /** The turn of each target that anybody asked about. */
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
      letGoOnceUnused(target, held)
    }
  }

  function letGoOnceUnused(target: string, held: Held): void {
    if (held.users > 0 || held.stage !== 'leaving' || turns.get(target) !== held) return
    held.stage = 'free'
    subjectOf(target).next(undefined)
    notify({ kind: 'left', target })
    onFree()
  }

  return {
    turn$: (target) => subjectOf(target).pipe(filter((turn) => turn !== undefined)),
    has: (target) => isHeld(turns.get(target)),
    noted: () => [...turns.keys()],
    wanted: () => [...turns].filter(([, { stage }]) => stage === 'watched').map(([target]) => target),
    begin: (target) => {
      const [over, lost] = [new ReplaySubject<void>(1), new ReplaySubject<void>(1)]
      const turn: Turn = { over$: over, lost$: lost, use: () => use(target, held) }
      const held: Held = { turn, stage: 'watched', users: 0, over, lost }
      turns.set(target, held)
      notify({ kind: 'gained', target })
      subjectOf(target).next(turn)
    },
    end: (target) => {
      const held = turns.get(target)
      if (held?.stage !== 'watched') return
      held.stage = 'leaving'
      held.over.next()
      letGoOnceUnused(target, held)
    },
    lose: (target) => {
      const held = turns.get(target)
      turns.delete(target)
      if (!isHeld(held)) return
      subjectOf(target).next(undefined)
      notify({ kind: 'lost', target })
      held.lost.next()
      held.over.next()
    },
    release: async (tell) => {
      const free = [...turns].filter(([, { stage }]) => stage === 'free')
      if (free.length === 0) return
      for (const [, held] of free) held.stage = 'released'
      await tell(free.map(([target]) => target)).catch(() => {
        for (const [, held] of free) held.stage = 'free'
      })
    },
  }
}

function isHeld(held: Held | undefined): held is Held {
  return held?.stage === 'watched' || held?.stage === 'leaving'
}
