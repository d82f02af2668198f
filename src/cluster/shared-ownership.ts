import {
  delayWhen,
  EMPTY,
  endWith,
  exhaustMap,
  finalize,
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
import type { ClusterStore, Renewal } from '../store/cluster-store.ts'
import { OtherSettingsError, StoreError } from '../store/store-error.ts'
import { ALONE, type Ownership } from './ownership.ts'
import { newLeases, type LeaseEvent, type Leases } from './leases.ts'
import { STARTING, takesPart, writeStatus } from './member-status.ts'

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
  const { cluster, clock, draining$ } = options
  const events = new Subject<OwnershipEvent>()
  const notify = (event: OwnershipEvent) => events.next(event)
  const leases: Leases = newLeases({
    notify,
    onFree: () => clock.scheduler.schedule(() => void leases.release((targets) => cluster.release(targets)), 0),
  })
  const member = newMember(options, leases, notify)
  const renewal$ = timer(0, member.renewalInterval * 1000, clock.scheduler)
  const expiry$ = timer(0, (member.renewalInterval * 1000) / 2, clock.scheduler)
  const drained$ = draining$.pipe(take(1), tap(member.drain))

  /** Renews the lease when due. If no renewal succeeds for too long, all targets are lost. */
  const work$ = merge(
    merge(renewal$, drained$).pipe(exhaustMap(() => member.renew())),
    expiry$.pipe(tap(() => member.isValid() || member.lose())),
  ).pipe(ignoreElements())

  return {
    renewalInterval: member.renewalInterval,
    lease$: leases.lease$,
    owns: (target) => member.isValid() && leases.has(target),
    isLeader: () => member.isValid() && member.joinedFirst(),
    expectLeader: () => cluster.expectLeader(member.id()),
    wasLeader: member.joinedFirst,
    membership: member.id,
    problem: () => member.problem()?.text,
    ownerOf: member.ownerOf,
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
      member.end()
      // Without an answer from the store, the membership ends with its lease.
      await cluster.leave().catch(() => undefined)
    },
  }
}

type Problem = { of: 'store' | 'settings'; text: string }

/** This daemon as a member. */
function newMember(
  { cluster, clock, name, targets }: SharedOwnershipOptions,
  leases: Leases,
  notify: (event: OwnershipEvent) => void,
) {
  const renewalInterval = cluster.lease / RENEWALS_PER_LEASE
  // The daemon joined when it started, and would have been refused with other settings.
  let isMember = true
  let isDraining = false
  let joinedFirst = false
  let latest: Renewal | undefined
  let problem: Problem | undefined
  const term = newTerm(clock, leases, notify)
  const mayOwn = () => !isDraining && problem?.of !== 'settings'

  function setProblem(now: Problem | undefined): void {
    if (problem !== undefined && problem.of !== now?.of) notify({ kind: 'problem', of: problem.of, problem: undefined })
    if (now !== undefined && now.text !== problem?.text) notify({ kind: 'problem', of: now.of, problem: now.text })
    problem = now
  }

  async function renew(): Promise<void> {
    const sent = clock.monotonic()
    if (!isMember) await cluster.join(name, STARTING)
    isMember = true
    const answer = await cluster.renew(writeStatus(mayOwn()))
    if (answer === undefined) {
      isMember = false
      return term.lose()
    }
    joinedFirst = answer.members[0]?.id === answer.self
    term.extend(sent + cluster.lease - renewalInterval)
    latest = answer
    await adapt(answer, leases, cluster)
    setProblem(answer.differing && { of: 'settings', text: answer.differing.message })
    await share(answer, mayOwn() ? new Set(targets()) : new Set(), leases, cluster)
    if (answer.differing !== undefined && leases.all().length === 0) return resign()
    term.confirm()
  }

  /** A daemon with other settings owns nothing and sends nothing until it may join again. */
  async function resign(): Promise<void> {
    isMember = false
    joinedFirst = false
    term.end()
    await cluster.leave()
  }

  return {
    ...term,
    renewalInterval,
    renew: () => renew().catch((error: unknown) => setProblem(ownershipProblem(error))),
    drain: (): void => {
      isDraining = true
      for (const target of leases.all()) leases.end(target)
    },
    joinedFirst: () => joinedFirst,
    id: () => latest?.self,
    problem: () => problem,
    ownerOf: (target: string) => {
      // While the store cannot be reached, its last answer may be outdated.
      if (!term.isValid()) return undefined
      const owner = latest?.owners.get(target)
      return latest?.members.find(({ id }) => id === owner)?.name
    },
  }
}

/** How long this daemon may act on its leases, by its own monotonic clock (seconds). */
function newTerm(clock: Clock, leases: Leases, notify: (event: OwnershipEvent) => void) {
  let validUntil = -Infinity
  let isConfirmed = false
  const term = {
    isValid: () => clock.monotonic() < validUntil,
    extend: (until: number) => void (validUntil = until),
    /** From now on the end of the term is reported, also without targets. */
    confirm: () => void (isConfirmed = true),
    end: (): void => {
      validUntil = -Infinity
      isConfirmed = false
      leases.lose(leases.all())
    },
    /** Runs once for each term, whether the store or the clock says that the lease has expired. */
    lose: (): void => {
      if (!isConfirmed && leases.all().length === 0) return
      notify({ kind: 'lease lost' })
      term.end()
    },
  }
  return term
}

/** Begins and loses leases, as the store says who owns what. */
async function adapt({ owners, self }: Renewal, leases: Leases, cluster: ClusterStore): Promise<void> {
  const before = new Set(leases.all())
  leases.lose([...before].filter((target) => owners.get(target) !== self))
  const mine = [...owners].flatMap(([target, owner]) => (owner === self ? [target] : []))
  leases.begin(mine.filter((target) => !before.has(target)))
  await leases.release((targets) => cluster.release(targets))
}

/**
 * Releases what is more than this daemon's share, and acquires what is missing of it. All shares are equal, rounded up. So only the
 * excess moves when a daemon joins, and only the targets of a daemon that leaves.
 *
 * @param shared the targets that it may own
 */
async function share(
  { owners, members }: Renewal,
  shared: ReadonlySet<string>,
  leases: Leases,
  cluster: ClusterStore,
): Promise<void> {
  const sharing = members.filter(({ status }) => takesPart(status)).length
  const own = leases.owned().filter((target) => shared.has(target))
  const most = Math.ceil(shared.size / Math.max(1, sharing))
  const kept = new Set(own.slice(0, most))
  for (const target of leases.all()) if (!kept.has(target)) leases.end(target)
  const free = [...shared].filter((target) => !owners.has(target))
  if (free.length > 0 && kept.size < most) leases.begin(await cluster.acquire(free, most - kept.size))
}

function ownershipProblem(error: unknown): Problem {
  if (error instanceof OtherSettingsError) return { of: 'settings', text: error.message }
  if (error instanceof StoreError) return { of: 'store', text: error.message }
  throw error
}
