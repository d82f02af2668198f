import { z } from 'zod'
import { isMap, type Path, valueAt, placesOf } from '../schema/path.ts'
import { secrets, type Secret } from '../schema/secret.ts'
import { configSchema, type Config } from './config.ts'

/** A place in a file, and the definition of the secret there. */
type SecretPlace = { place: Path; secret: Secret }

/** All secrets of the file. Each `x` may be given as `x_file` instead. */
const places = placesOf(configSchema, secrets)

/** Whether a place in the file holds a secret, so that its value must never be shown. */
export function isSecretPlace(place: Path): boolean {
  return places.some(
    ({ path }) => path.length === place.length && path.every((part, index) => part === '*' || part === place[index]),
  )
}

/** The places where this file may have a secret, whether one is given or not. */
export function secretPlaces(tree: unknown): SecretPlace[] {
  return places.flatMap(({ path, meta }) => expand(tree, path).map((place) => ({ place, secret: meta })))
}

function expand(node: unknown, path: readonly string[]): Path[] {
  const [part, ...rest] = path
  if (part === undefined) return [[]]
  if (part === '*' && Array.isArray(node)) {
    return node.flatMap((item, index) => expand(item, rest).map((tail) => [index, ...tail]))
  }
  if (!isMap(node)) return []
  if (part === '*') {
    // If every key of a map is a secret, `x_file` is not a key of its own, but the other way to give `x`.
    const keys = new Set(Object.keys(node).map((key) => key.replace(/(?<=.)_file$/, '')))
    return [...keys].flatMap((key) => expand(node, [key, ...rest]))
  }
  if (rest.length === 0) return [[part]]
  return expand(node[part], rest).map((tail) => [part, ...tail])
}

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
