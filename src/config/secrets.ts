import { z } from 'zod'
import { placesLike, placesOf, valueAt, type Path } from '../schema/path.ts'
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
  return places.flatMap(({ path, meta }) => placesLike(tree, path).map((place) => ({ place, secret: meta })))
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
