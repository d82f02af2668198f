import { BehaviorSubject, filter, ReplaySubject, type Observable } from 'rxjs'
import type { Tenure } from './ownership.ts'

/** What happened to some targets, at least one. */
export type TenureEvent = { kind: 'acquired' | 'released' | 'lost'; targets: readonly string[] }

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
  begin: (targets: readonly string[]) => void
  /** Drains a target; once nothing uses it, another daemon may acquire it. */
  end: (target: string) => void
  /** Another daemon may own the targets from now on. */
  lose: (targets: readonly string[]) => void
  /** Reports the targets that were released since the last report. */
  reportReleased: () => void
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
  /** Targets that were released since the last report. */
  const unreported: string[] = []
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
    unreported.push(target)
    onFree()
  }

  function newTenure(target: string): OwnedTarget {
    const [draining, aborted] = [new ReplaySubject<void>(1), new ReplaySubject<void>(1)]
    const tenure: Tenure = { draining$: draining, aborted$: aborted, use: () => use(target, own) }
    const own: OwnedTarget = { tenure, stage: 'owned', users: 0, draining, aborted }
    return own
  }

  function report(kind: TenureEvent['kind'], targets: readonly string[]): void {
    if (targets.length > 0) notify({ kind, targets })
  }

  const reportReleased = () => report('released', unreported.splice(0))

  return {
    reportReleased,
    tenure$: (target) => subjectOf(target).pipe(filter((tenure) => tenure !== undefined)),
    has: (target) => isOwned(tenures.get(target)),
    all: () => [...tenures.keys()],
    wanted: () => [...tenures].filter(([, { stage }]) => stage === 'owned').map(([target]) => target),
    begin: (targets) => {
      reportReleased()
      for (const target of targets) tenures.set(target, newTenure(target))
      report('acquired', targets)
      for (const target of targets) subjectOf(target).next(tenures.get(target)?.tenure)
    },
    end: (target) => {
      const own = tenures.get(target)
      if (own?.stage !== 'owned') return
      own.stage = 'draining'
      own.draining.next()
      releaseOnceUnused(target, own)
    },
    lose: (targets) => {
      const lost = targets.map((target) => ({ target, own: tenures.get(target) }))
      for (const target of targets) tenures.delete(target)
      const owned = lost.flatMap(({ target, own }) => (isOwned(own) ? [{ target, own }] : []))
      for (const { target } of owned) subjectOf(target).next(undefined)
      report(
        'lost',
        owned.map(({ target }) => target),
      )
      for (const { own } of owned) {
        own.aborted.next()
        own.draining.next()
      }
    },
    release: async (write) => {
      reportReleased()
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
