import type { UndeliveredEvent } from '../../store/webhook-store.ts'

/** What a webhook has not received of a call, or of the alerts of a target. Only the first event is sent, the others wait for it. */
export type Series = {
  events: UndeliveredEvent[]
  /** When the first event may be sent (monotonic seconds); `Infinity` while it is being sent, or is next. */
  due: number
  isSending: boolean
}

export type WaitingEvents = ReturnType<typeof waitingEvents>

/** The events in memory that a webhook has not received, each as the row that the store gets of it. A change is another row. */
export function waitingEvents() {
  const bySeries = new Map<string, Series>()
  /** The CloudEvents of events that will be sent soon. Others are read again. */
  const texts = new Map<UndeliveredEvent, string>()
  /** The rows that the store has. */
  let listed = new Set<UndeliveredEvent>()
  /** The dead letters that the store does not have yet. */
  const dead: UndeliveredEvent[] = []
  const all = () => [...bySeries.values()].flatMap(({ events }) => events)

  /** Adds an event after the others of its series. */
  function add(event: UndeliveredEvent, text?: string): void {
    const series = bySeries.get(event.series) ?? { events: [], due: -Infinity, isSending: false }
    bySeries.set(event.series, series)
    series.events.push(event)
    if (text !== undefined && series.events[0]!.attempts === 0) texts.set(event, text)
  }

  function remove(event: UndeliveredEvent): void {
    const { events } = bySeries.get(event.series)!
    events.splice(events.indexOf(event), 1)
    texts.delete(event)
    if (events.length === 0) bySeries.delete(event.series)
  }

  return {
    texts,
    all,
    add,
    /** Adds events that the store lists. */
    addRows: (rows: readonly UndeliveredEvent[]): void => {
      for (const row of rows) add(row)
      listed = listed.union(new Set(rows))
    },
    remove,
    /** Keeps the first event of a series, as it is after a failure, until it is retried. */
    postpone: (series: Series, event: UndeliveredEvent, due: number): void => {
      for (const each of series.events) texts.delete(each)
      series.events[0] = event
      series.due = due
    },
    /** Makes an event a dead letter. */
    bury: (event: UndeliveredEvent, letter: UndeliveredEvent): void => {
      remove(event)
      dead.push(letter)
    },
    due: (now: number) => bySeries.values().filter(({ due }) => due <= now),
    /** Removes events that were found before a time and are not being sent; returns their number. */
    expire: (before: number): number => {
      const waiting = [...bySeries.values()].flatMap(({ events, isSending }) => events.slice(Number(isSending)))
      const expired = waiting.filter(({ at }) => at < before)
      expired.forEach(remove)
      // What is behind an event that failed and expired need not wait for its retry.
      for (const series of bySeries.values())
        if (Number.isFinite(series.due) && series.events[0]?.attempts === 0) series.due = -Infinity
      return expired.length
    },
    /** What the store does not have yet. Call `stored` once it has it. */
    changes: () => {
      const [rows, died] = [new Set(all()), dead.length]
      const stored = () => {
        listed = rows
        dead.splice(0, died)
      }
      return { put: [...rows.difference(listed), ...dead], remove: [...listed.difference(rows)], stored }
    },
  }
}
