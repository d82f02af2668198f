import { knownSince, type SyncState } from '../ledger/state.ts'
import { STALE_INTERVALS } from '../clock/intervals.ts'
import { wholeMilliseconds } from '../clock/times.ts'
import { parse, type RowReader } from '../store/sql.ts'
import type { Period } from './days.ts'

/**
 * - `before`: calls that finished then are not counted, because the target did not exist in the store yet
 * - `expired`: calls that finished then are no longer kept (`store.history`)
 * - `ended`: there was no successful poll in this time; calls that finished in it were noticed late, if the list still had
 *   them
 * - `now`: there has been no successful poll since, for at least five minutes or three intervals
 */
export const BLIND_KINDS = ['before', 'expired', 'ended', 'now'] as const

/** A time for which callwatch does not have all calls of a target. */
export type BlindTime = Period & { target: string; kind: (typeof BLIND_KINDS)[number]; clockSkew?: number }

export type Coverage = Awaited<ReturnType<typeof coverageOf>>

type Targets = readonly string[] | undefined

export type CoverageOptions = {
  targets?: Targets
  configured?: readonly string[]
  now: number
  /** Since when (UNIX seconds) a store that was just made has all calls that the service lists. */
  listedFrom?: number | undefined
}

/** A target counts as not covered once it is stale, but not before so long without a successful poll. */
const MIN_BLIND_SECONDS = 300

/**
 * The times within a period for which not all calls are known, by the service's clock: by target, oldest first, and their total length
 * (seconds), in which time that several targets have in common counts once.
 *
 * @param targets by name; undefined for all targets in the store. Targets that are not configured need not be polled.
 * @param configured the targets of the configuration
 * @param now the host's clock (UNIX seconds): later times need not be covered
 */
export async function coverageOf(
  store: RowReader,
  { from, to }: Period,
  { targets, configured = [], now, listedFrom }: CoverageOptions,
) {
  const targetRows = await store.rows('SELECT name, sync, expired FROM callwatch.targets ORDER BY name')
  const gaps = await store.rows(
    `SELECT name, began, ended FROM callwatch.targets CROSS JOIN callwatch.gaps
    WHERE target = number AND ended > $1 AND began < $2 ORDER BY name, ended`,
    [from, to],
  )
  const ended = Map.groupBy(listedFrom === undefined ? gaps : [], ({ name }) => String(name))
  const blind = targetRows.flatMap(({ name, sync, expired }): BlindTime[] => {
    const target = String(name)
    if (targets?.includes(target) === false) return []
    const known = parse<SyncState>(sync)
    const { created, lastSuccess = created, previousSuccess = lastSuccess, clockSkew = 0 } = known
    const begin = listedFrom ?? knownSince(known)
    const end = Math.min(to, now + clockSkew)
    const isSeen = end - lastSuccess <= Math.max(MIN_BLIND_SECONDS, STALE_INTERVALS * (lastSuccess - previousSuccess))
    // Other calls of the second in which the last deleted call finished may be deleted as well.
    const kept: BlindTime[] =
      expired === null ? [] : [{ target, kind: 'expired', from: begin, to: Math.floor(Number(expired)) + 1 }]
    const unseen: BlindTime[] = [
      { target, kind: 'before', from: -Infinity, to: begin },
      ...(ended.get(target) ?? []).map((gap): BlindTime => ({
        target,
        kind: 'ended',
        from: Number(gap['began']),
        to: Number(gap['ended']),
      })),
      ...(isSeen ? [] : [{ target, kind: 'now' as const, from: lastSuccess, to: Infinity }]),
    ]
    return [...kept, ...((targets ?? configured).includes(target) ? unseen : [])]
      .map((time) => ({
        ...time,
        ...(clockSkew !== 0 && { clockSkew }),
        from: Math.max(from, time.from),
        to: Math.min(end, time.to),
      }))
      .filter((time) => time.from < time.to)
      .toSorted((a, b) => a.from - b.from)
  })
  return { blindSeconds: lengthOf(blind), blind }
}

/**
 * Now by the service's clock, to which the times of calls belong (UNIX seconds).
 *
 * @param targets by name; undefined for all targets in the store. Removed ones do not count.
 * @param now the host's clock (UNIX seconds)
 * @param which chooses if the clocks of several targets differ: by default the earliest, so that each has its last hour
 */
export async function readServiceNow(
  store: RowReader,
  targets: Targets,
  now: number,
  which = Math.min,
): Promise<number> {
  const rows = await store.rows('SELECT name, sync FROM callwatch.targets WHERE removed IS NULL')
  const selected = rows.filter(({ name }) => targets?.includes(String(name)) !== false)
  const skews = selected.flatMap(({ sync }) => parse<SyncState>(sync).clockSkew ?? [])
  return now + (skews.length === 0 ? 0 : which(...skews))
}

/** The total length of periods (seconds). Time that several have in common counts once. */
export function lengthOf(periods: readonly Period[]): number {
  let [length, reached] = [0, -Infinity]
  for (const { from, to } of periods.toSorted((a, b) => a.from - b.from)) {
    length += Math.max(0, to - Math.max(from, reached))
    reached = Math.max(reached, to)
  }
  return wholeMilliseconds(length)
}
