import { z } from 'zod'
import { isMap } from '../path.ts'
import { nearestKey } from './nearest-key.ts'

/** `min_calls` to `minCalls`, for types. */
type CamelKey<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : Key

/** A map of the file as the program sees it: keys in camelCase, optional ones absent rather than undefined. */
type CamelKeys<T> = { [K in keyof T as CamelKey<K & string>]: Exclude<T[K], undefined> }

/**
 * A check of several keys together. It also runs when some keys of the map are wrong by themselves, so that all
 * problems come out at once: every value is unknown and may be missing.
 */
type CrossCheck<Shape> = (
  map: { readonly [K in keyof Shape]?: unknown },
  report: (path: (string | number)[], message: string) => void,
) => void

/**
 * A map of the configuration file. This is the one place where snake_case becomes camelCase (and back, when the
 * configuration is printed).
 *
 * @param explain what is wrong with a key that is not of this map, where more can be said than that
 */
export function section<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  check?: CrossCheck<Shape>,
  explain?: (key: string) => string | undefined,
) {
  const strict = strictMap(shape, explain)
  const checked =
    check === undefined
      ? strict
      : strict.superRefine(
          (map: unknown, context) => {
            if (!isMap(map)) return
            check(map, (path, message) =>
              context.addIssue({ code: 'custom', path, message, params: { sentence: true } }),
            )
          },
          { when: () => true },
        )
  type Inside = CamelKeys<z.output<typeof strict>>
  return z.codec(checked, z.custom<Inside>(), {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the language cannot follow the renaming
    decode: (map) => renameKeys(map, camelCase) as Inside,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nor the way back
    encode: (inside) => renameKeys(inside, snakeCase) as z.output<typeof strict>,
  })
}

/**
 * A map of the configuration file whose keys are labels, which are spelled alike everywhere; to whoever compares them
 * their values are mere texts. Labels without a value fall away.
 */
export function labelMap<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const strict = strictMap(shape)
  type Given = { [K in keyof Shape]?: string }
  return z.codec(strict, z.custom<Given>(), {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a schema's values are among the texts
    decode: (map) => renameKeys(map, (label) => label) as Given,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- and they came from it
    encode: (given) => given as z.output<typeof strict>,
  })
}

/** The one place where unknown keys get their sentence. */
function strictMap<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  explain: (key: string) => string | undefined = () => undefined,
) {
  const known = Object.keys(shape)
  const sentence = (key: string) => {
    const explained = explain(key)
    return explained === undefined ? unknownKey(key, known) : `${explained}; expected ${oneOfKeys(known)}`
  }
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(sentence).join('\n') : undefined),
  })
}

/** Keys without a value fall away. */
function renameKeys(map: object, rename: (key: string) => string): object {
  const given = Object.entries(map).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([key, value]) => [rename(key), value]))
}

function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function unknownKey(key: string, known: readonly string[]): string {
  const [head] = key.split(':')
  if (head !== key) return `unknown key beginning with \`${head}:\`; a colon needs a space after it`
  const near = nearestKey(key, known)
  if (near !== undefined) return `unknown key \`${key}\`; did you mean \`${near}\`?`
  return `unknown key \`${key}\`; expected ${oneOfKeys(known)}`
}

function oneOfKeys(known: readonly string[]): string {
  return `one of ${known.map((one) => `\`${one}\``).join(', ')}`
}
