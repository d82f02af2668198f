import type { Notification } from './notification.ts'
import { CHANGES, type Window } from './signal.ts'
import type { ValueAt } from './values-over-time.ts'

/** An alert from when it fired until it resolved or expired, as the history keeps it. Times are UNIX seconds. */
export type Episode = Omit<
  Notification,
  'target' | 'key' | 'alert' | 'severity' | 'firingSince' | 'kind' | 'at' | 'episode'
> & {
  values: readonly ValueAt[]
  /** In which the measured calls finished (UNIX seconds by the service's clock), from its first window to its last. */
  window?: Window
  /** Undefined while it fires. */
  outcome?: 'resolved' | 'expired' | undefined
}

/** A complete row of an episode. Its key is target, key and `since`. */
export type EpisodeRow = ReturnType<typeof episodeRow>

/** The row of an alert's episode after a change. The threshold is the one at which it fired. */
export function episodeRow(change: Notification) {
  const { target, key, alert: rule, severity, firingSince: since, kind, at, episode, window, ...rest } = change
  const outcome = kind === 'resolved' || kind === 'expired' ? kind : undefined
  const data: Episode = {
    ...rest,
    threshold: episode?.threshold ?? change.threshold,
    values: episode?.values ?? [],
    ...(window !== undefined && { window: { ...window, from: episode?.measuredFrom ?? window.from } }),
    outcome,
  }
  // Null while it fires.
  const until = outcome === undefined ? null : at
  return { target, key, since, until, rule, severity, data: JSON.stringify(data) }
}

/** The end of an alert, as it was written with {@link episodeRow}. */
export function endOf({ target, key, since, until, rule, severity, data }: EpisodeRow): Notification {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was written from a notification
  const { outcome: kind = 'expired', values: _values, ...rest } = JSON.parse(data) as Episode
  const threshold = kind === 'resolved' ? rest.clear : rest.threshold
  return { ...rest, threshold, target, key, alert: rule, severity, firingSince: since, kind, at: until ?? since }
}

export const NOTICES = [...CHANGES, 'reminder'] as const

/** A message that told of an episode: of a change of it, or that it still fires. */
export type Notice = {
  receiver: string
  kind: (typeof NOTICES)[number]
  /** UNIX seconds. */
  at: number
}

/** The first attempt to notify a receiver of an episode that failed, until one succeeds. */
export type Refusal = {
  refusedBy: string
  problem: string
  /** UNIX seconds. */
  at: number
}

export const SUPPRESSED_BY = ['silence', 'mute', 'poll_age', 'inhibition'] as const

/** Why callwatch withheld a message about an episode. */
export type Suppression = {
  by: (typeof SUPPRESSED_BY)[number]
  /** Since when, at the latest (UNIX seconds). */
  at: number
  /** When it was due to expire. For a silence and a mute. */
  until?: number
  /** For a silence. */
  silence?: number
  /** For an inhibition: since when the inhibiting alert fires, its key, and its target if that is another one. */
  since?: number
  alert?: string
  target?: string
  reason?: string
}

/** A note about delivery that is added to an episode. */
export type EpisodeNote = Pick<EpisodeRow, 'target' | 'key' | 'since'> & {
  /** JSON of each {@link Notice}, {@link Refusal} and {@link Suppression}, one per line. */
  lines: string
}

/** Mails to several recipients, sent within this time (seconds), are one notice. */
const TOGETHER_SECONDS = 30

/** Parses the notes of an episode. A suppression that several senders noted, and a message to several recipients, are returned once. */
export function readNotes(lines: string): { notices: Notice[]; refusals: Refusal[]; suppressions: Suppression[] } {
  const notes = lines
    .split('\n')
    .slice(0, -1)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these are added to an episode
    .map((line) => JSON.parse(line) as Notice | Refusal | Suppression)
  const suppressions = notes.filter((note) => 'by' in note)
  const once = [...Map.groupBy(suppressions, suppressionName).values()].map(([first]) => first!)
  return {
    notices: together(notes.filter((note) => 'receiver' in note)),
    refusals: together(notes.filter((note) => 'refusedBy' in note)),
    suppressions: once,
  }
}

/** Those that differ by more than their time, or by more of that than messages to several recipients do. */
function together<Note extends { at: number }>(notes: readonly Note[]): Note[] {
  const nameOf = (note: Note) => JSON.stringify({ ...note, at: undefined })
  const isSame = (a: Note, b: Note) => nameOf(a) === nameOf(b) && Math.abs(a.at - b.at) < TOGETHER_SECONDS
  return notes.filter((one, i) => !notes.slice(0, i).some((other) => isSame(one, other)))
}

/** Identifies a suppression, whenever it was noticed. */
export function suppressionName(suppression: Suppression): string {
  return JSON.stringify({ ...suppression, at: undefined })
}

/** An alert that fired (UNIX seconds), with what became of its notifications. */
export type PastEpisode = ReturnType<typeof readNotes> & {
  target: string
  rule: string
  key: string
  since: number
  /** Null while it fires. */
  until: number | null
  episode: Episode & Pick<Notification, 'severity'>
  /** When its target was not seen meanwhile. */
  blind: readonly Window[]
}
