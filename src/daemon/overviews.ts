import type { Clock } from '../clock/clock.ts'
import type { Ownership } from '../cluster/ownership.ts'
import type { ClusterStore } from '../store/cluster-store.ts'
import type { Targets } from '../pipeline/lifecycle.ts'
import type { Target } from '../pipeline/target.ts'
import { readOverview, writeOverview, type OtherTarget, type Overview } from '../views/overview.ts'
import type { DaemonEvent } from './daemon-event.ts'
import type { Job } from './jobs.ts'

type OverviewsOptions = { clock: Clock; targets: Targets; ownership: Pick<Ownership, 'ownerOf' | 'problem'> }

/** What this daemon knows about targets that other daemons own. */
export type Overviews = ReturnType<typeof overviewsIn>

/** How often overviews are written and read (seconds). */
const EXCHANGE_INTERVAL_SECONDS = 1
/** How many overviews are written in one statement. Making them blocks the event loop. */
const WRITTEN_TOGETHER = 50
/** After this long, a target that no daemon has loaded no longer delays notifications about other targets (seconds). */
const INCOMPLETE_SECONDS = 60
/** Events that change an overview, besides commits. */
const CHANGES: ReadonlySet<DaemonEvent['kind']> = new Set(['polled', 'skipped', 'progress', 'internal error'])

const NONE: Overviews = {
  others: () => [],
  isComplete: () => true,
  wereRead: () => true,
  note: () => undefined,
  jobs: [],
}

/** @param cluster undefined if the daemon does not share its store */
export function newOverviews(cluster: ClusterStore | undefined, options: OverviewsOptions): Overviews {
  return cluster === undefined ? NONE : overviewsIn(cluster, options)
}

function overviewsIn(cluster: ClusterStore, { clock, targets, ownership }: OverviewsOptions) {
  const known = new Map<string, Overview>()
  /** Own targets whose overview must be written. */
  const changed = new Set<string>()
  /** Bugs that were not reported yet. */
  const failed: DaemonEvent[] = []
  const begun = clock.monotonic()
  let cursor: string | undefined
  let wasComplete = false
  const namesLoaded = () => new Set(targets.loaded().map(({ name }) => name))

  /** Writes changed overviews, the earliest change first. Returns the bugs that occurred. */
  async function write(): Promise<DaemonEvent[]> {
    const loaded = new Map(targets.loaded().map((target) => [target.name, target]))
    const due = [...changed].flatMap((name) => loaded.get(name) ?? [])
    for (let i = 0; i < due.length; i += WRITTEN_TOGETHER) {
      const some = due.slice(i, i + WRITTEN_TOGETHER)
      for (const { name } of some) changed.delete(name)
      const written = writeOverviews(some, clock.wall())
      failed.push(...written.failed)
      await cluster.publish(written.texts).catch((error: unknown) => {
        for (const name of written.texts.keys()) changed.add(name)
        throw error
      })
    }
    return failed.splice(0)
  }

  async function read(): Promise<void> {
    const recent = await cluster.overviewsSince(cursor)
    cursor = recent.cursor
    const named = new Set(targets.all())
    for (const [name, text] of recent.overviews) {
      const overview = readOverview(text)
      if (overview !== undefined && named.has(name)) known.set(name, overview)
    }
    for (const name of known.keys()) if (!named.has(name)) known.delete(name)
  }

  return {
    /** The other daemons' targets whose overview was read. */
    others: (): readonly OtherTarget[] => {
      const loaded = namesLoaded()
      const loading = new Map(targets.loading().map(({ name, problem }) => [name, problem]))
      const unowned = ownership.problem() ?? 'no daemon owns it at the moment'
      return targets.all().flatMap((name) => {
        const overview = loaded.has(name) ? undefined : known.get(name)
        if (overview === undefined) return []
        const owner = ownership.ownerOf(name)
        return [{ ...overview, name, owner, problem: owner === undefined ? unowned : loading.get(name) }]
      })
    },
    /** Whether each target was loaded here or has an overview. Always true after a minute. */
    isComplete: (): boolean => {
      if (wasComplete) return true
      const loaded = namesLoaded()
      const areKnown = cursor !== undefined && targets.all().every((name) => loaded.has(name) || known.has(name))
      wasComplete = areKnown || clock.monotonic() - begun >= INCOMPLETE_SECONDS
      return wasComplete
    },
    /** Whether the overviews were read at least once: before that, the targets of other daemons are missing. */
    wereRead: () => cursor !== undefined,
    /** Notes which overviews an event of this daemon changes. */
    note: (event: DaemonEvent): void => {
      for (const name of changedBy(event, targets)) changed.add(name)
    },
    /**
     * Jobs that write overviews of the own targets for the other daemons, and read theirs. They are separate, so that many writes do not
     * delay reading.
     */
    jobs: [write, read].map((run): Job => ({ every: EXCHANGE_INTERVAL_SECONDS, first: 0, leaderOnly: false, run })),
  }
}

/** The targets whose overview an event changes. */
function changedBy(event: DaemonEvent, { owned }: Pick<Targets, 'owned'>): readonly string[] {
  if (event.kind === 'committed') return [event.committed.target]
  // Overviews also show rules and intervals.
  if (event.kind === 'reload') return owned()
  if (event.kind === 'ownership') return event.event.kind === 'acquired' ? event.event.targets : []
  return CHANGES.has(event.kind) && 'target' in event ? [event.target] : []
}

/** The overviews of these targets. A bug in one overview does not prevent the others from being written. */
function writeOverviews(targets: readonly Target[], wall: number) {
  const texts = new Map<string, string>()
  const failed: DaemonEvent[] = []
  for (const target of targets) {
    try {
      texts.set(target.name, writeOverview(target, wall))
    } catch (error) {
      failed.push({ kind: 'overview failed', target: target.name, error })
    }
  }
  return { texts, failed }
}
