import type { Clock } from '../../clock/clock.ts'
import type { Ownership } from '../../cluster/ownership.ts'
import type { OwnershipEvent } from '../../cluster/shared-ownership.ts'
import type { Outage } from '../../notifications/store-outage.ts'
import type { DaemonEvent } from '../daemon-event.ts'

/** Whether the store can be written, derived from events of targets and ownership. */
export function storeHealth(
  { wall, monotonic }: Pick<Clock, 'wall' | 'monotonic'>,
  { owns, wasLeader }: Pick<Ownership, 'owns' | 'wasLeader'>,
) {
  /** The problems by target; undefined stands for the lease of all targets. */
  const failing = new Map<string | undefined, string>()
  let latest: { problem: string; since: number; began: number; isOurs: boolean; ended?: number } | undefined

  function note(event: DaemonEvent): void {
    if (event.kind === 'removed') failing.delete(event.target)
    if (event.kind === 'polled') {
      const { target, report } = event
      // A poll may end after another daemon acquired its target.
      if (report.fault === 'store' && owns(target)) failing.set(target, report.problem ?? '')
      // A full disk may have room for a small commit now and then. Only a successful poll shows that the problem has ended.
      else if (report.successful) failing.delete(target)
    }
    if (event.kind === 'ownership') noteOwnership(event.event)
  }

  function noteOwnership(change: OwnershipEvent): void {
    if (change.kind === 'released' || change.kind === 'lost')
      for (const target of change.targets) failing.delete(target)
    if (change.kind !== 'problem' || change.of !== 'store') return
    if (change.problem === undefined) failing.delete(undefined)
    else failing.set(undefined, change.problem)
  }

  return {
    /**
     * The latest outage of the store, as any target noticed it, if it began while this daemon was the leader: one that cannot reach the
     * store does not know whether it still is.
     */
    latest: (): Outage | undefined => {
      if (latest?.isOurs !== true) return undefined
      const { problem, since, began, ended } = latest
      return { problem, since, seconds: (ended ?? monotonic()) - began, isOver: ended !== undefined }
    },
    /** Returns the event. If it shows that an outage began, or ended for all targets, also an event for that. */
    follow: (event: DaemonEvent): DaemonEvent[] => {
      note(event)
      const before = latest?.ended === undefined ? latest : undefined
      const problem = failing.values().next().value
      if (problem !== undefined) latest = { since: wall(), began: monotonic(), isOurs: wasLeader(), ...before, problem }
      else if (before !== undefined) latest = { ...before, ended: monotonic() }
      return (before === undefined) === (problem === undefined) ? [event] : [event, { kind: 'store', problem }]
    },
  }
}
