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
import type { Settings } from '../store/settings.ts'
import { OtherSettingsError, type Renewal, type ClusterStore } from '../store/cluster-store.ts'
import { StoreError } from '../store/store-error.ts'
import { toAcquire, toRelease } from './fair-share.ts'
import { ALONE, type Ownership } from './ownership.ts'
import { newLeases, type LeaseEvent } from './leases.ts'
import { STARTING, readStatus, writeStatus } from './member-status.ts'

export type SharedOwnershipOptions = {
  cluster: ClusterStore
  clock: Clock
  /** The name of this daemon on the page of others. */
  name: string
  /** What all daemons must agree in, as this one last read it. */
  settings: () => Settings
  /** The targets that are configured at the moment. */
  targets: () => readonly string[]
  /** Emits when the daemon must stop; replays. */
  draining$: Observable<unknown>
}

/** What happens to the ownership of targets. */
export type OwnershipEvent =
  | LeaseEvent
  /** A lease has ended before it was renewed. */
  | { kind: 'lease lost' }
  /** Why this daemon can own nothing, and then that it can: the store cannot be used, or others have other settings. */
  | { kind: 'problem'; of: 'store' | 'settings'; problem: string | undefined }

export type Membership = Ownership & {
  /** Keeps the membership until `aborted$`: renews it, acquires and releases targets. Never errors. */
  run: (aborted$: Observable<unknown>) => Observable<OwnershipEvent>
  /** Releases everything, and ends the membership. */
  leave: () => Promise<void>
}

/** Of the only daemon on its store. */
export const ALONE_MEMBERSHIP: Membership = { ...ALONE, run: () => EMPTY, leave: async () => undefined }

/** Renewals in the time of one lease. After 4/5 of a lease without one, this daemon stops polling and sending. */
const RENEWALS_PER_LEASE = 5

/**
 * Shares the targets with the other daemons on the store, by a lease that is renewed for all of them at once. This
 * daemon's own monotonic clock, from the moment at which a renewal was sent, says until when it may act on it: that is
 * earlier than by the store's clock, also where the process was halted in between.
 */
export function sharedOwnership(options: SharedOwnershipOptions): Membership {
  const { cluster, clock, name, settings, targets, draining$ } = options
  const renewalInterval = cluster.lease / RENEWALS_PER_LEASE
  let joinedFirst = false
  let hasMembership = false
  const events = new Subject<OwnershipEvent>()
  const leases = newLeases({
    notify: (event) => events.next(event),
    onFree: () => clock.scheduler.schedule(() => void release(), 0),
  })
  // The daemon joined when it started, and was refused then if it had other settings.
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

  /** Once for each lease, whether the store says that it has ended or the time does. */
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
    if (!isMember) await cluster.join(name, settings(), STARTING)
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

  /** Brings what this daemon polls in line with what it owns, and that with its share. */
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

  /** Renews the lease when that is due; once no renewal has succeeded for too long, every target is lost. */
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
      // The last answer may be outdated once the store cannot be reached.
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
          // What ends the work also releases the last targets, in the same turn.
          delayWhen(() => timer(0, clock.scheduler)),
          tap(() => leases.reportReleased()),
          ignoreElements(),
          finalize(() => events.complete()),
        ),
      ),
    leave: async () => {
      loseAll()
      // Without an answer of the store, the membership ends with its lease.
      await cluster.leave().catch(() => undefined)
    },
  }
}

function problemOf(error: unknown): { of: 'store' | 'settings'; text: string } {
  if (error instanceof OtherSettingsError) return { of: 'settings', text: error.message }
  if (error instanceof StoreError) return { of: 'store', text: error.message }
  throw error
}
