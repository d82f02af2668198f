import {
  BehaviorSubject,
  combineLatest,
  distinctUntilChanged,
  exhaustMap,
  from,
  ignoreElements,
  map,
  merge,
  Subject,
  take,
  tap,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Settings } from '../store/settings.ts'
import { OtherSettingsError, type Beat, type Sharing } from '../store/sharing.ts'
import { StoreError } from '../store/store.ts'
import { toAcquire, toRelease } from './fair-share.ts'
import type { Ownership } from './ownership.ts'
import { newTurns, type TurnEvent } from './turns.ts'
import { LOADING, readNote, writeNote } from './note.ts'

export type SharedOwnershipOptions = {
  sharing: Sharing
  clock: Clock
  /** The name of this daemon on the page of others. */
  name: string
  /** What all daemons must agree in, as this one last read it. */
  settings: () => Settings
  /** The targets that are configured at the moment. */
  targets: () => readonly string[]
  /** Notes for the others on those targets that this daemon owns, by name. */
  notesOf: (targets: ReadonlySet<string>) => ReadonlyMap<string, unknown>
  /** Emits when the daemon must stop; replays. */
  draining$: Observable<unknown>
}

/** What happens to the ownership of targets. */
export type OwnershipEvent =
  | TurnEvent
  /** A lease has ended before it was renewed. */
  | { kind: 'lease lost' }
  /** Why this daemon can own nothing, and then that it can: the store cannot be used, or others have other settings. */
  | { kind: 'trouble'; of: 'store' | 'settings'; problem: string | undefined }

export type SharedOwnership = Ownership & {
  /** Keeps the membership until `leave`: renews it, acquires and releases targets. Never errors. */
  keep$: Observable<OwnershipEvent>
  /** Releases everything, and ends the membership. */
  leave: () => Promise<void>
}

/** Beats in the time of one lease. Where all of them but the last fail, nothing more is asked or sent. */
const BEATS = 5

/**
 * Shares the targets with the other daemons on the store, by a lease that is renewed for all of them at once. This
 * daemon's own monotonic clock, from the moment at which a renewal was sent, says until when it may act on it: that is
 * earlier than by the store's clock, also where the process was halted in between.
 */
