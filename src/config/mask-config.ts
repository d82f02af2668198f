import { stringify } from 'yaml'
import type { Config } from './config.ts'
import { valueAt, withValue, type Path } from './path.ts'
import { writtenOut } from './resolve.ts'
import { isStoreUrlPlace, secretPlaces } from './secret-places.ts'
import { maskStoreUrl } from './schema/store-url.ts'

const mask = '********'

/** The configuration as a YAML file that says the same, every default written out, with secrets masked. */
export function maskConfig(config: Config): string {
  return stringify(maskedTree(config), { lineWidth: 0 })
}

/** The same as maps, lists and scalars. */
export function maskedTree(config: Config): unknown {
  const tree: unknown = writtenOut(config)
  return secretPlaces(tree).reduce<unknown>((next, place) => {
    const secret = valueAt(next, place)
    return secret === undefined ? next : withValue(next, place, masked(secret, place))
  }, tree)
}

function masked(secret: unknown, place: Path): string {
  return isStoreUrlPlace(place) ? maskStoreUrl(String(secret), mask) : mask
}
