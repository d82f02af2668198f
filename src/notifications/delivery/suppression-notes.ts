import type { Suppression } from '../../alerts/episode.ts'
import type { Store } from '../../store/store.ts'
import type { Live } from './now.ts'

/** The most notes that are kept in memory: then all are forgotten, and what still holds is noted once more. */
const MAX_NOTED = 200_000

/** What suppresses an alert. */
export type Suppressed = { live: Live; by: readonly Suppression[] }

/** Names a reason, as far as one alert can have several. */
const reasonOf = ({ by, silence, alert, target, since }: Suppression) => `${by} ${silence} ${target} ${alert} ${since}`

/** Notes in the history why alerts wait, each reason once in the life of a sender. */
export function suppressionNotes(store: Pick<Store, 'noteEpisodes'>) {
  const noted = new Set<string>()
  return async (suppressed: readonly Suppressed[]): Promise<void> => {
    const unnoted = suppressed.flatMap(({ live, by }) => {
      const own = by
        .map((one) => ({ one, name: `${live.episode} ${reasonOf(one)}` }))
        .filter(({ name }) => !noted.has(name))
      if (own.length === 0) return []
      const { target, key, firingSince: since } = live.alert
      const lines = own.map(({ one }) => `${JSON.stringify(one)}\n`).join('')
      return { note: { target, key, since, lines }, names: own.map(({ name }) => name) }
    })
    if (unnoted.length === 0) return
    await store.noteEpisodes(unnoted.map(({ note }) => note))
    for (const { names } of unnoted) for (const name of names) noted.add(name)
    if (noted.size > MAX_NOTED) noted.clear()
  }
}
