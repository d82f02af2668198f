import type { Store } from '../../../src/store/store.ts'
import { eventProblems, readLog, type KnownEvent } from '../../kit/events/event-problems.ts'
import type { EventReader } from './event-reader.ts'
import { row, type Row } from './promise-rows.ts'

/** Whether a reader got the whole log in its order, and the log tells of each step that was counted, once. */
export async function eventsRow(
  reader: EventReader,
  store: Pick<Store, 'events' | 'latestEvents'>,
  counters: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Promise<Row> {
  const read = await reader.finish(store)
  const log = await readLog(store)
  const ids = read.map(({ id }) => id)
  const problems = [...reader.problems]
  const difference = log.findIndex(({ id }, i) => id !== ids[i])
  if (difference !== -1) problems.push(`event ${difference} is ${log[difference]!.id}, and ${ids[difference]} was read`)
  if (ids.length > log.length) problems.push(`${ids.length} were read of ${log.length}`)
  const bySource = Map.groupBy(log, ({ source }) => source)
  for (const [target, series] of counters) {
    const events: KnownEvent[] = bySource.get(`urn:callwatch:${encodeURIComponent(target)}`) ?? []
    problems.push(...eventProblems(events, series).map((problem) => `${target}: ${problem}`))
  }
  return row(
    'a reader gets every event once, in order',
    `${ids.length} of ${log.length} read; ${problems.length} problems`,
    problems.length === 0 && log.length > 0,
    problems,
  )
}
