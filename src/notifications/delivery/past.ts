import type { Episode } from '../../alerts/episode.ts'
import type { Silence } from '../../alerts/match.ts'
import type { Severity } from '../../alerts/match-keys.ts'
import { parse } from '../../store/sql.ts'
import type { Store } from '../../store/store.ts'
import type { Inhibited } from './inhibition.ts'

/** What may have suppressed alerts since a time, including what still does; limited by what the store keeps. */
export type Past = { silences: readonly Silence[]; fired: readonly Inhibited[] }

/** Reads what may have suppressed alerts since a time (UNIX seconds by the host's clock). */
export async function pastSince(store: Pick<Store, 'silences' | 'rows'>, from: number): Promise<Past> {
  const rows = await store.rows(
    `SELECT target, alert, since, until, rule, severity, data FROM callwatch.alert_episodes
    WHERE until IS NULL OR until > $1`,
    [from],
  )
  const fired = rows.map((row) => ({
    ...parse<Episode>(row['data']),
    target: String(row['target']),
    key: String(row['alert']),
    alert: String(row['rule']),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was written from a notification
    severity: row['severity'] as Severity,
    firingSince: Number(row['since']),
    until: Number(row['until'] ?? Infinity),
  }))
  return { silences: await store.silences(from), fired }
}
