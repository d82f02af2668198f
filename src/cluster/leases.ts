import { BehaviorSubject, filter, ReplaySubject, type Observable } from 'rxjs'
import type { Lease } from './ownership.ts'

/** A change of some targets' leases, at least one target. */
export type LeaseEvent = { kind: 'acquired' | 'released' | 'lost'; targets: readonly string[] }

export type LeasesOptions = {
  notify: (event: LeaseEvent) => void
  /** Called when another daemon may acquire a target, before the store knows that. */
  onFree: () => void
}

/** A lease and its stage. Stages only move forward. */
type OwnedTarget = {
  lease: Lease
  stage: 'owned' | 'draining' | 'free' | 'released' | 'lost'
  holders: number
  draining: ReplaySubject<void>
  aborted: ReplaySubject<void>
}

export type Leases = ReturnType<typeof newLeases>

/** The targets that this daemon owned when it last renewed its lease. */
export function newLeases({ notify, onFree }: LeasesOptions) {
  const leases = new Map<string, OwnedTarget>()
  /** Targets released since the last report. */
  const unreported: string[] = []
  const subjectOf = newSubjects()

  function releaseOnceUnused(target: string, own: OwnedTarget): void {
    if (own.holders > 0 || own.stage !== 'draining' || leases.get(target) !== own) return
    own.stage = 'free'
    subjectOf(target).next(undefined)
    unreported.push(target)
    onFree()
  }

  function report(kind: LeaseEvent['kind'], targets: readonly string[]): void {
    if (targets.length > 0) notify({ kind, targets })
  }

  const reportReleased = () => report('released', unreported.splice(0))

  return {
    /** Reports the targets released since the last report. */
    reportReleased,
    /** The current lease of a target, and each later one. */
    lease$: (target: string): Observable<Lease> => subjectOf(target).pipe(filter((lease) => lease !== undefined)),
    /** Whether this daemon owns a target and has not released it. */
    has: (target: string) => isOwned(leases.get(target)),
    /**
     * All owned targets. Includes released ones until the store has confirmed the release, because an answer on its way may be
     * older.
     */
    all: () => [...leases.keys()],
    /** The owned targets that this daemon keeps. */
    owned: () => [...leases].filter(([, { stage }]) => stage === 'owned').map(([target]) => target),
    begin: (targets: readonly string[]) => {
      reportReleased()
      const lease = (target: string) => newLease((own) => releaseOnceUnused(target, own))
      for (const target of targets) leases.set(target, lease(target))
      report('acquired', targets)
      for (const target of targets) subjectOf(target).next(leases.get(target)?.lease)
    },
    /** Drains a target. Once nothing uses the target, another daemon may acquire it. */
    end: (target: string) => {
      const own = leases.get(target)
      if (own?.stage !== 'owned') return
      own.stage = 'draining'
      own.draining.next()
      releaseOnceUnused(target, own)
    },
    /** Call it when another daemon may own the targets from now on. */
    lose: (targets: readonly string[]) => {
      const owned = targets.filter((target) => isOwned(leases.get(target)))
      const lost = owned.map((target) => leases.get(target)!)
      for (const target of targets) leases.delete(target)
      for (const own of lost) own.stage = 'lost'
      for (const target of owned) subjectOf(target).next(undefined)
      report('lost', owned)
      for (const { aborted, draining } of lost) {
        aborted.next()
        draining.next()
      }
    },
    /** Writes released targets to the store. If that fails, the next call writes them. */
    release: async (write: (targets: readonly string[]) => Promise<void>) => {
      reportReleased()
      const free = [...leases].filter(([, { stage }]) => stage === 'free')
      if (free.length === 0) return
      for (const [, own] of free) own.stage = 'released'
      await write(free.map(([target]) => target)).catch(() => {
        for (const [, own] of free) own.stage = 'free'
      })
    },
  }
}

/** The current lease of each target that was subscribed to. */
function newSubjects() {
  const subjects = new Map<string, BehaviorSubject<Lease | undefined>>()
  return (target: string) => {
    const subject = subjects.get(target) ?? new BehaviorSubject<Lease | undefined>(undefined)
    subjects.set(target, subject)
    return subject
  }
}

function isOwned(own: OwnedTarget | undefined): own is OwnedTarget {
  return own?.stage === 'owned' || own?.stage === 'draining'
}

/** @param onUnused called when one of the holders no longer needs the target */
function newLease(onUnused: (own: OwnedTarget) => void): OwnedTarget {
  const [draining, aborted] = [new ReplaySubject<void>(1), new ReplaySubject<void>(1)]
  const lease: Lease = {
    draining$: draining,
    aborted$: aborted,
    isDraining: () => own.stage !== 'owned',
    isAborted: () => own.stage === 'lost',
    hold: () => {
      own.holders += 1
      return () => {
        own.holders -= 1
        onUnused(own)
      }
    },
  }
  const own: OwnedTarget = { lease, stage: 'owned', holders: 0, draining, aborted }
  return own
}
