import { nameOf, type Alert } from '../../alerts/alert.ts'
import type { EpisodeNote, Notice, Refusal } from '../../alerts/episode.ts'
import type { Clock } from '../../clock/clock.ts'
import { oneByOne } from '../../clock/one-by-one.ts'
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
  /** What the history of alerts has of it, when it was told (UNIX seconds). */
  notices: (at: number) => readonly EpisodeNote[]
}

type Options = { clock: Clock; store: Pick<Store, 'notified' | 'writeNotified'> }

/** What the receivers were told, as one daemon knows it while it is the leader, by their names. */
export type Receivers = ReadonlyMap<string, Notified>

/** Reads what these receivers were told. One that is new is told nothing of before. @throws {StoreError} */
export async function readNotified(names: readonly string[], options: Options): Promise<Receivers> {
  const { rows, receivers } = await options.store.notified()
  const byReceiver = Map.groupBy(rows, ({ receiver }) => receiver)
  return new Map(
    names.map((name) => [name, new Notified(name, byReceiver.get(name) ?? [], receivers.get(name), options)]),
  )
}

/** What a receiver was told, in memory and in the store. What could not be written yet is written before anything else is sent. */
export class Notified {
  readonly #receiver: string
  readonly #options: Options
  /** What could not be written yet. */
  readonly #unwritten: NotifiedChange[] = []
  readonly #inTurn = oneByOne()
  #entries: readonly Known[]
  #attempts: readonly Attempt[]
  #state: ReceiverState
  #version = 0

