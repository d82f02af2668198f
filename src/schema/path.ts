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

/** Parses a map of JSON; undefined for anything else. */
export function parseMap(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isMap(value) ? value : undefined
  } catch {
    return undefined
  }
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
