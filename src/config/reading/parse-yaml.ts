import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import type { Path } from '../../schema/path.ts'
import { ConfigError, type Problem } from '../config-error.ts'

const NO_ANCHOR = 'found `*` with a name that no anchor before it has; a text that begins with `*` needs quotes'
const NO_MAP = 'found `<<` without a map; expected `<<: *NAME`, where `&NAME` marks a map, or a list of such names'
const TOO_DEEP = 'found values too deep within each other'
const TOO_MANY = 'found aliases (`*NAME`) that repeat each other too often; expected fewer'

/** Replacements for messages of the library that would quote the file, and might contain a secret. */
const discreet: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: NO_ANCHOR,
  BAD_DIRECTIVE: 'found `%` at the beginning of a line, where a directive would stand',
  BAD_DQ_ESCAPE: 'found an unknown escape after `\\` between double quotes',
  TAG_RESOLVE_FAILED: 'found `!` with the name of an unknown tag; a text that begins with `!` needs quotes',
  UNEXPECTED_TOKEN: 'found something that cannot stand here; a text with one of `{}[],#&*!|>%@` in it may need quotes',
}

/** What a YAML text contains. */
export type YamlContent = {
  /** Maps, lists and scalars; null for an empty text. */
  content: unknown
  /**
   * Where the value at a path is, as `file:line:column` (from 1). If it is missing, the place of the map or list that lacks
   * it; undefined if that is the whole file.
   */
  placeOf: (path: Path) => string | undefined
}

/** How often an alias may be repeated, times how often one in its value is. */
const MAX_ALIASES = 10_000

/**
 * Parses YAML 1.2 with merge keys (`<<`). `${NAME}` may be anywhere in a text without quotes, even within `{ }` and `[ ]`,
 * where YAML would refuse it.
 *
 * @param name how the user named the file
 * @throws ConfigError with line and column (from 1) of the mistakes in the syntax
 */
export function parseYaml(source: string, name: string): YamlContent {
  const lineCounter = new LineCounter()
  const options = { lineCounter, merge: true, prettyErrors: false, logLevel: 'silent' } as const
  const document = parseDocument(hideReferences(source), options)
  const placeAt = (offset = 0) => {
    const { line, col } = lineCounter.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const mistakes: Problem[] = []
  const report = (path: string, mistake: string) => mistakes.push({ path, message: `not valid YAML: ${mistake}` })
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    report(placeAt(pos[0]), discreet[code] ?? message)
    // The parser is lost, and complains about everything after it.
    if (code === 'UNEXPECTED_TOKEN') throw new ConfigError(mistakes)
  }
  const anchors = new Set<string | undefined>()
  visit(document, {
    Node: (_, node, around) => {
      if (isScalar(node)) node.value = showReferences(node.value)
      if (isAlias(node)) {
        const isWithin = around.some((one) => isCollection(one) && one.anchor === node.source)
        if (isWithin || !anchors.has(node.source)) report(placeAt(node.range?.[0]), NO_ANCHOR)
      } else anchors.add(node.anchor)
    },
  })
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  try {
    const content: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    const placeOf = (path: Path) => {
      const offset = offsetOf(document.contents, path)
      return offset === undefined ? undefined : placeAt(offset)
    }
    return { content, placeOf }
  } catch (error) {
    report(name, error instanceof ReferenceError ? TOO_MANY : error instanceof RangeError ? TOO_DEEP : NO_MAP)
    throw new ConfigError(mistakes)
  }
}

/** Where the last part of a path begins that is in the file. */
function offsetOf(top: unknown, path: Path): number | undefined {
  let offset: number | undefined
  let node = top
  for (const part of path) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === part) : undefined
    const start = isSeq(node) ? node.items[Number(part)] : pair?.key
    if (!isNode(start)) break
    offset = start.range?.[0]
    node = pair === undefined ? start : pair.value
  }
  return offset
}

// Private-use characters of the same length, so that columns stay right.
const [OPENING, CLOSING] = ['\uF5D0\uF5D0', '\uF5D1']

const hideReferences = (source: string) => source.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, `${OPENING}$1${CLOSING}`)

const showReferences = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(OPENING, '${').replaceAll(CLOSING, '}') : value
