import type { UndeliveredEvent } from '../../store/webhook-store.ts'

/** An event that a webhook has not received. */
export type WaitingEvent = {
  /** As the store gets it. A change is another row. */
  row: UndeliveredEvent
  /** The CloudEvent (JSON). It is read again if the event failed, or waits behind one that did. */
  text?: string | undefined
  /** When it may be sent, once it is the first of its series (monotonic seconds); `Infinity` while it is being sent. */
  due: number
}

/** What a webhook has not received of a call, or of the alerts of a target. Only the first event is sent, the others wait for it. */
export type Series = WaitingEvent[]

export type WaitingEvents = ReturnType<typeof waitingEvents>

/** The events in memory that a webhook has not received. */
export function waitingEvents() {
  const bySeries = new Map<string, Series>()
  const all = () => [...bySeries.values()].flat()

  function remove(event: WaitingEvent): void {
    const series = bySeries.get(event.row.series)!
    series.splice(series.indexOf(event), 1)
    if (series.length === 0) bySeries.delete(event.row.series)
  }

  return {
    all,
    remove,
    /** Adds an event after the others of its series. */
    add: (row: UndeliveredEvent, text?: string): void => {
      const series = bySeries.get(row.series) ?? []
      bySeries.set(row.series, series)
      const isFailing = series[0] !== undefined && series[0].row.attempts > 0
      series.push({ row, text: isFailing ? undefined : text, due: -Infinity })
    },
    /** Keeps the first event of its series, as it is after a failure, until it is retried. Its series is the last one then. */
    postpone: (event: WaitingEvent, row: UndeliveredEvent, due: number): void => {
      const series = bySeries.get(row.series)!
      for (const each of series) each.text = undefined
      event.row = row
      event.due = due
      bySeries.delete(row.series)
      bySeries.set(row.series, series)
    },
    /** The series whose first event may be sent: looked for one by one, and also among those that are added meanwhile. */
    due: (now: number): IteratorObject<Series, undefined> => bySeries.values().filter(([first]) => first!.due <= now),
    /** Removes events that were found before a time (UNIX seconds) and are not being sent; returns their number. */
    expire: (before: number): number => {
      const expired = all().filter(({ row, due }) => row.at < before && due !== Infinity)
      expired.forEach(remove)
      return expired.length
    },
  }
}
