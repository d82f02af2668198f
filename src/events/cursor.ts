import type { LoggedEvents } from '../store/store.ts'
import type { LogPlace } from '../store/webhook-store.ts'

/**
 * A place in the log of events, after which a reader continues: the position of a commit, and the place of an event within
 * it. The commit's id shows whether the log was restored from a backup.
 */
export type Cursor = { position: number; id: string; place: number }

/** The start of a log that has no event yet. */
export const START: Cursor = { position: 0, id: '', place: -1 }

/** The cursor as clients get it: an opaque text, to be returned unchanged. */
export function writeCursor({ position, id, place }: Cursor): string {
  return position === 0 ? '0' : `${position}.${place}.${id}`
}

/** Parses a text of {@link writeCursor}; undefined for any other text. */
export function readCursor(text: string): Cursor | undefined {
  if (text === '0') return START
  const [, position, place, id] = /^(\d{1,15})\.(-1|\d{1,9})\.([\w-]{1,64})$/.exec(text) ?? []
  return id === undefined ? undefined : { position: Number(position), place: Number(place), id }
}

/** Whether one place in the log comes before another. */
export function isBefore(one: LogPlace, other: LogPlace): boolean {
  return one.position < other.position || (one.position === other.position && one.place < other.place)
}

/** The cursor before the first event of a commit. */
export function before({ position, id }: LoggedEvents): Cursor {
  return { position, id, place: -1 }
}

/** The cursor after the last event of a commit. */
export function after({ position, id, texts }: LoggedEvents): Cursor {
  return { position, id, place: texts.length - 1 }
}
