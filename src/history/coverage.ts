import type { SyncState } from '../ledger/state.ts'
import { parse } from '../store/rows.ts'
import type { RowReader } from '../store/row-reader.ts'
import type { Period } from './days.ts'

/** A time in which callwatch saw nothing of a target. */
export type BlindTime = Period & {
  target: string
  /**
   * - `before`: the target was not set up yet
   * - `ended`: polls have succeeded again since; what finished meanwhile was noticed late, if the list still had it
   * - `now`: no poll has succeeded since, and that is five minutes ago or three intervals
   */
  kind: 'before' | 'ended' | 'now'
}

export type Coverage = {
  /** How long at least one target was not seen (seconds). */
  blindSeconds: number
  /** By target, the oldest first. */
  blind: BlindTime[]
}

/** How long after its last successful poll a target still counts as seen (seconds), and in intervals between polls. */
const MIN_BLIND = 300
const BLIND_INTERVALS = 3

/**
 * When targets were not seen within a period, by the service's clock.
 *
 * @param targets those of the configuration, or some of them: of a target that was removed nothing is expected
 * @param now the host's clock (UNIX seconds): no target is expected to be seen later
 */
export async function coverageOf(
  store: RowReader,
  { from, to }: Period,
  { targets, now }: { targets: readonly string[]; now: number },
): Promise<Coverage> {
  const known = await store.rows('SELECT name, sync FROM callwatch.targets ORDER BY name', [])
  const gaps = await store.rows(
    `SELECT name, began, ended FROM callwatch.targets CROSS JOIN callwatch.gaps
    WHERE target = number AND ended > $1 AND began < $2 ORDER BY name, ended`,
    [from, to],
  )
  const ended = Map.groupBy(gaps, ({ name }) => String(name))
  const blind = known.flatMap(({ name, sync }): BlindTime[] => {
    const target = String(name)
    if (!targets.includes(target)) return []
    const { created, lastSuccess = created, previousSuccess = lastSuccess, clockSkew = 0 } = parse<SyncState>(sync)
    const end = Math.min(to, now + clockSkew)
    const isSeen = end - lastSuccess <= Math.max(MIN_BLIND, BLIND_INTERVALS * (lastSuccess - previousSuccess))
    const times: BlindTime[] = [
      { target, kind: 'before', from: -Infinity, to: created },
      ...(ended.get(target) ?? []).map((gap): BlindTime => ({
        target,
        kind: 'ended',
        from: Number(gap['began']),
        to: Number(gap['ended']),
      })),
      ...(isSeen ? [] : [{ target, kind: 'now' as const, from: lastSuccess, to: Infinity }]),
    ]
    return times
      .map((time) => ({ ...time, from: Math.max(from, time.from), to: Math.min(end, time.to) }))
      .filter((time) => time.from < time.to)
  })
  return { blindSeconds: lengthOf(blind), blind }
}

/** The length of all periods together, what several have in common once (seconds). */
function lengthOf(periods: readonly Period[]): number {
  let [length, reached] = [0, -Infinity]
  for (const { from, to } of periods.toSorted((a, b) => a.from - b.from)) {
    length += Math.max(0, to - Math.max(from, reached))
    reached = Math.max(reached, to)
  }
  return length
}
