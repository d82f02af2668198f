import type { SyncState } from '../ledger/state.ts'
import { parse } from '../store/rows.ts'
import type { RowReader } from '../store/row-reader.ts'
import type { Period } from './days.ts'

/** A time of which callwatch does not have all calls of a target. */
export type BlindTime = Period & {
  target: string
  /**
   * - `before`: the target was not set up yet
   * - `expired`: calls that finished then are not kept any more (`store.history`)
   * - `ended`: polls have succeeded again since; what finished meanwhile was noticed late, if the list still had it
   * - `now`: no poll has succeeded since, and that is five minutes ago or three intervals
   */
  kind: 'before' | 'expired' | 'ended' | 'now'
}

export type Coverage = {
  /** How long all of them together are, what several targets have in common once (seconds). */
  blindSeconds: number
  /** By target, the oldest first. */
  blind: BlindTime[]
}

export type CoverageOptions = { targets?: readonly string[] | undefined; configured?: readonly string[]; now: number }

/** How long after its last successful poll a target still counts as seen (seconds), and in intervals between polls. */
const MIN_BLIND_SECONDS = 300
const BLIND_INTERVALS = 3

/**
 * Of which times within a period not all calls are known, by the service's clock.
 *
 * @param targets by name; undefined for all of the store, of which those that are not configured are not expected to be seen
 * @param configured the targets of the configuration
 * @param now the host's clock (UNIX seconds): no target is expected to be seen later
 */
export async function coverageOf(
  store: RowReader,
  { from, to }: Period,
  { targets, configured = [], now }: CoverageOptions,
): Promise<Coverage> {
  const known = await store.rows('SELECT name, sync, expired FROM callwatch.targets ORDER BY name', [])
  const gaps = await store.rows(
    `SELECT name, began, ended FROM callwatch.targets CROSS JOIN callwatch.gaps
    WHERE target = number AND ended > $1 AND began < $2 ORDER BY name, ended`,
    [from, to],
  )
  const ended = Map.groupBy(gaps, ({ name }) => String(name))
  const blind = known.flatMap(({ name, sync, expired }): BlindTime[] => {
    const target = String(name)
    if (targets?.includes(target) === false) return []
    const { created, lastSuccess = created, previousSuccess = lastSuccess, clockSkew = 0 } = parse<SyncState>(sync)
    const end = Math.min(to, now + clockSkew)
    const isSeen = end - lastSuccess <= Math.max(MIN_BLIND_SECONDS, BLIND_INTERVALS * (lastSuccess - previousSuccess))
    // Of the second in which the last one finished others may be deleted as well.
    const kept: BlindTime[] =
      expired === null ? [] : [{ target, kind: 'expired', from: created, to: Math.floor(Number(expired)) + 1 }]
    const unseen: BlindTime[] = [
      { target, kind: 'before', from: -Infinity, to: created },
      ...(ended.get(target) ?? []).map((gap): BlindTime => ({
        target,
        kind: 'ended',
        from: Number(gap['began']),
        to: Number(gap['ended']),
      })),
      ...(isSeen ? [] : [{ target, kind: 'now' as const, from: lastSuccess, to: Infinity }]),
    ]
    return [...kept, ...((targets ?? configured).includes(target) ? unseen : [])]
      .map((time) => ({ ...time, from: Math.max(from, time.from), to: Math.min(end, time.to) }))
      .filter((time) => time.from < time.to)
      .toSorted((a, b) => a.from - b.from)
  })
  return { blindSeconds: lengthOf(blind), blind }
}

/** The length of all periods together, what several have in common once (seconds). */
export function lengthOf(periods: readonly Period[]): number {
  let [length, reached] = [0, -Infinity]
  for (const { from, to } of periods.toSorted((a, b) => a.from - b.from)) {
    length += Math.max(0, to - Math.max(from, reached))
    reached = Math.max(reached, to)
  }
  return length
}
