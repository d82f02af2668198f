import { setTimeout as wait } from 'node:timers/promises'
import type { Store } from '../../../src/store/store.ts'
import { readLog, type KnownEvent } from '../../kit/events/event-problems.ts'

/** A client that reads the log of events all the while, and goes on from its cursor at whichever daemon it finds. */
export type EventReader = {
  /** Reads the rest of the log from the store; resolves with all that was read, in order. */
  finish: (log: EventLog) => Promise<KnownEvent[]>
  stop: () => void
  /** Answers that no reader should get. */
  problems: readonly string[]
}

type EventLog = Pick<Store, 'events' | 'latestEvents'>

const PAUSE_MS = 300

/** @param url of a daemon; undefined while none runs */
export function startEventReader(url: () => string | undefined): EventReader {
  const read: KnownEvent[] = []
  const problems: string[] = []
  let cursor = '0'
  const stopping = new AbortController()

  async function readPage(from: string, found: KnownEvent[]): Promise<string> {
    const daemon = url()
    if (daemon === undefined) throw new Error('no daemon runs')
    const response = await fetch(`${daemon}api/v1/events?limit=200&after=${from}`, {
      signal: AbortSignal.timeout(5000),
    })
    const text = await response.text()
    if (response.status === 410) problems.push(`410 after ${from}: ${text}`)
    if (!response.ok) throw new Error(text)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon says
    const { events, next } = JSON.parse(text) as { events: KnownEvent[]; next: string }
    found.push(...events)
    return next
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      cursor = await readPage(cursor, read).catch(() => cursor)
      await wait(PAUSE_MS)
    }
  }
  const running = run()

  return {
    finish: async (log) => {
      stopping.abort()
      await running
      return [...read, ...(await readLog(log, cursor))]
    },
    stop: () => stopping.abort(),
    problems,
  }
}