export function sharedOwnership(options: SharedOwnershipOptions): SharedOwnership {
  const { sharing, clock, name, settings, targets, draining$ } = options
  const pause = sharing.lease / BEATS
  const isFirst = new BehaviorSubject(false)
  const held = new BehaviorSubject(false)
  const events = new Subject<OwnershipEvent>()
  const turns = newTurns({
    notify: (event) => events.next(event),
    onFree: () => clock.scheduler.schedule(() => void release(), 0),
  })
  // The daemon joined when it started, and was refused then if it had other settings.
  let isMember = true
  let isDraining = false
  let heldUntil = -Infinity
  let latest: Beat | undefined
  let notes = new Map<string, unknown>()
  let problem: { of: 'store' | 'settings'; text: string } | undefined
  const isHeld = () => clock.monotonic() < heldUntil
  const takesPart = () => !isDraining && problem?.of !== 'settings'

  const release = () => turns.release((targets) => sharing.release(targets))

  function loseAll(): void {
    heldUntil = -Infinity
    held.next(false)
    for (const target of turns.noted()) turns.lose(target)
  }

  /** Once for each lease, whether the store says that it has ended or the time does. */
  function loseLease(): void {
    if (!held.value && turns.noted().length === 0) return
    events.next({ kind: 'lease lost' })
    loseAll()
  }

  function noteProblem(now: typeof problem): void {
    if (problem !== undefined && problem.of !== now?.of) {
      events.next({ kind: 'trouble', of: problem.of, problem: undefined })
    }
    if (now !== undefined && now.text !== problem?.text) {
      events.next({ kind: 'trouble', of: now.of, problem: now.text })
    }
    problem = now
  }

  async function beat(): Promise<void> {
    const sent = clock.monotonic()
    if (!isMember) await sharing.join(name, settings(), LOADING)
    isMember = true
    const own = options.notesOf(new Set(turns.noted()))
    const answer = await sharing.beat(writeNote({ takesPart: takesPart(), targets: own }))
    if (answer === undefined) {
      isMember = false
      loseLease()
      return
    }
    heldUntil = sent + sharing.lease - pause
    latest = answer
    const noted = answer.members.map((member) => ({ ...member, ...readNote(member.note) }))
    notes = new Map(noted.flatMap((member) => [...member.targets]))
    await share(answer, noted.filter((member) => member.takesPart).length)
    if (answer.differing !== undefined && turns.noted().length === 0) return resign()
    const [first] = answer.members
    isFirst.next(first?.id === answer.self)
    held.next(true)
  }

  /** A daemon with other settings owns nothing and sends nothing until it may join again. */
  async function resign(): Promise<void> {
    isMember = false
    isFirst.next(false)
    loseAll()
    await sharing.leave()
  }

  /** Brings what this daemon polls in line with what it owns, and that with its share. */
  async function share({ owners, self, differing }: Beat, members: number): Promise<void> {
    const configured = new Set(targets())
    const noted = new Set(turns.noted())
    for (const target of noted) if (owners.get(target) !== self) turns.lose(target)
    for (const [target, owner] of owners) if (owner === self && !noted.has(target)) turns.begin(target)
    await release()
    noteProblem(differing && { of: 'settings', text: differing.message })
    const wanted = takesPart() ? turns.wanted().filter((target) => configured.has(target)) : []
    const kept = new Set(wanted.slice(0, wanted.length - toRelease(wanted.length, configured.size, members)))
    for (const target of turns.noted()) if (!kept.has(target)) turns.end(target)
    const free = [...configured].filter((target) => !owners.has(target))
    const most = takesPart() ? toAcquire(kept.size, configured.size, members) : 0
    if (free.length === 0 || most === 0) return
    for (const target of await sharing.claim(free, most)) turns.begin(target)
  }

  /** Beats as they are due; once none has succeeded for as long as the lease lasts, everything is lost. */
  const keep$ = merge(
    events,
    merge(
      timer(0, pause * 1000, clock.scheduler),
      draining$.pipe(
        take(1),
        tap(() => {
          isDraining = true
          for (const target of turns.noted()) turns.end(target)
        }),
      ),
    ).pipe(
      exhaustMap(() => from(beat().catch((error: unknown) => noteProblem(problemOf(error))))),
      ignoreElements(),
    ),
    timer(0, (pause * 1000) / 2, clock.scheduler).pipe(
      tap(() => {
        if (!isHeld()) loseLease()
      }),
      ignoreElements(),
    ),
  )

  return {
    beat: pause,
    turn$: turns.turn$,
    owns: (target) => isHeld() && turns.has(target),
    leads: () => isHeld() && isFirst.value,
    leads$: combineLatest([isFirst, held]).pipe(
      map(([first, now]) => first && now),
      distinctUntilChanged(),
    ),
    ledLast: () => isFirst.value,
    problem: () => problem?.text,
    ownerOf: (target) => {
      // The last answer may be outdated once the store cannot be reached.
      if (!isHeld()) return undefined
      const owner = latest?.owners.get(target)
      return latest?.members.find(({ id }) => id === owner)?.name
    },
    noteOf: (target) => (isHeld() ? notes.get(target) : undefined),
    keep$,
    leave: async () => {
      loseAll()
      // Without an answer of the store, the membership ends with its lease.
      await sharing.leave().catch(() => undefined)
    },
  }
}

function problemOf(error: unknown): { of: 'store' | 'settings'; text: string } {
  if (error instanceof OtherSettingsError) return { of: 'settings', text: error.message }
  if (error instanceof StoreError) return { of: 'store', text: error.message }
  throw error
}
