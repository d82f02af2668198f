import type { Clock } from '../clock/clock.ts'
import type { OwnershipEvent } from '../cluster/shared-ownership.ts'
import type { Outage } from '../notifications/store-outage.ts'
import type { DaemonEvent } from './daemon-event.ts'

/** Whether the store can be written, from what happens to targets and ownership. */
export type StoreHealth = {
  /** The latest problem of any target with it. */
  latest: () => Outage | undefined
  /** Notes an event; with it returns that the problem has begun, or has ended for all targets. */
  follow: (event: DaemonEvent) => DaemonEvent[]
}

export function storeHealth({ wall, monotonic }: Pick<Clock, 'wall' | 'monotonic'>): StoreHealth {
  /** By target, and of the lease of all of them. */
  const failing = new Map<string | undefined, string>()
  /** Targets that are another daemon's concern, also where a poll of this one ends after that. */
  const given = new Set<string>()
  let latest: { problem: string; since: number; began: number; ended?: number } | undefined

  function note(event: DaemonEvent): void {
    if (event.kind === 'removed') failing.delete(event.target)
    if (event.kind === 'ownership') noteOwnership(event.event)
    if (event.kind !== 'polled' || given.has(event.target)) return
    const { target, report } = event
    const { storeFailed, successful, problem = '' } = report
    if (storeFailed) failing.set(target, problem)
    // A full store has room for a small commit now and then: only a whole poll shows that it is none any more.
    else if (successful) failing.delete(target)
  }

  function noteOwnership(event: OwnershipEvent): void {
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

  return {
    latest: () => {
      if (latest === undefined) return undefined
      const { problem, since, began, ended } = latest
      return { problem, since, seconds: (ended ?? monotonic()) - began, isOver: ended !== undefined }
    },
    follow: (event) => {
      note(event)
      const before = latest?.ended === undefined ? latest : undefined
      const problem = failing.values().next().value
      if (problem !== undefined) latest = { since: wall(), began: monotonic(), ...before, problem }
      else if (before !== undefined) latest = { ...before, ended: monotonic() }
      return (before === undefined) === (problem === undefined) ? [event] : [event, { kind: 'store', problem }]
    },
  }
}
