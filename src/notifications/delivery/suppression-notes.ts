import type { Alert } from '../../alerts/alert.ts'
import { suppressionName, type Suppression } from '../../alerts/episode.ts'
import type { Store } from '../../store/store.ts'

/** The most notes that are kept in memory: then all are forgotten, and what still holds is noted once more. */
const MAX_NOTED = 200_000

/** What suppresses an alert. */
export type Suppressed = { alert: Pick<Alert, 'target' | 'key' | 'firingSince'>; by: readonly Suppression[] }

/** Notes in the history why alerts wait, each reason once in the life of a sender. */
export function suppressionNotes(store: Pick<Store, 'noteEpisodes'>) {
  const noted = new Set<string>()
  return async (suppressed: readonly Suppressed[]): Promise<void> => {
    const unnoted = suppressed.flatMap(({ alert: { target, key, firingSince: since }, by }) => {
      const own = by.map((one) => ({ one, name: JSON.stringify([target, key, since, suppressionName(one)]) }))
      const news = own.filter(({ name }) => !noted.has(name))
      const lines = news.map(({ one }) => `${JSON.stringify(one)}\n`).join('')
      return lines === '' ? [] : { note: { target, key, since, lines }, names: news.map(({ name }) => name) }
    })
    if (unnoted.length === 0) return
    await store.noteEpisodes(unnoted.map(({ note }) => note))
    for (const { names } of unnoted) for (const name of names) noted.add(name)
    if (noted.size > MAX_NOTED) noted.clear()
  }
}
