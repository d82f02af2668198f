import type { Suppression } from '../../alerts/episode.ts'
import type { Alert } from '../../alerts/alert.ts'
import type { Store } from '../../store/store.ts'

/** The most notes that are kept in memory: then all are forgotten, and what still holds is noted once more. */
const MAX_NOTED = 200_000

/** What suppresses an alert. */
export type Suppressed = {
  alert: Pick<Alert, 'target' | 'key' | 'firingSince'>
  episode: string
  by: readonly Suppression[]
}

/** Names a reason, as far as one alert can have several. */
const reasonOf = ({ by, silence, alert, target, since }: Suppression) => `${by} ${silence} ${target} ${alert} ${since}`

/** So many alerts are noted in one iteration of the event loop. */
const ALERTS_A_TURN = 500

/** Notes in the history why alerts wait, each reason once. What several receivers have in common is looked at once. */
export function suppressionNotes(store: Pick<Store, 'noteEpisodes'>) {
  const noted = new Set<string>()
  const seen = new Set<readonly Suppression[]>()

  async function noteSome(suppressed: readonly Suppressed[]): Promise<void> {
    const unnoted = suppressed.flatMap(({ alert, episode, by }) => {
      const own = by.map((one) => ({ one, name: `${episode} ${reasonOf(one)}` })).filter(({ name }) => !noted.has(name))
      if (own.length === 0) return []
      const { target, key, firingSince: since } = alert
      const lines = own.map(({ one }) => `${JSON.stringify(one)}\n`).join('')
      return { note: { target, key, since, lines }, names: own.map(({ name }) => name) }
    })
    if (unnoted.length > 0) await store.noteEpisodes(unnoted.map(({ note }) => note))
    for (const { by } of suppressed) seen.add(by)
    for (const { names } of unnoted) for (const name of names) noted.add(name)
    if (noted.size > MAX_NOTED) noted.clear()
    if (seen.size > MAX_NOTED) seen.clear()
  }

  return async (suppressed: readonly Suppressed[]): Promise<void> => {
    const unseen = suppressed.filter(({ by }) => !seen.has(by))
    for (let n = 0; n < unseen.length; n += ALERTS_A_TURN) await noteSome(unseen.slice(n, n + ALERTS_A_TURN))
  }
}
