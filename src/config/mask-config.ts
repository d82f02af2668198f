import { stringify } from 'yaml'
import { z } from 'zod'
import type { Config } from './config.ts'
import { fileSchema } from './file-schema.ts'
import { valueAt, withValue } from './path.ts'
import { toFile } from './resolve.ts'
import { secretPlaces } from './secret-places.ts'

const mask = '********'

/** The configuration as a YAML file that says the same, every default written out, with secrets masked. */
export function maskConfig(config: Config): string {
  return stringify(maskedTree(config), { lineWidth: 0 })
}

/** The same as maps, lists and scalars. */
export function maskedTree(config: Config): unknown {
  const tree = z.encode(fileSchema, toFile(config))
  return secretPlaces(tree).reduce<unknown>(
    (next, place) => (valueAt(next, place) === undefined ? next : withValue(next, place, mask)),
    tree,
  )
}
