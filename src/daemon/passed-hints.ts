import { EMPTY, tap, type Observable } from 'rxjs'
import type { Ownership } from '../cluster/ownership.ts'
import type { Lifecycle } from '../pipeline/lifecycle.ts'
import type { ClusterStore } from '../store/cluster-store.ts'
import type { PassedHint } from '../store/hint-channel.ts'
import type { Job } from './jobs.ts'

/** Brings each hint to the daemon that owns its target. */
export type PassedHints = {
  /** Takes a hint of a webhook that this daemon received. */
  take: (hint: PassedHint) => void
  /** Takes the hints that other daemons received, while it is subscribed to. */
  received$: Observable<unknown>
  jobs: readonly Job[]
}

/** How often waiting hints are passed on (seconds). */
const PASS_INTERVAL_SECONDS = 0.2
/** Further hints are dropped until these are passed on. */
const MAX_WAITING = 1000

export function passedHints({
  cluster,
  ownership,
  targets,
}: {
  cluster: Pick<ClusterStore, 'hints'> | undefined
  ownership: Pick<Ownership, 'owns'>
  targets: Pick<Lifecycle, 'hint'>
}): PassedHints {
  const own = ({ target, hint }: PassedHint) => targets.hint(target, hint)
  if (cluster === undefined) return { take: own, received$: EMPTY, jobs: [] }
  const waiting: PassedHint[] = []
  return {
    take: (hint) => {
      if (ownership.owns(hint.target)) own(hint)
      else if (waiting.length < MAX_WAITING) waiting.push(hint)
    },
    received$: cluster.hints.hints$.pipe(tap((hints) => hints.forEach(own))),
    jobs: [
      {
        every: PASS_INTERVAL_SECONDS,
        leaderOnly: false,
        run: async () => (waiting.length > 0 ? cluster.hints.pass(waiting.splice(0)) : undefined),
      },
    ],
  }
}
