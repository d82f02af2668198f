import { isMap, type Path } from './path.ts'

/** Every secret of the file; `*` is any position of a list. Each `x` may be given as `x_file` instead. */
const patterns: readonly (readonly string[])[] = [
  ['targets', '*', 'api_key'],
  ['notify', 'slack', 'webhook_url'],
]

/** Whether a place in the file holds a secret, so that its value must never be shown. */
export function isSecretPlace(path: Path): boolean {
  return patterns.some(
    (pattern) =>
      pattern.length === path.length &&
      pattern.every((part, index) => (part === '*' ? typeof path[index] === 'number' : part === path[index])),
  )
}

/** The places at which this file has room for a secret, whether it is given or not. */
export function secretPlaces(tree: unknown): Path[] {
  return patterns.flatMap((pattern) => expand(tree, pattern))
}

function expand(node: unknown, pattern: readonly string[]): Path[] {
  const [part, ...rest] = pattern
  if (part === undefined) return [[]]
  if (part === '*') {
    return Array.isArray(node) ? node.flatMap((item, index) => expand(item, rest).map((tail) => [index, ...tail])) : []
  }
  if (!isMap(node)) return []
  if (rest.length === 0) return [[part]]
  return expand(node[part], rest).map((tail) => [part, ...tail])
}
