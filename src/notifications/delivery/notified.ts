import { nameOf, type Alert } from '../../alerts/alert.ts'
import type { EpisodeNote, Notice } from '../../alerts/episode.ts'
import type { Clock } from '../../clock/clock.ts'
import { parse } from '../../store/sql.ts'
import { onlyStoreErrors } from '../../store/store-error.ts'
import type { NotifiedChange, NotifiedRow, ReceiverState, Store } from '../../store/store.ts'
import { episodeOf } from './now.ts'

/** An alert of which a receiver was notified. Times are UNIX seconds by the host's clock. */
export type Entry = Pick<Alert, 'target' | 'key' | 'alert' | 'labels' | 'severity' | 'firingSince'> & {
  /** When the latest message of its group was accepted. */
  at: number
  /** When a message told of its end. */
  ended?: number | undefined
  /** The message that began the incident for this receiver: its id or, where it is edited, what identifies it there. */
  thread: string
}

/** The data of a row: what an accepted message, or an attempt, told. */
type Told = { begun: readonly Entry[]; ended: readonly Entry[] }

/** An entry in memory. Ages are by the monotonic clock, from when this process saw it; what it found at its start has its stored age. */
export type Known = Entry & { name: string; episode: string; row: string; heardAt: number; endedAt: number | undefined }

/** A message that was begun, without an answer or under way. */
export type Attempt = { id: string; at: number; begun: readonly Known[]; ended: readonly Known[] }

/** An alert that a message tells of. */
export type Subject = Pick<Alert, 'target' | 'key' | 'alert' | 'labels' | 'severity' | 'firingSince'>

/** What a message tells of a group. */
export type Telling = {
  id: string
  /** The incident that it goes on with; undefined: it begins one. */
  thread: string | undefined
  /** All that the receiver knows of the group. */
  heard: readonly Known[]
  /** What it tells of, and all that it shows to fire. */
  begun: readonly Subject[]
  firing: readonly Subject[]
  ended: readonly Subject[]
  was: readonly Subject[]
  notices: readonly EpisodeNote[]
}

type Options = { clock: Clock; store: Pick<Store, 'notified' | 'writeNotified'> }

/** What the receivers were told, as one daemon knows it while it is the leader. */
export type Receivers = Awaited<ReturnType<typeof readNotified>>

/** Reads what these receivers were told. One that is new is told nothing of before. */
export async function readNotified(names: readonly string[], options: Options) {
  const { rows, receivers } = await options.store.notified()
  const byReceiver = Map.groupBy(rows, ({ receiver }) => receiver)
  const added = options.clock.wall()
  return new Map(
    names.map((name) => {
      const state = receivers.get(name) ?? { added, cursor: added, reports: [] }
      return [
        name,
        notifiedOf(name, state, { ...options, rows: byReceiver.get(name) ?? [], isNew: !receivers.has(name) }),
      ]
    }),
  )
}

export type Notified = ReturnType<typeof notifiedOf>

