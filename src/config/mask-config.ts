import { stringify } from 'yaml'
import { z } from 'zod'
import type { Config } from './config.ts'
import { fileSchema } from './schema/file-schema.ts'
import { valueAt, withValue, type Path } from './path.ts'
import { toFile } from './resolve.ts'
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

/** The same with its secrets. */
export function writtenOut(config: Config): z.input<typeof fileSchema> {
  return z.encode(fileSchema, toFile(config))
}

function masked(secret: unknown, place: Path): string {
  return isStoreUrlPlace(place) ? maskStoreUrl(String(secret), mask) : mask
}
