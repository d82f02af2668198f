import { hasEnded, type Notification } from './notification.ts'
import type { Window } from './signal.ts'
import type { ValueAt } from './values-over-time.ts'

/** An alert from when it began to fire until it resolved or expired, as the history keeps it. Times are UNIX seconds. */
export type Episode = Pick<
  Notification,
  'labels' | 'signal' | 'match' | 'breach' | 'threshold' | 'peak' | 'runbookUrl'
> & {
  values: readonly ValueAt[]
  /** From when to when the calls finished that its values were measured by (UNIX seconds by the service's clock). */
  window?: Window
  /** Undefined while it fires. */
  outcome?: 'resolved' | 'expired'
  /** Only of an expired one. */
  expiredBecause?: NonNullable<Notification['expiredBecause']>
}

/** The row of an episode, whole. Target, key and `since` name it. */
type EpisodeRow = ReturnType<typeof episodeRow>

/** The row of an alert's episode after a notified change: that it fires, still fires, has resolved or has expired. */
export function episodeRow(change: Notification) {
  const { target, key, alert, severity, labels, signal, match, breach, peak, firingSince, at } = change
  const { runbookUrl, episode, window } = change
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
    ...outcomeOf(change),
  }
  // Null while it fires.
  const until = hasEnded(change) ? at : null
  return { target, key, since: firingSince, until, rule: alert, severity, data: JSON.stringify(data) }
}

function outcomeOf({ kind, expiredBecause }: Notification): Pick<Episode, 'outcome' | 'expiredBecause'> {
  if (kind === 'resolved') return { outcome: kind }
  return expiredBecause === undefined ? {} : { outcome: 'expired', expiredBecause }
}

/** What became of a message that was to say of an episode that it began, continued or ended. */
export type Notice = {
  receiver: string
  kind: Notification['kind']
  /** UNIX seconds. */
  at: number
  /**
   * - `dropped`: the receiver refused it for good
   * - `discarded`: it was not sent, since the alert had ended by then
   * - `unknown`: a process died that may have sent it
   */
  outcome: 'sent' | 'dropped' | 'discarded' | 'unknown'
}

/** Why a message about an episode waited. */
export type Suppression = {
  by: 'silence' | 'mute' | 'poll_age' | 'inhibition'
  /** Since when, at the latest (UNIX seconds). */
  at: number
  /** Until when it was to last; of a silence and a mute. */
  until?: number
  /** Of a silence. */
  silence?: number
  /** Of an inhibition: since when the alert fires that inhibits, its key, and its target where that is another one. */
  since?: number
  alert?: string
  target?: string
  reason?: string
}

/** Something of the delivery that is added to an episode. */
export type EpisodeNote = Pick<EpisodeRow, 'target' | 'key' | 'since'> & {
  /** JSON of each {@link Notice} and {@link Suppression}, a line each. */
  lines: string
}

/** The notes of an episode. A suppression that was noted by several senders is one. */
export function readNotes(lines: string): { notices: Notice[]; suppressions: Suppression[] } {
  const notes = lines
    .split('\n')
    .slice(0, -1)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is added to an episode
    .map((line) => JSON.parse(line) as Notice | Suppression)
  const suppressions = new Map<string, Suppression>()
  for (const note of notes) {
    if ('receiver' in note) continue
    const name = suppressionName(note)
    if (!suppressions.has(name)) suppressions.set(name, note)
  }
  return { notices: notes.filter((note) => 'receiver' in note), suppressions: [...suppressions.values()] }
}

/** Names what suppresses, whenever it is noticed. */
export function suppressionName(suppression: Suppression): string {
  return JSON.stringify({ ...suppression, at: undefined })
}
