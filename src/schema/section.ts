import { z } from 'zod'
import { nearestKey } from './nearest-key.ts'
import { isMap } from './path.ts'
import { fileName } from './scalars.ts'
import { secrets } from './secret.ts'
import { variables } from './variables.ts'

/** Converts `min_calls` to `minCalls`, for types. */
type CamelKey<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : Key

/** A map of the file as the program sees it: keys in camelCase; optional keys are absent instead of undefined. */
type CamelKeys<T> = { [K in keyof T as CamelKey<K & string>]: Exclude<T[K], undefined> }

/** The type of a section of this shape in the program. */
export type Inside<Shape extends z.core.$ZodLooseShape> = CamelKeys<z.output<z.ZodObject<Shape, z.core.$strict>>>

/**
 * A check of several keys together. It also runs if some keys failed their own checks, so that all problems are reported at
 * once. Therefore every value is unknown and may be missing.
 */
type CrossCheck<Shape> = (
  map: { readonly [K in keyof Shape | `${keyof Shape & string}_file`]?: unknown },
  report: ReportProblem,
) => void

/** Reports a problem at a place below the map that is checked. */
export type ReportProblem = (path: (string | number)[], message: string) => void

/**
 * A map of the configuration file. Only here snake_case becomes camelCase, and back when the configuration is printed. Here
 * secrets also get their other key, `x_file`, whose file was read earlier.
 *
 * @param explain what is wrong with an unknown key, if more can be said than that
 */
export function section<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  check?: CrossCheck<Shape>,
  explain?: (key: string) => string | undefined,
) {
  const required = Object.entries(shape).flatMap(([key, schema]) => {
    const known = secrets.get(schema)
    return known === undefined ? [] : [{ key, ...known }]
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other keys of secrets are no part of what comes out
  const strict = strictMap(withSecretFiles(shape) as Shape, explain)
  const checked = strict.superRefine(
    (map: unknown, context) => {
      if (!isMap(map)) return
      const report: ReportProblem = (path, message) =>
        context.addIssue({ code: 'custom', path, message, params: { sentence: true } })
      check?.(map, report)
      for (const { key, of } of required) {
        if (map[key] !== undefined || map[`${key}_file`] !== undefined) continue
        report([key], `missing; expected ${of}, or the name of a file that holds it in \`${key}_file\``)
      }
    },
    { when: () => true },
  )
  return z.codec(checked, z.custom<Inside<Shape>>(), {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the language cannot follow the renaming
    decode: (map) => renameKeys(map, camelCase) as Inside<Shape>,
    encode: (inside) => {
      const keys = Object.entries(renameKeys(inside, snakeCase)).filter(([key]) => Object.hasOwn(shape, key))
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nor the way back
      return Object.fromEntries(keys) as z.output<typeof strict>
    },
  })
}

/**
 * A section in which some values follow from others. Encoding it writes out all of them.
 *
 * @param complete gets values that passed their own checks
 */
export function completed<Map extends z.ZodType, Complete extends z.output<Map>>(
  map: Map,
  complete: (checked: z.output<Map>) => Complete,
) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a codec's own types do not take generic ones
  return z.codec(map, z.custom<Complete>(), { decode: complete, encode: (all) => all as never })
}

/** A secret may be missing, because its file may be named instead. */
function withSecretFiles(shape: z.core.$ZodLooseShape): z.core.$ZodLooseShape {
  const entries = Object.entries(shape).flatMap(([key, entry]): [string, z.core.$ZodType][] => {
    const value = entry instanceof z.ZodOptional ? entry.unwrap() : entry
    const known = secrets.get(value)
    if (known === undefined) return [[key, entry]]
    const { of, about, variable, fileVariable, unless, example = variable } = known
    const examples = example === undefined ? {} : { examples: [`\${${example}}`] }
    const own = z
      .optional(value)
      .describe(`${about}; a secret`)
      .meta({ writeOnly: true, ...examples })
    if (variable !== undefined) own.register(variables, { name: variable, ...(unless && { unless }) })
    const file = fileName().optional().describe(`File that holds ${of}, instead of ${key}`)
    if (fileVariable !== undefined) file.register(variables, { name: fileVariable, unless: [key] })
    return [
      [key, own],
      [`${key}_file`, file],
    ]
  })
  return Object.fromEntries(entries)
}

/**
 * A map of the configuration file whose keys are labels. Labels are spelled the same everywhere, and code that compares their
 * values treats them as texts. Labels without a value are dropped.
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

/** The sentences for unknown keys are made only here. */
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

/** Renames the keys of a map. Keys without a value are dropped. */
function renameKeys(map: object, rename: (key: string) => string): object {
  const entries = Object.entries(map).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([key, value]) => [rename(key), value]))
}

export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function snakeCase(key: string): string {
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
