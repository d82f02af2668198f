import { z } from 'zod'

/** The path to a value in the file: keys, and in lists positions from 0. */
export type Path = readonly PropertyKey[]

/** A path as users know it: `targets[0].api_key`, `poll.status_map["odd key"]`; empty for the whole file. */
export function formatPath(path: Path): string {
  return path.map((part, index) => formatPart(part, index === 0)).join('')
}

function formatPart(part: PropertyKey, first: boolean): string {
  if (typeof part === 'number') return `[${part}]`
  const key = String(part)
  if (!/^[\w-]+$/.test(key)) return `[${JSON.stringify(key)}]`
  return first ? key : `.${key}`
}

/** Whether a value is a map, so neither a scalar nor a list. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The maps of a list; an item that is no map is an empty one. */
export function mapsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.map((item: unknown) => (isMap(item) ? item : {})) : []
}

/** Reports each text that equals an earlier one. */
export function reportDuplicates(texts: readonly unknown[], report: (index: number, earlier: number) => void): void {
  texts.forEach((text, index) => {
    const earlier = texts.indexOf(text)
    if (typeof text === 'string' && earlier < index) report(index, earlier)
  })
}

/** Parses a map or a list of JSON; undefined for anything else. */
export function parseTree(text: string): Record<string, unknown> | readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isMap(value) || Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Parses a map of JSON; undefined for anything else. */
export function parseMap(text: string): Record<string, unknown> | undefined {
  const tree = parseTree(text)
  return isMap(tree) ? tree : undefined
}

/** The value at a path; undefined if the tree has no such path. */
export function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((node, part) => {
    if (Array.isArray(node)) return typeof part === 'number' ? (node as unknown[])[part] : undefined
    return isMap(node) ? node[String(part)] : undefined
  }, tree)
}

/**
 * A copy of the tree with the value at the path; undefined removes the key. Missing maps on the way are created. If something
 * on the way is neither a map nor a list, the tree is returned unchanged, and the schema reports the problem.
 */
export function withValue(tree: unknown, path: Path, value: unknown): unknown {
  const [part, ...rest] = path
  if (part === undefined) return value
  if (typeof part === 'number') {
    return Array.isArray(tree) ? tree.map((item, i) => (i === part ? withValue(item, rest, value) : item)) : tree
  }
  if (tree !== undefined && !isMap(tree)) return tree
  const { [String(part)]: child, ...others } = tree ?? {}
  const changed = withValue(child, rest, value)
  return changed === undefined ? others : { ...tree, [String(part)]: changed }
}

/** Keys from the top of a file; `*` stands for any position in a list, or any key that the user chooses. */
type Place<Meta> = { path: readonly string[]; meta: Meta }

/** The places in a schema whose parts are in a registry, in the order of the schema. */
export function placesOf<Meta>(
  schema: z.core.$ZodType,
  registry: { get: (schema: z.core.$ZodType) => Meta | undefined },
): Place<Meta>[] {
  const below = (part: string, child: z.core.$ZodType) =>
    placesOf(child, registry).map(({ path, meta }) => ({ path: [part, ...path], meta }))
  const meta = registry.get(schema)
  if (meta !== undefined) return [{ path: [], meta }]
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault) return placesOf(schema.unwrap(), registry)
  if (schema instanceof z.ZodPipe) return placesOf(schema.in, registry)
  if (schema instanceof z.ZodArray) return below('*', schema.element)
  if (schema instanceof z.ZodRecord) return below('*', schema.valueType)
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape).flatMap(([key, child]) => below(key, child))
}

/** The places in a tree that a path with `*` means, whether there is a value or not. */
export function placesLike(node: unknown, path: readonly string[]): Path[] {
  const [part, ...rest] = path
  if (part === undefined) return [[]]
  if (part === '*' && Array.isArray(node)) {
    return node.flatMap((item, index) => placesLike(item, rest).map((tail) => [index, ...tail]))
  }
  if (!isMap(node)) return []
  if (part === '*') {
    // If every key of a map is a secret, `x_file` is not a key of its own, but the other way to give `x`.
    const keys = new Set(Object.keys(node).map((key) => key.replace(/(?<=.)_file$/, '')))
    return [...keys].flatMap((key) => placesLike(node, [key, ...rest]))
  }
  if (rest.length === 0) return [[part]]
  return placesLike(node[part], rest).map((tail) => [part, ...tail])
}
