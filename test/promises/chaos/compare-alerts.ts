import type { RowReader } from '../../../src/store/sql.ts'
import type { Store } from '../../../src/store/store.ts'
import { readLog } from '../../kit/events/event-problems.ts'
import { episodeProblems, turnsOf } from '../../kit/store/episode-problems.ts'
import { row, type Row } from './promise-rows.ts'

/** Whether the history of alerts has each alert once, from when it fired to when it ended, as the events say. */
export async function alertHistoryRow(store: RowReader, log: Pick<Store, 'events' | 'latestEvents'>): Promise<Row> {
  const turns = turnsOf(await readLog(log))
  const { problems, episodes } = await episodeProblems(store, turns)
  const noted = episodes.flatMap(({ notified }) => notified)
  const unknown = noted.filter(({ outcome }) => outcome === 'unknown').length
  return row(
    'the history of alerts has each alert once',
    `${episodes.length} alerts of ${turns.length} events; ${noted.length} notifications noted, ${unknown} unknown`,
    problems.length === 0 && episodes.length > 0 && noted.length > 0,
    problems,
  )
}
