import { suppressionName, type EpisodeNote, type Notice, type Suppression } from '../../alerts/episode.ts'
import { hasEnded, type Notification } from '../../alerts/notification.ts'
import type { OutboxEntry, Store } from '../../store/store.ts'

/** The notes about a message in the history of alerts: for each alert, one that it fires and one that it ended. */
export function deliveryNotes(entries: readonly OutboxEntry[], notice: Omit<Notice, 'kind'>): EpisodeNote[] {
  const changes = entries.flatMap(({ content, claimed }) =>
    content.kind === 'digest' ? [] : [{ change: content, claimed }],
  )
  const episodes = Map.groupBy(changes, ({ change }) => episodeOf(change))
  return [...episodes.values()].map((all) => {
    const begun = all.find(({ change }) => !hasEnded(change))
    const ended = all.find(({ change }) => hasEnded(change))
    // The message reports only the end. Whether the earlier message arrived is unknown.
    const isUnknown = begun?.claimed === true && ended !== undefined
    return noteOn((begun ?? ended)!.change, [
      ...(begun === undefined
        ? []
        : [{ ...notice, kind: begun.change.kind, ...(isUnknown && { outcome: 'unknown' as const }) }]),
      ...(ended === undefined ? [] : [{ ...notice, kind: ended.change.kind }]),
    ])
  })
}

/** Names one time that an alert fired. */
const episodeOf = ({ target, key, firingSince }: Notification) => JSON.stringify([target, key, firingSince])

/** What suppresses an alert, and the alert's latest change. */
export type Suppressed = { change: Notification; by: readonly Suppression[] }

/** The most notes that are kept in memory: then all are forgotten, and what still holds is noted once more. */
const MAX_NOTED = 200_000

/** Notes in the history why alerts wait, each reason once in the life of a sender. */
export function suppressionNotes(
  store: Pick<Store, 'noteEpisodes'>,
): (suppressed: readonly Suppressed[]) => Promise<void> {
  const noted = new Set<string>()
  const nameOf = (change: Notification, by: Suppression) => `${episodeOf(change)} ${suppressionName(by)}`
  return async (suppressed) => {
    const unnoted = suppressed
      .map(({ change, by }) => ({ change, by: by.filter((one) => !noted.has(nameOf(change, one))) }))
      .filter(({ by }) => by.length > 0)
    if (unnoted.length === 0) return
    await store.noteEpisodes(unnoted.map(({ change, by }) => noteOn(change, by)))
    for (const { change, by } of unnoted) for (const one of by) noted.add(nameOf(change, one))
    if (noted.size > MAX_NOTED) noted.clear()
  }
}

function noteOn({ target, key, firingSince }: Notification, notes: readonly (Notice | Suppression)[]): EpisodeNote {
  return { target, key, since: firingSince, lines: notes.map((note) => `${JSON.stringify(note)}\n`).join('') }
}
