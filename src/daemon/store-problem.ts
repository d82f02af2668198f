import { defer, distinctUntilChanged, map, skip, startWith, tap, type Observable } from 'rxjs'
import type { OwnershipEvent } from '../cluster/shared-ownership.ts'
import type { DaemonEvent } from './daemon-event.ts'

/** Why the store cannot be written, after each attempt to; undefined where no target has a problem with it. */
export function storeProblem(targetEvents$: Observable<DaemonEvent>): Observable<string | undefined> {
  return defer(() => {
    /** By target, and of the lease of all of them. */
    const failing = new Map<string | undefined, string>()
    /** Targets that are another daemon's concern, also where a poll of this one ends after that. */
    const given = new Set<string>()
    return targetEvents$.pipe(
      tap((event) => {
        if (event.kind === 'removed') failing.delete(event.target)
        if (event.kind === 'ownership') applyOwnership({ failing, given }, event.event)
        if (event.kind !== 'polled' || given.has(event.target)) return
        const { target, report } = event
        const { storeFailed, successful, problem = '' } = report
        if (storeFailed) failing.set(target, problem)
        // A full store has room for a small commit now and then: only a whole poll shows that it is none any more.
        else if (successful) failing.delete(target)
      }),
      map(() => failing.values().next().value),
    )
  })
}

/** When a problem of the store begins, and when it has ended for all targets. */
export function storeEvents(targetEvents$: Observable<DaemonEvent>): Observable<DaemonEvent> {
  return storeProblem(targetEvents$).pipe(
    startWith(undefined),
    distinctUntilChanged((before, problem) => (before === undefined) === (problem === undefined)),
    skip(1),
    map((problem) => ({ kind: 'store', problem })),
  )
}

function applyOwnership(
  { failing, given }: { failing: Map<string | undefined, string>; given: Set<string> },
  event: OwnershipEvent,
): void {
  if (event.kind === 'acquired') for (const target of event.targets) given.delete(target)
  if (event.kind === 'released' || event.kind === 'lost') {
    for (const target of event.targets) {
      given.add(target)
      failing.delete(target)
    }
  }
  if (event.kind !== 'problem' || event.of !== 'store') return
  if (event.problem === undefined) failing.delete(undefined)
  else failing.set(undefined, event.problem)
}
