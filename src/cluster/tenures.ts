import { BehaviorSubject, filter, ReplaySubject, type Observable } from 'rxjs'
import type { Tenure } from './ownership.ts'

export type TenureEvent = { kind: 'acquired' | 'released' | 'lost'; target: string }

export type TenuresOptions = {
  notify: (event: TenureEvent) => void
  /** Another daemon may acquire a target, which the store does not know yet. */
  onFree: () => void
}

/** The targets that this daemon owns, as far as it knows. */
export type Tenures = {
  /** The tenure that a target has, and each that it will have. */
  tenure$: (target: string) => Observable<Tenure>
  /** Whether this daemon owns a target, and has not released it. */
  has: (target: string) => boolean
  /** All of them, released ones too until the store has confirmed that: an answer on its way may be older. */
  all: () => string[]
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

/** A tenure and its stage, which only ever moves on to the next one. */
type OwnedTarget = {
  tenure: Tenure
  stage: 'owned' | 'draining' | 'free' | 'released'
  users: number
  draining: ReplaySubject<void>
  aborted: ReplaySubject<void>
}

export function newTenures({ notify, onFree }: TenuresOptions): Tenures {
  const tenures = new Map<string, OwnedTarget>()
  /** The tenure of each target that was asked for. */
  const subjects = new Map<string, BehaviorSubject<Tenure | undefined>>()

  function subjectOf(target: string): BehaviorSubject<Tenure | undefined> {
    let subject = subjects.get(target)
    if (subject === undefined) subjects.set(target, (subject = new BehaviorSubject<Tenure | undefined>(undefined)))
    return subject
  }

  function use(target: string, own: OwnedTarget): () => void {
    own.users += 1
    return () => {
      own.users -= 1
      releaseOnceUnused(target, own)
    }
  }

  function releaseOnceUnused(target: string, own: OwnedTarget): void {
    if (own.users > 0 || own.stage !== 'draining' || tenures.get(target) !== own) return
    own.stage = 'free'
    subjectOf(target).next(undefined)
    notify({ kind: 'released', target })
    onFree()
  }

  return {
    tenure$: (target) => subjectOf(target).pipe(filter((tenure) => tenure !== undefined)),
    has: (target) => isOwned(tenures.get(target)),
    all: () => [...tenures.keys()],
    wanted: () => [...tenures].filter(([, { stage }]) => stage === 'owned').map(([target]) => target),
    begin: (target) => {
      const [draining, aborted] = [new ReplaySubject<void>(1), new ReplaySubject<void>(1)]
      const tenure: Tenure = { draining$: draining, aborted$: aborted, use: () => use(target, own) }
      const own: OwnedTarget = { tenure, stage: 'owned', users: 0, draining, aborted }
      tenures.set(target, own)
      notify({ kind: 'acquired', target })
      subjectOf(target).next(tenure)
    },
    end: (target) => {
      const own = tenures.get(target)
      if (own?.stage !== 'owned') return
      own.stage = 'draining'
      own.draining.next()
      releaseOnceUnused(target, own)
    },
    lose: (target) => {
      const own = tenures.get(target)
      tenures.delete(target)
      if (!isOwned(own)) return
      subjectOf(target).next(undefined)
      notify({ kind: 'lost', target })
      own.aborted.next()
      own.draining.next()
    },
    release: async (write) => {
      const free = [...tenures].filter(([, { stage }]) => stage === 'free')
      if (free.length === 0) return
      for (const [, own] of free) own.stage = 'released'
      await write(free.map(([target]) => target)).catch(() => {
        for (const [, own] of free) own.stage = 'free'
      })
    },
  }
}

function isOwned(own: OwnedTarget | undefined): own is OwnedTarget {
  return own?.stage === 'owned' || own?.stage === 'draining'
}