  /** @param state undefined: it is new */
  constructor(receiver: string, rows: readonly NotifiedRow[], state: ReceiverState | undefined, options: Options) {
    this.#receiver = receiver
    this.#options = options
    const now = options.clock.wall()
    this.#state = state ?? { added: now, cursor: now, reports: {}, setUps: {} }
    if (state === undefined) this.#unwritten.push({ receiver: { name: receiver, state: this.#state } })
    const read = rows.map(({ id, accepted, data }) => ({ id, accepted, told: parse<Told>(data) }))
    const known = (id: string, list: readonly Entry[]) => list.map((one) => this.#stamp(one, id))
    this.#entries = read.flatMap(({ id, accepted, told }) => (accepted ? known(id, told.begun) : []))
    this.#attempts = read.flatMap(({ id, accepted, told: { begun, ended } }): Attempt | [] => {
      const at = [...begun, ...ended].reduce((least, one) => Math.min(least, one.at), now)
      return accepted ? [] : { id, at, begun: known(id, begun), ended: known(id, ended) }
    })
  }

  /** Changes with what the receiver knows. */
  version(): number {
    return this.#version
  }

  entries(): readonly Known[] {
    return this.#entries
  }

  attempts(): readonly Attempt[] {
    return this.#attempts
  }

  state(): ReceiverState {
    return this.#state
  }

  /** @throws {StoreError} */
  flush(): Promise<void> {
    return this.#inTurn(async () => {
      for (let [change] = this.#unwritten; change !== undefined; [change] = this.#unwritten) {
        await this.#options.store.writeNotified(change)
        this.#unwritten.shift()
      }
    })
  }

  /** Notes that a message may be told from now on. @throws {StoreError} and then it must not be sent */
  async begin({ id, thread = id, begun, ended }: Telling): Promise<void> {
    const at = this.#options.clock.wall()
    const known = (list: readonly Subject[]) => list.map((one) => this.#stamp({ ...subjectOf(one), at, thread }, id))
    const attempt = { id, at, begun: known(begun), ended: known(ended) }
    await this.#options.store.writeNotified({ rows: [this.#attemptRow(attempt)] })
    this.#attempts = [...this.#attempts, attempt]
    this.#version += 1
  }

  /** The message was not accepted. @param isCertain it did not arrive @param problem why, if no message of this group failed before it */
  async failed({ id, begun, ended }: Telling, isCertain: boolean, problem: string | undefined): Promise<void> {
    if (isCertain) {
      this.#version += 1
      this.#attempts = this.#attempts.filter((one) => one.id !== id)
    }
    const refusal = { refusedBy: this.#receiver, problem: problem ?? '', at: this.#options.clock.wall() }
    const notes = problem === undefined ? [] : notesOf([...begun, ...ended], refusal)
    if (isCertain || notes.length > 0) await this.#write({ remove: isCertain ? [id] : [], notes })
  }

  /** The message was accepted. @param posted what identifies it at a receiver that edits it */
  async accepted(telling: Telling, posted: string | undefined): Promise<void> {
    this.#version += 1
    const { id, heard, begun, firing, ended, notices } = telling
    const thread = posted ?? telling.thread ?? id
    const at = this.#options.clock.wall()
    const after = entriesAfter(telling, this.#attempts, { at, thread })
    const settled = this.#settle(new Set([...begun, ...firing, ...ended].map(nameOf)), id)
    const replaced = this.#replace(heard, after.map((one) => this.#stamp(one, id)), id) // oxfmt-ignore
    const kept = new Set(replaced.rows?.map((row) => row.id))
    await this.#write({
      rows: [...(replaced.rows ?? []), ...(settled.rows ?? [])],
      remove: [...(settled.remove ?? []), ...(replaced.remove ?? [])].filter((row) => !kept.has(row)),
      notes: notices(at),
    })
  }

  /**
   * An edit told what has ended; what began it does not tell, since nobody is notified of an edit. If all has ended that was told, and
   * something else fires, the next message tells both.
   *
   * @param thread the message, which may be new
   */
  async edited({ id, heard, ended, notices }: Telling, thread: string): Promise<void> {
    this.#version += 1
    const at = this.#options.clock.wall()
    const open = heard.filter((one) => one.ended === undefined)
    const told = new Set(ended.map(episodeOf))
    const over = open.every(({ episode }) => told.has(episode)) ? new Set<string>() : told
    const replaced = new Set(open.map((one) => one.thread))
    const changed = heard.filter((one) => over.has(one.episode) || (one.thread !== thread && replaced.has(one.thread)))
    const entryOf = (one: Known) => ({ ...plain(one), thread, ...(over.has(one.episode) && { ended: at }) })
    const after = changed.map((one) => this.#stamp(entryOf(one), id))
    const notes = over.size > 0 ? notices(at) : []
    if (changed.length > 0) await this.#write({ ...this.#replace(changed, after, id), notes })
  }

  /** It was told that these are sent to the receiver no longer. */
  async unrouted(before: readonly Known[], id: string): Promise<void> {
    this.#version += 1
    const ended = this.#options.clock.wall()
    await this.#write(this.#replace(before, before.map((one) => this.#stamp({ ...plain(one), ended }, id)), id)) // oxfmt-ignore
  }

  /** Forgets ends that were told long ago. */
  async forget(before: readonly Known[]): Promise<void> {
    if (before.length > 0) await this.#write(this.#replace(before, [], ''))
  }

  async set(state: ReceiverState): Promise<void> {
    this.#state = state
    await this.#write({ receiver: { name: this.#receiver, state } })
  }

  /** Writes a change of what is known already: soon, if not at once. */
  async #write(change: NotifiedChange): Promise<void> {
    this.#unwritten.push(change)
    await this.flush().catch(onlyStoreErrors(undefined))
  }

  /** Replaces entries, all of which get the row of this id; the other entries of their rows stay. */
  #replace(before: readonly Known[], after: readonly Known[], id: string): NotifiedChange {
    const gone = new Set(before)
    const touched = new Set(before.map(({ row }) => row))
    this.#entries = [...this.#entries.filter((one) => !gone.has(one)), ...after]
    const others = this.#entries.filter(({ row }) => touched.has(row) && row !== id)
    const left = Map.groupBy(others, ({ row }) => row)
    const rest = [...left].map(([row, own]) => this.#rowOf(row, true, { begun: own.map(plain), ended: [] }))
    const own = after.length === 0 ? [] : [this.#rowOf(id, true, { begun: after.map(plain), ended: [] })]
    return { remove: [...touched].filter((row) => !left.has(row) && row !== id), rows: [...rest, ...own] }
  }

  /** Forgets of the attempts what an accepted message has told, whatever it was. */
  #settle(names: ReadonlySet<string>, id: string): NotifiedChange {
    const isOpen = ({ name }: Known) => !names.has(name)
    const sizeOf = ({ begun, ended }: Attempt) => begun.length + ended.length
    const before = this.#attempts
    this.#attempts = before
      .filter((one) => one.id !== id)
      .map((one) => ({ ...one, begun: one.begun.filter(isOpen), ended: one.ended.filter(isOpen) }))
      .filter((one) => sizeOf(one) > 0)
    const left = new Map(this.#attempts.map((one) => [one.id, one]))
    const changed = before.flatMap((one) => {
      const now = left.get(one.id)
      return now === undefined || sizeOf(now) === sizeOf(one) ? [] : this.#attemptRow(now)
    })
    return { remove: before.flatMap((one) => (left.has(one.id) ? [] : one.id)), rows: changed }
  }

  #stamp(entry: Entry, row: string): Known {
    const { monotonic, wall } = this.#options.clock
    const ago = (at: number) => monotonic() - Math.max(0, wall() - at)
    const endedAt = entry.ended === undefined ? undefined : ago(entry.ended)
    return { ...entry, name: nameOf(entry), episode: episodeOf(entry), row, heardAt: ago(entry.at), endedAt }
  }

  #attemptRow({ id, begun, ended }: Attempt): NotifiedRow {
    return this.#rowOf(id, false, { begun: begun.map(plain), ended: ended.map(plain) })
  }

  #rowOf(id: string, accepted: boolean, told: Told): NotifiedRow {
    return { id, receiver: this.#receiver, accepted, data: JSON.stringify(told) }
  }
}

