import { EMPTY, firstValueFrom, from, tap, timeout, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { Lifecycle } from '../pipeline/lifecycle.ts'
import type { ClusterStore } from '../store/cluster-store.ts'
import type { PassedHint } from '../store/hint-channel.ts'

/** Brings each hint to the daemon that owns its target. */
export type PassedHints = {
  /** Takes a hint of a webhook that this daemon received. Rejects if it cannot be passed on soon. */
  pass: (hint: PassedHint) => Promise<void>
  /** Takes the hints that other daemons received, while it is subscribed to. */
  received$: Observable<unknown>
}

/** Further hints are refused until these are passed on. */
const MAX_WAITING = 1000
/** The service waits two seconds for an answer to a webhook (seconds). */
const PASS_TIMEOUT_SECONDS = 1.5

type HintsOptions = { clock: Clock; ownership: Pick<Ownership, 'owns'>; targets: Pick<Lifecycle, 'hint'> }

/** @param cluster undefined if the daemon does not share its store */
export function passedHints(
  cluster: Pick<ClusterStore, 'hints'> | undefined,
  { clock, ownership, targets }: HintsOptions,
): PassedHints {
  const own = ({ target, hint }: PassedHint) => targets.hint(target, hint)
  if (cluster === undefined) return { pass: async (hint) => own(hint), received$: EMPTY }
  let waiting = 0
  return {
    pass: async (hint) => {
      if (ownership.owns(hint.target)) return own(hint)
      if (waiting >= MAX_WAITING) throw new Error('too many hints wait to be passed on')
      waiting += 1
      const passed = cluster.hints.pass(hint).finally(() => (waiting -= 1))
      const limit = timeout({ first: PASS_TIMEOUT_SECONDS * 1000, scheduler: clock.scheduler })
      await firstValueFrom(from(passed).pipe(limit))
    },
    received$: cluster.hints.hints$.pipe(tap((hints) => hints.forEach(own))),
  }
}
