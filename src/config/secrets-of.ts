import type { Config } from './config.ts'
import { valueAt } from './path.ts'
import { writtenOut } from './resolve.ts'
import { isStoreUrlPlace, secretPlaces } from './secret-places.ts'
import { passwordsIn } from './schema/store-url.ts'

/** Every secret of the configuration, each once and the longest first, for whoever must not print them. */
export function secretsOf(config: Config): string[] {
  const tree: unknown = writtenOut(config)
  const secrets = secretPlaces(tree).flatMap((place) => {
    const value = valueAt(tree, place)
    if (typeof value !== 'string') return []
    return isStoreUrlPlace(place) ? passwordsIn(value) : [value]
  })
  return [...new Set(secrets)].toSorted((a, b) => b.length - a.length)
}
