import { cluster, tenThousand } from './rows/cluster.ts'
import { busyPoll } from './rows/busy-poll.ts'
import { firstPoll } from './rows/first-poll.ts'
import { growth } from './rows/growth.ts'
import { hints, manyHints } from './rows/hints.ts'
import { history, sharedHistory } from './rows/history.ts'
import { hostilePage } from './rows/hostile-page.ts'
import { manyTargets } from './rows/many-targets.ts'
import { memory, restart } from './rows/tracked-calls.ts'
import { notifying } from './rows/notifying.ts'
import { openSurface } from './rows/open-surface.ts'
import { idle, settled } from './rows/resting.ts'
import { responsive } from './rows/responsive.ts'
import { scrape } from './rows/scrape.ts'
import { steady } from './rows/steady.ts'
import { sweep } from './rows/sweep.ts'
import { webhook } from './rows/webhook.ts'
import type { Scenario } from './scenario.ts'

/** In the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  firstPoll,
  busyPoll,
  steady,
  sweep,
  growth,
  memory,
  idle,
  settled,
  responsive,
  openSurface,
  hostilePage,
  webhook,
  notifying,
  history,
  sharedHistory,
  restart,
  scrape,
  manyTargets,
  hints,
  manyHints,
  cluster,
  tenThousand,
]

/** Which scenarios, and which rows of theirs, are meant by names of rows or scenarios; all by no name at all. */
export function chooseRows(names: readonly string[]): { scenarios: Scenario[]; rows: Set<string> } {
  const chosen = names.length === 0 ? SCENARIOS.flatMap(({ rows }) => rows) : names.flatMap(rowsOf)
  const rows = new Set(chosen)
  return { scenarios: SCENARIOS.filter((scenario) => scenario.rows.some((row) => rows.has(row))), rows }
}

/** The rows of a name; none for an unknown one. */
export function rowsOf(name: string): readonly string[] {
  const scenario = SCENARIOS.find((scenario) => scenario.name === name)
  const rows = SCENARIOS.flatMap(({ rows }) => rows)
  return scenario?.rows ?? rows.filter((row) => row === name || row.startsWith(`${name} (`))
}
