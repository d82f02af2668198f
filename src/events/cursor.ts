import type { LoggedEvents } from '../store/store.ts'
import type { LogPlace } from '../store/webhook-store.ts'

/**
 * A place in the log of events, after which a reader continues: an event by its commit's position and its place there, with
 * the commit's id, by which a log that was restored from a backup is recognized.
 */
export type Cursor = { position: number; id: string; place: number }

/** Before the first event of a log that has none yet. */
export const START: Cursor = { position: 0, id: '', place: -1 }

/** As clients have it: a text to be given back as it is. */
export function writeCursor({ position, id, place }: Cursor): string {
  return position === 0 ? '0' : `${position}.${place}.${id}`
}

/** Reads what {@link writeCursor} wrote; undefined for any other text. */
export function readCursor(text: string): Cursor | undefined {
  if (text === '0') return START
  const [, position, place, id] = /^(\d{1,15})\.(-1|\d{1,9})\.([\w-]{1,64})$/.exec(text) ?? []
  return id === undefined ? undefined : { position: Number(position), place: Number(place), id }
}

/** Whether a place of the log comes before another one. */
export function isBefore(one: LogPlace, other: LogPlace): boolean {
  return one.position < other.position || (one.position === other.position && one.place < other.place)
}

/** Before the first event of a commit. */
export function before({ position, id }: LoggedEvents): Cursor {
  return { position, id, place: -1 }
}

/** After its last one. */
export function after({ position, id, texts }: LoggedEvents): Cursor {
  return { position, id, place: texts.length - 1 }
}