/** What a receiver was told, in memory and in the store. What could not be written yet is written before anything else is sent. */
function notifiedOf(
  receiver: string,
  first: ReceiverState,
  { clock, store, rows, isNew }: Options & { rows: readonly NotifiedRow[]; isNew: boolean },
) {
  const stamp = (entry: Entry, row: string): Known => {
    const ago = (at: number) => clock.monotonic() - Math.max(0, clock.wall() - at)
    const endedAt = entry.ended === undefined ? undefined : ago(entry.ended)
    return { ...entry, name: nameOf(entry), episode: episodeOf(entry), row, heardAt: ago(entry.at), endedAt }
  }
  const read = rows.map(({ id, accepted, data }) => ({ id, accepted, told: parse<Told>(data) }))
  let entries = read.flatMap(({ id, accepted, told }) => (accepted ? told.begun.map((one) => stamp(one, id)) : []))
  let attempts = read.flatMap(({ id, accepted, told: { begun, ended } }): Attempt | [] => {
    if (accepted) return []
    const at = [...begun, ...ended].reduce((least, one) => Math.min(least, one.at), clock.wall())
    return { id, at, begun: begun.map((one) => stamp(one, id)), ended: ended.map((one) => stamp(one, id)) }
  })
  let state = first
  let version = 0
  const unwritten: NotifiedChange[] = isNew ? [{ receiver: { name: receiver, state } }] : []

  const rowOf = (id: string, accepted: boolean, told: Told): NotifiedRow => {
    return { id, receiver, accepted, data: JSON.stringify(told) }
  }
  /** What is stored of an entry. */
  const plain = ({ name: _n, episode: _e, row: _r, heardAt: _h, endedAt: _d, ...entry }: Known): Entry => entry

  async function flush(): Promise<void> {
    for (let [change] = unwritten; change !== undefined; [change] = unwritten) {
      await store.writeNotified(change)
      unwritten.shift()
    }
  }

  /** Writes a change of what is known already: soon, if not at once. */
  async function write(change: NotifiedChange): Promise<void> {
    version += 1
    unwritten.push(change)
    await flush().catch(onlyStoreErrors(undefined))
  }

  /** Replaces entries, all of which get the row of this id; the other entries of their rows stay. */
  function replaced(before: readonly Known[], after: readonly Known[], id: string): NotifiedChange {
    const gone = new Set(before)
    const touched = new Set(before.map(({ row }) => row))
    entries = [...entries.filter((one) => !gone.has(one)), ...after]
    const left = Map.groupBy(
      entries.filter(({ row }) => touched.has(row) && row !== id),
      ({ row }) => row,
    )
    const rest = [...left].map(([row, own]) => rowOf(row, true, { begun: own.map(plain), ended: [] }))
    const own = after.length === 0 ? [] : [rowOf(id, true, { begun: after.map(plain), ended: [] })]
    return { remove: [...touched].filter((row) => !left.has(row) && row !== id), rows: [...rest, ...own] }
  }

  /** Forgets of the attempts what an accepted message has told, whatever it was. */
  function settled(names: ReadonlySet<string>, id: string): NotifiedChange {
    const isOpen = ({ name }: Known) => !names.has(name)
    const before = attempts
    attempts = attempts
      .filter((one) => one.id !== id)
      .map((one) => ({ ...one, begun: one.begun.filter(isOpen), ended: one.ended.filter(isOpen) }))
      .filter(({ begun, ended }) => begun.length + ended.length > 0)
    const left = new Map(attempts.map((one) => [one.id, one]))
    const sizeOf = ({ begun, ended }: Attempt) => begun.length + ended.length
    return {
      remove: before.flatMap((one) => (left.has(one.id) ? [] : one.id)),
      rows: before.flatMap((one) => {
        const now = left.get(one.id)
        if (now === undefined || sizeOf(now) === sizeOf(one)) return []
        return rowOf(one.id, false, { begun: now.begun.map(plain), ended: now.ended.map(plain) })
      }),
    }
  }

  return {
    receiver,
    flush,
    /** Changes with what is known. */
    version: () => version,
    entries: () => entries,
    attempts: () => attempts,
    state: () => state,
    /** Notes that a message may be told from now on. @throws {StoreError} and then it must not be sent */
    begin: async ({ id, thread = id, begun, ended }: Telling): Promise<void> => {
      const at = clock.wall()
      const [fires, ends] = [begun, ended].map((list) =>
        list.map((one) => stamp({ ...subjectOf(one), at, thread }, id)),
      )
      await store.writeNotified({ rows: [rowOf(id, false, { begun: fires!.map(plain), ended: ends!.map(plain) })] })
      attempts = [...attempts, { id, at, begun: fires!, ended: ends! }]
      version += 1
    },
    /** The message certainly did not arrive. */
    failed: async (id: string): Promise<void> => {
      attempts = attempts.filter((one) => one.id !== id)
      await write({ remove: [id] })
    },
    /** The message was accepted. @param posted what identifies it at a receiver that edits it */
    accepted: async (telling: Telling, posted: string | undefined): Promise<void> => {
      const { id, heard, begun, firing, ended, was } = telling
      const at = clock.wall()
      const thread = posted ?? telling.thread ?? id
      const over = new Map(ended.map((one) => [nameOf(one), one]))
      const now = new Map(firing.map((one) => [nameOf(one), one]))
      const after = heard.map((one) => {
        if (one.ended !== undefined) return { ...one, row: id }
        const next = now.get(one.name)
        // It fires again meanwhile: as another episode.
        const isOver = over.has(one.name) || (next !== undefined && episodeOf(next) !== one.episode)
        const severity = next?.severity ?? one.severity
        return stamp({ ...plain(one), severity, at, thread, ...(isOver && { ended: at }) }, id)
      })
      const open = new Set(after.flatMap((one) => (one.ended === undefined ? one.episode : [])))
      const known = new Set(after.map(({ episode }) => episode))
      const added = [
        ...firing.filter((one) => !open.has(episodeOf(one))).map((one) => ({ ...subjectOf(one), at, thread })),
        ...[...ended, ...was]
          .filter((one) => !known.has(episodeOf(one)))
          .map((one) => ({ ...subjectOf(one), at, thread, ended: at })),
      ]
      const names = new Set([...begun, ...firing, ...ended].map(nameOf))
      // An earlier episode of the same alert may have been told by one that got no answer: it needs no word of its own.
      const told = new Set([...known, ...added.map(episodeOf)])
      const earlier = attempts.flatMap((one) =>
        one.begun.filter(({ name, episode }) => names.has(name) && !told.has(episode)),
      )
      const attempted = settled(names, id)
      const change = replaced(
        heard,
        [
          ...after,
          ...[...added, ...earlier.map((one) => ({ ...plain(one), at, thread, ended: at }))].map((one) =>
            stamp(one, id),
          ),
        ],
        id,
      )
      const isKept = new Set(change.rows?.map((row) => row.id))
      await write({
        ...change,
        rows: [...(change.rows ?? []), ...(attempted.rows ?? [])],
        remove: [...(attempted.remove ?? []), ...(change.remove ?? [])].filter((row) => !isKept.has(row)),
        notes: telling.notices,
      })
    },
    /**
     * An edit told what has ended; what began it does not tell, since nobody is notified of an edit. If all has ended that was told, and
     * something else fires, the next message tells both.
     *
     * @param thread the message, which may be new
     */
    edited: async ({ id, heard, ended, notices }: Telling, thread: string): Promise<void> => {
      const at = clock.wall()
      const open = heard.filter((one) => one.ended === undefined)
      const told = new Set(ended.map(episodeOf))
      const over = open.every(({ episode }) => told.has(episode)) ? new Set<string>() : told
      const changed = open.filter((one) => over.has(one.episode) || one.thread !== thread)
      const after = changed.map((one) =>
        stamp({ ...plain(one), thread, ...(over.has(one.episode) && { ended: at }) }, id),
      )
      if (changed.length > 0) await write({ ...replaced(changed, after, id), ...(over.size > 0 && { notes: notices }) })
    },
    /** It was told that these are sent to the receiver no longer. */
    unrouted: async (before: readonly Known[], id: string): Promise<void> =>
      write(
        replaced(
          before,
          before.map((one) => stamp({ ...plain(one), ended: clock.wall() }, id)),
          id,
        ),
      ),
    /** Forgets ends that were told long ago. */
    forget: async (before: readonly Known[]): Promise<void> =>
      void (before.length > 0 && (await write(replaced(before, [], '')))),
    set: async (next: ReceiverState): Promise<void> => {
      state = next
      await write({ receiver: { name: receiver, state } })
    },
  }
}

function subjectOf({ target, key, alert, labels, severity, firingSince }: Subject): Subject {
  return { target, key, alert, labels, severity, firingSince }
}

/** The notes in the history of alerts that a message told of them. */
export function notesOf(alerts: readonly Subject[], notice: Notice): EpisodeNote[] {
  return alerts.map(({ target, key, firingSince: since }) => ({
    target,
    key,
    since,
    lines: `${JSON.stringify(notice)}\n`,
  }))
}
