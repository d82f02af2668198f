import {
  delayWhen,
  EMPTY,
  endWith,
  exhaustMap,
  finalize,
  from,
  ignoreElements,
  merge,
  Subject,
  take,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { OtherSettingsError, type Renewal, type ClusterStore } from '../store/cluster-store.ts'
import { StoreError } from '../store/store-error.ts'
import { toAcquire, toRelease } from './fair-share.ts'
import { ALONE, type Ownership } from './ownership.ts'
import { newLeases, type LeaseEvent } from './leases.ts'
import { STARTING, readStatus, writeStatus } from './member-status.ts'

export type SharedOwnershipOptions = {
  cluster: ClusterStore
  clock: Clock
  /** The name of this daemon on other daemons' pages. */
  name: string
  /** The configured targets. */
  targets: () => readonly string[]
  /** Emits when the daemon must stop; replays. */
  draining$: Observable<unknown>
}

/** A change of the ownership of targets. */
export type OwnershipEvent =
  | LeaseEvent
  /** A lease has expired before it was renewed. */
  | { kind: 'lease lost' }
  /**
   * Why this daemon can own no targets, or that it can again: the store cannot be used, or other daemons have other settings.
   */
  | { kind: 'problem'; of: 'store' | 'settings'; problem: string | undefined }

export type Membership = Ownership & {
  /** Keeps the membership until `aborted$`: renews the lease, acquires and releases targets. Never errors. */
  run: (aborted$: Observable<unknown>) => Observable<OwnershipEvent>
  /** Releases all targets and ends the membership. */
  leave: () => Promise<void>
}

/** For a daemon that does not share its store. */
export const ALONE_MEMBERSHIP: Membership = { ...ALONE, run: () => EMPTY, leave: async () => undefined }

/**
 * How often a lease is renewed within its duration. After 4/5 of a lease without a renewal, this daemon stops polling and
 * sending.
 */
const RENEWALS_PER_LEASE = 5

/**
 * Shares the targets with the other daemons on the store. One lease, which is renewed for all targets at once, says until
 * when this daemon may act. The time is measured by its own monotonic clock, from when it sent the renewal. So it ends
 * earlier than by the store's clock, even if the process was suspended in between.
 */
export function sharedOwnership(options: SharedOwnershipOptions): Membership {
  const { cluster, clock, name, targets, draining$ } = options
  const renewalInterval = cluster.lease / RENEWALS_PER_LEASE
  let joinedFirst = false
  let hasMembership = false
  const events = new Subject<OwnershipEvent>()
  const leases = newLeases({
    notify: (event) => events.next(event),
    onFree: () => clock.scheduler.schedule(() => void release(), 0),
  })
  // The daemon joined when it started, and would have been refused with other settings.
  let isMember = true
  let isDraining = false
  let membershipValidUntil = -Infinity
  let latest: Renewal | undefined
  let problem: { of: 'store' | 'settings'; text: string } | undefined
  const isMembershipValid = () => clock.monotonic() < membershipValidUntil
  const takesPart = () => !isDraining && problem?.of !== 'settings'

  const release = () => leases.release((targets) => cluster.release(targets))

  function loseAll(): void {
    membershipValidUntil = -Infinity
    hasMembership = false
    leases.lose(leases.all())
  }

  /** Runs once for each lease, whether the store or the clock says that the lease has expired. */
  function loseMembership(): void {
    if (!hasMembership && leases.all().length === 0) return
    events.next({ kind: 'lease lost' })
    loseAll()
  }

  function setProblem(now: typeof problem): void {
    if (problem !== undefined && problem.of !== now?.of) {
      events.next({ kind: 'problem', of: problem.of, problem: undefined })
    }
    if (now !== undefined && now.text !== problem?.text) {
      events.next({ kind: 'problem', of: now.of, problem: now.text })
    }
    problem = now
  }

  async function renew(): Promise<void> {
    const sent = clock.monotonic()
    if (!isMember) await cluster.join(name, STARTING)
    isMember = true
    const answer = await cluster.renew(writeStatus({ takesPart: takesPart() }))
    if (answer === undefined) {
      isMember = false
      loseMembership()
      return
    }
    membershipValidUntil = sent + cluster.lease - renewalInterval
    latest = answer
    await share(answer, answer.members.filter(({ status }) => readStatus(status).takesPart).length)
    if (answer.differing !== undefined && leases.all().length === 0) return resign()
    const [first] = answer.members
    joinedFirst = first?.id === answer.self
    hasMembership = true
  }

  /** A daemon with other settings owns nothing and sends nothing until it may join again. */
  async function resign(): Promise<void> {
    isMember = false
    joinedFirst = false
    loseAll()
    await cluster.leave()
  }

  /** Adapts what this daemon polls to what it owns, and what it owns to its share. */
  async function share({ owners, self, differing }: Renewal, members: number): Promise<void> {
    const configured = new Set(targets())
    const before = new Set(leases.all())
    leases.lose([...before].filter((target) => owners.get(target) !== self))
    const mine = [...owners].flatMap(([target, owner]) => (owner === self ? [target] : []))
    leases.begin(mine.filter((target) => !before.has(target)))
    await release()
    setProblem(differing && { of: 'settings', text: differing.message })
    const wanted = takesPart() ? leases.wanted().filter((target) => configured.has(target)) : []
    const kept = new Set(wanted.slice(0, wanted.length - toRelease(wanted.length, configured.size, members)))
    for (const target of leases.all()) if (!kept.has(target)) leases.end(target)
    const free = [...configured].filter((target) => !owners.has(target))
    const most = takesPart() ? toAcquire(kept.size, configured.size, members) : 0
    if (free.length === 0 || most === 0) return
    leases.begin(await cluster.acquire(free, most))
  }

  /** Renews the lease when due. If no renewal succeeds for too long, all targets are lost. */
  const work$ = merge(
    merge(
      timer(0, renewalInterval * 1000, clock.scheduler),
      draining$.pipe(
        take(1),
        tap(() => {
          isDraining = true
          for (const target of leases.all()) leases.end(target)
        }),
      ),
    ).pipe(
      exhaustMap(() => from(renew().catch((error: unknown) => setProblem(problemOf(error))))),
      ignoreElements(),
    ),
    timer(0, (renewalInterval * 1000) / 2, clock.scheduler).pipe(
      tap(() => {
        if (!isMembershipValid()) loseMembership()
      }),
      ignoreElements(),
    ),
  )

  return {
    renewalInterval,
    lease$: leases.lease$,
    owns: (target) => isMembershipValid() && leases.has(target),
    isLeader: () => isMembershipValid() && joinedFirst,
    wasLeader: () => joinedFirst,
    problem: () => problem?.text,
    ownerOf: (target) => {
      // While the store cannot be reached, its last answer may be outdated.
      if (!isMembershipValid()) return undefined
      const owner = latest?.owners.get(target)
      return latest?.members.find(({ id }) => id === owner)?.name
    },
    run: (aborted$) =>
      merge(
        events,
        work$.pipe(
          takeUntil(aborted$),
          endWith(undefined),
          // The signal that ends the work also releases the last targets, in the same turn of the event loop.
          delayWhen(() => timer(0, clock.scheduler)),
          tap(() => leases.reportReleased()),
          ignoreElements(),
          finalize(() => events.complete()),
        ),
      ),
    leave: async () => {
      loseAll()
      // Without an answer from the store, the membership ends with its lease.
      await cluster.leave().catch(() => undefined)
    },
  }
}

function problemOf(error: unknown): { of: 'store' | 'settings'; text: string } {
  if (error instanceof OtherSettingsError) return { of: 'settings', text: error.message }
  if (error instanceof StoreError) return { of: 'store', text: error.message }
  throw error
}
