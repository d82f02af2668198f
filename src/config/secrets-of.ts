import { z } from 'zod'
import { valueAt } from '../schema/path.ts'
import { configSchema, type Config } from './config.ts'
import { secretPlaces } from './secret-places.ts'

/** All secrets of the configuration, each once, longest first, so that nothing prints them. */
export function secretsOf(config: Config): string[] {
  const tree: unknown = z.encode(configSchema, config)
  const found = secretPlaces(tree).flatMap(({ place, secret: { partly } }) => {
    const value = valueAt(tree, place)
    if (typeof value !== 'string') return []
    return partly === undefined ? [value] : partly.secretsIn(value)
  })
  return [...new Set(found)].toSorted((a, b) => b.length - a.length)
}
