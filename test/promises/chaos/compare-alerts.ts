import type { RowReader } from '../../../src/store/sql.ts'
import type { Store } from '../../../src/store/store.ts'
import type { PastAlert } from '../../../src/views/alert.ts'
import { readLog } from '../../kit/events/event-problems.ts'
import { episodeProblems, turnsOf } from '../../kit/store/episode-problems.ts'
import { row, type Row } from './promise-rows.ts'

/** The history of alerts, and whether it has each alert once, from when it fired to when it ended, as the events say. */
export async function alertHistoryRow(
  store: RowReader,
  log: Pick<Store, 'events' | 'latestEvents'>,
): Promise<{ row: Row; episodes: readonly PastAlert[] }> {
  const turns = turnsOf(await readLog(log))
  const { problems, episodes } = await episodeProblems(store, turns)
  const noted = episodes.flatMap(({ notified }) => notified)
  const result = row(
    'the history of alerts has each alert once',
    `${episodes.length} alerts of ${turns.length} events; ${noted.length} notifications noted`,
    problems.length === 0 && episodes.length > 0 && noted.length > 0,
    problems,
  )
  return { row: result, episodes }
}
