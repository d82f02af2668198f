import { stringify } from 'yaml'
import { z } from 'zod'
import { valueAt, withValue } from '../schema/path.ts'
import { configSchema, type Config } from './config.ts'
import { secretPlaces } from './secrets.ts'

const MASK = '********'

/** The configuration as an equivalent YAML file, with all defaults, and with secrets masked. */
export function maskConfig(config: Config): string {
  return stringify(maskedTree(config), { lineWidth: 0 })
}

/** The same as {@link maskConfig}, as maps, lists and scalars. */
export function maskedTree(config: Config): unknown {
  const tree: unknown = z.encode(configSchema, config)
  return secretPlaces(tree).reduce<unknown>((next, { place, secret: { partly } }) => {
    const value = valueAt(next, place)
    if (typeof value !== 'string') return next
    return withValue(next, place, partly === undefined ? MASK : partly.masked(value, MASK))
  }, tree)
}
