import { isAlias, isMap, isNode, isScalar, isSeq, type Node, type Pair } from 'yaml'
import { isMap as isRecord } from '../../schema/path.ts'

/** Some lines of aliases to lists of aliases stand for billions of values. */
const MAX_VALUES = 200_000
const MAX_LEVELS = 100
/** Long texts count as several values. */
const CHARACTERS_A_VALUE = 100

const TOO_LARGE = `found more than ${MAX_VALUES.toLocaleString('en')} values up to here, with all that each \`*\` repeats; expected fewer`
export const TOO_DEEP = `found more than ${MAX_LEVELS} lists and maps within each other; expected fewer levels`
export const NO_ANCHOR = 'found `*` with a name that no anchor before it has; a text that begins with `*` needs quotes'
const NO_MAP = 'found `<<` without a map; expected `<<: *NAME`, where `&NAME` marks a map, or a list of such names'

/**
 * The maps, lists and scalars of a document in which references are hidden. All aliases of an anchor are the same object. The key `<<`
 * adds the keys of another map, or of a list of maps, that the map itself lacks. The library's own conversion takes a minute for a long
 * map, and forever for some aliases; this one takes as long as the file is.
 *
 * @param report is called for each mistake
 */
export function plainValue(root: unknown, report: (node: Node, mistake: string) => void): unknown {
  /** By name, from the end of what they mark. */
  const anchors = new Map<string, { value: unknown; size: number }>()
  let size = 0

  const count = (node: Node, more: number) => {
    if (size <= MAX_VALUES && size + more > MAX_VALUES) report(node, TOO_LARGE)
    size += more
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
    if (isScalar(node)) return showReferences(node.value)
    if (level > MAX_LEVELS) return report(node, TOO_DEEP)
    if (isMap(node)) return mapOf(node.items, level + 1)
    return isSeq(node) ? node.items.map((item) => valueOf(item, level + 1)) : undefined
  }

  const valueOf = (node: unknown, level: number): unknown => {
    if (!isNode(node)) return null
    const before = size
    count(node, 1 + (isScalar(node) ? Math.floor(String(node.value).length / CHARACTERS_A_VALUE) : 0))
    if (isAlias(node)) {
      const anchor = anchors.get(node.source)
      if (anchor === undefined) return report(node, NO_ANCHOR)
      count(node, anchor.size)
      return anchor.value
    }
    const value = contentOf(node, level)
    if (node.anchor !== undefined) anchors.set(node.anchor, { value, size: size - before })
    return value
  }
  return valueOf(root, 1)
}

// Private-use characters of the same length, so that columns stay right.
const [OPENING, CLOSING] = ['\uF5D0\uF5D0', '\uF5D1']

/** Replaces `${NAME}` by what YAML accepts anywhere. */
export const hideReferences = (source: string) => source.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, `${OPENING}$1${CLOSING}`)

const showReferences = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(/\uF5D0\uF5D0([A-Za-z_]\w*)\uF5D1/g, '$${$1}') : value

/** The text of a key. */
export const keyOf = (key: unknown) => String(showReferences(isScalar(key) ? key.value : String(key)))
