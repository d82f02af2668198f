import { z } from 'zod'
import type { Config } from './config.ts'
import { fileSchema } from './file-schema.ts'
import { valueAt } from './path.ts'
import { toFile } from './resolve.ts'
import { secretPlaces } from './secret-places.ts'

/** Every secret of the configuration, each once and the longest first, for whoever must not print them. */
export function secretsOf(config: Config): string[] {
  const tree = z.encode(fileSchema, toFile(config))
  const secrets = secretPlaces(tree).map((place) => valueAt(tree, place))
  return [...new Set(secrets.filter((secret) => typeof secret === 'string'))].toSorted((a, b) => b.length - a.length)
}
