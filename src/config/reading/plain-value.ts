import { isAlias, isMap, isNode, isScalar, isSeq, type Node, type Pair } from 'yaml'
import { isMap as isRecord } from '../../schema/path.ts'

/** Some lines of aliases to lists of aliases stand for billions of values. */
const MAX_VALUES = 200_000
const MAX_LEVELS = 100

const TOO_LARGE =
  `the file has more than ${MAX_VALUES.toLocaleString('en')} values up to here, if each \`*\` counts as all that its anchor ` +
  'holds; expected fewer, or fewer `*` within anchors'
export const TOO_DEEP = `found more than ${MAX_LEVELS} lists and maps within each other; expected fewer levels`

/**
 * The maps, lists and scalars of a document. All aliases of an anchor are the same object. The key `<<` adds the keys of another map,
 * or of a list of maps, that the map itself lacks. The library's own conversion takes a minute for a long map, and forever for some
 * aliases; this one takes as long as the file is.
 *
 * @param keyOf the text of a key
 * @param scalarOf the value of a scalar
 * @param report is called for each mistake
 */
export function plainValue(
  root: unknown,
  { keyOf, scalarOf }: { keyOf: (key: unknown) => string; scalarOf: (value: unknown) => unknown },
  report: (node: Node, mistake: string) => void,
): unknown {
  /** By name; undefined while the anchor's own value is being read. */
  const anchors = new Map<string, { value: unknown; size: number } | undefined>()
  let size = 0

  const count = (node: Node, more: number) => {
    if (size <= MAX_VALUES && size + more > MAX_VALUES) report(node, TOO_LARGE)
    size += more
  }

  const aliasedBy = (alias: Node & { source: string }) => {
    const anchor = anchors.get(alias.source)
    if (anchor === undefined) report(alias, anchors.has(alias.source) ? WITHIN_ITSELF : NO_ANCHOR)
    count(alias, anchor?.size ?? 0)
    return anchor?.value
  }

  const mapOf = (pairs: readonly Pair[], level: number) => {
    const own = new Map<string, unknown>()
    const merged: object[][] = []
    for (const { key, value: node } of pairs) {
      const name = keyOf(key)
      if (isNode(key) && own.has(name)) report(key, 'Map keys must be unique')
      const value = valueOf(node, level)
      const maps = [value ?? []].flat()
      if (!isScalar(key) || key.type !== 'PLAIN' || name !== '<<') own.set(name, value)
      else if (maps.every(isRecord)) merged.push(maps)
      else report(key, NO_MAP)
    }
    return Object.fromEntries([...merged.flat().toReversed().flatMap(Object.entries), ...own])
  }

  const contentOf = (node: Node, level: number): unknown => {
    if (isAlias(node)) return aliasedBy(node)
    if (isScalar(node)) return scalarOf(node.value)
    if (level > MAX_LEVELS) return report(node, TOO_DEEP)
    if (isMap(node)) return mapOf(node.items, level + 1)
    return isSeq(node) ? node.items.map((item) => valueOf(item, level + 1)) : undefined
  }

  const valueOf = (node: unknown, level: number): unknown => {
    if (!isNode(node)) return null
    const before = size
    count(node, 1)
    const { anchor } = isAlias(node) ? {} : node
    if (anchor !== undefined) anchors.set(anchor, undefined)
    const value = contentOf(node, level)
    if (anchor !== undefined) anchors.set(anchor, { value, size: size - before })
    return value
  }
  return valueOf(root, 1)
}

export const NO_ANCHOR =
  'found `*` with the name of an anchor that is not there; a text that begins with `*` needs quotes'
const WITHIN_ITSELF = 'found `*` within the anchor that it names'
const NO_MAP = 'found `<<` without a map; expected `<<: *NAME`, where `&NAME` marks a map, or a list of such names'