/** What a receiver knows of a group after a message. */
function entriesAfter(
  { heard, firing, ended, was }: Telling,
  attempts: readonly Attempt[],
  said: Pick<Entry, 'at' | 'thread'>,
): Entry[] {
  const { at } = said
  const over = new Set(ended.map(nameOf))
  const now = new Map(firing.map((one) => [nameOf(one), one]))
  // What ended before stays part of the incident, whichever message shows that now.
  const replaced = new Set(heard.flatMap((one) => (one.ended === undefined ? one.thread : [])))
  const after = heard.map((one): Entry => {
    if (one.ended !== undefined) return { ...plain(one), ...(replaced.has(one.thread) && { thread: said.thread }) }
    const next = now.get(one.name)
    // It fires again meanwhile: as another episode.
    const isOver = over.has(one.name) || (next !== undefined && episodeOf(next) !== one.episode)
    return { ...plain(one), ...said, severity: next?.severity ?? one.severity, ...(isOver && { ended: at }) }
  })
  const open = new Set(after.flatMap((one) => (one.ended === undefined ? episodeOf(one) : [])))
  const known = new Set(after.map(episodeOf))
  const begun = firing.filter((one) => !open.has(episodeOf(one)))
  const told = [...ended, ...was].filter((one) => !known.has(episodeOf(one)))
  for (const one of [...begun, ...told]) known.add(episodeOf(one))
  // An earlier episode of the same alert may have been told by an attempt that got no answer: it needs no word of its own.
  const earlier = attempts.flatMap((one) =>
    one.begun.filter(({ name, episode }) => (over.has(name) || now.has(name)) && !known.has(episode)),
  )
  return [
    ...after,
    ...begun.map((one) => ({ ...subjectOf(one), ...said })),
    ...[...told, ...earlier].map((one) => ({ ...subjectOf(one), ...said, ended: at })),
  ]
}

/** What is stored of an entry. */
const plain = ({ name: _n, episode: _e, row: _r, heardAt: _h, endedAt: _d, ...entry }: Known): Entry => entry

function subjectOf({ target, key, alert, labels, severity, firingSince }: Subject): Subject {
  return { target, key, alert, labels, severity, firingSince }
}

/** The notes in the history of alerts that a message told of them, or was refused. */
export function notesOf(alerts: readonly Subject[], note: Notice | Refusal): EpisodeNote[] {
  return alerts.map(({ target, key, firingSince: since }) => ({
    target,
    key,
    since,
    lines: `${JSON.stringify(note)}\n`,
  }))
}
