import { setTimeout as wait } from 'node:timers/promises'
import { eventProblems, type KnownEvent } from '../events/event-problems.ts'
import type { EventReader } from './event-reader.ts'
import { row, type Row } from './promise-rows.ts'

const NUMBERED_WITHIN_MS = 2000

/** Whether a reader got the whole log in its order, and the log tells of each step that was counted, once. */
export async function eventsRow(
  reader: EventReader,
  counters: () => Promise<ReadonlyMap<string, ReadonlyMap<string, number>>>,
): Promise<Row> {
  // With several daemons, the leader puts the last events in order within about a second.
  await wait(NUMBERED_WITHIN_MS)
  const { read, log } = await reader.finish()
  const ids = read.map(({ id }) => id)
  const problems = [...reader.problems]
  const difference = log.findIndex(({ id }, i) => id !== ids[i])
  if (difference !== -1) problems.push(`event ${difference} is ${log[difference]!.id}, and ${ids[difference]} was read`)
  if (ids.length > log.length) problems.push(`${ids.length} were read of ${log.length}`)
  const bySource = Map.groupBy(log, ({ source }) => source)
  for (const [target, series] of await counters()) {
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
