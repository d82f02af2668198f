import { formatPath, isMap, type Path } from './path.ts'

/** Of this one only a part is secret: the password. */
const STORE_URL = ['store', 'url'] as const

/** Every secret of the file; `*` is any position of a list or key of a map. Each `x` may be given as `x_file` instead. */
const patterns: readonly (readonly string[])[] = [
  ['targets', '*', 'api_key'],
  STORE_URL,
  ['http', 'auth', 'password'],
  ['notify', 'slack', 'webhook_url'],
  ['notify', 'webhook', 'url'],
  ['notify', 'webhook', 'headers', '*'],
  ['notify', 'heartbeat', 'url'],
]

/** Whether a place in the file holds a secret, so that its value must never be shown. */
export function isSecretPlace(path: Path): boolean {
  return patterns.some(
    (pattern) => pattern.length === path.length && pattern.every((part, index) => part === '*' || part === path[index]),
  )
}

/** Whether the value at a secret place is an address of which all but the password may be shown. */
export function isStoreUrlPlace(path: Path): boolean {
  return formatPath(path) === formatPath(STORE_URL)
}

/** The places at which this file has room for a secret, whether it is given or not. */
export function secretPlaces(tree: unknown): Path[] {
  return patterns.flatMap((pattern) => expand(tree, pattern))
}

function expand(node: unknown, pattern: readonly string[]): Path[] {
  const [part, ...rest] = pattern
  if (part === undefined) return [[]]
  if (part === '*' && Array.isArray(node)) {
    return node.flatMap((item, index) => expand(item, rest).map((tail) => [index, ...tail]))
  }
  if (!isMap(node)) return []
  if (part === '*') {
    // Where any key is a secret, `x_file` is not one of its own, but the other way to give `x`.
    const keys = new Set(Object.keys(node).map((key) => key.replace(/(?<=.)_file$/, '')))
    return [...keys].flatMap((key) => expand(node, [key, ...rest]))
  }
  if (rest.length === 0) return [[part]]
  return expand(node[part], rest).map((tail) => [part, ...tail])
}
