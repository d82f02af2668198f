import type { Notification } from './notification.ts'
import type { Window } from './signal.ts'
import type { ValueAt } from './values-over-time.ts'

/** An alert from when it fired until it resolved or expired, as the history keeps it. Times are UNIX seconds. */
export type Episode = Pick<
  Notification,
  'labels' | 'signal' | 'match' | 'breach' | 'threshold' | 'peak' | 'runbookUrl'
> & {
  values: readonly ValueAt[]
  /** In which the measured calls finished (UNIX seconds by the service's clock). */
  window?: Window
  /** Undefined while it fires. */
  outcome?: 'resolved' | 'expired' | undefined
  /** Only for `expired`. */
  expiredBecause?: Notification['expiredBecause']
}

/** A complete row of an episode. Its key is target, key and `since`. */
type EpisodeRow = ReturnType<typeof episodeRow>

/** The row of an alert's episode after a notified change. */
export function episodeRow(change: Notification) {
  const { target, key, alert, severity, labels, signal, match, breach, peak, firingSince, at } = change
  const { runbookUrl, episode, window, kind, expiredBecause } = change
  const outcome = kind === 'resolved' || kind === 'expired' ? kind : undefined
  const data: Episode = {
    labels,
    signal,
    match,
    breach,
    threshold: episode?.threshold ?? change.threshold,
    peak,
    values: episode?.values ?? [],
    ...(window !== undefined && { window: { ...window, from: episode?.measuredFrom ?? window.from } }),
    ...(runbookUrl !== undefined && { runbookUrl }),
    outcome,
    expiredBecause,
  }
  // Null while it fires.
  const until = outcome === undefined ? null : at
  return { target, key, since: firingSince, until, rule: alert, severity, data: JSON.stringify(data) }
}

/**
 * - `dropped`: the receiver refused it permanently
 * - `discarded`: callwatch did not send it, because the alert had ended by then
 * - `unknown`: a process that may have sent it died
 */
export const OUTCOMES_OF_NOTICES = ['sent', 'dropped', 'discarded', 'unknown'] as const

/** The outcome of a message that reports that an episode began, continued or ended. */
export type Notice = {
  receiver: string
  kind: Notification['kind']
  /** UNIX seconds. */
  at: number
  outcome: (typeof OUTCOMES_OF_NOTICES)[number]
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
  /** JSON of each {@link Notice} and {@link Suppression}, one per line. */
  lines: string
}

/** Parses the notes of an episode. A suppression that several senders noted is returned once. */
export function readNotes(lines: string): { notices: Notice[]; suppressions: Suppression[] } {
  const notes = lines
    .split('\n')
    .slice(0, -1)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only notices and suppressions are added to an episode
    .map((line) => JSON.parse(line) as Notice | Suppression)
  const suppressions = notes.filter((note) => 'by' in note)
  const once = [...Map.groupBy(suppressions, suppressionName).values()].map(([first]) => first!)
  return { notices: notes.filter((note) => 'receiver' in note), suppressions: once }
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
