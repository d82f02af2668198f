import { dirname, resolve } from 'node:path'
import { isMap as isMapNode, isNode, isSeq, LineCounter, parseDocument, type YAMLError } from 'yaml'
import { ConfigError, type Problem } from '../config-error.ts'
import { formatPath, type Path } from '../../schema/path.ts'
import type { Environment } from './environment.ts'
import { hideReferences, keyOf, NO_ANCHOR, plainValue, TOO_DEEP } from './plain-value.ts'
import { fileProblem, readAnyText, type ReadText } from './read-text.ts'

/** Replacements for messages of the library that would quote the file, and might contain a secret. */
const discreet: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: NO_ANCHOR,
  BAD_DIRECTIVE: 'found `%` at the beginning of a line, where a directive would stand',
  BAD_DQ_ESCAPE: 'found an unknown escape after `\\` between double quotes',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  TAG_RESOLVE_FAILED: 'found `!` with the name of an unknown tag; a text that begins with `!` needs quotes',
  UNEXPECTED_TOKEN: 'found something that cannot stand here; a text with one of `{}[],#&*!|>%@` in it may need quotes',
}

/** What a YAML text contains. */
type YamlContent = {
  /** Maps, lists and scalars; null for an empty text. */
  content: unknown
  /**
   * Where the value at a path such as `targets[0].region` is, as `file:line:column` (from 1). If it is missing, the place of
   * the map or list that lacks it; undefined if that is the whole file.
   */
  placeOf: (path: string) => string | undefined
}

/**
 * Parses YAML 1.2. `${NAME}` may be anywhere in a text without quotes, even within `{ }` and `[ ]`, where YAML would refuse
 * it.
 *
 * @param name how the user named the file
 * @throws ConfigError with line and column (from 1) of the mistakes in the syntax
 */
export function parseYaml(source: string, name: string): YamlContent {
  const lineCounter = new LineCounter()
  const options = { lineCounter, prettyErrors: false, logLevel: 'silent', uniqueKeys: false } as const
  const document = parseDocument(hideReferences(source), options)
  const placeAt = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const mistakes: Problem[] = []
  const report = (offset: number, mistake: string) =>
    mistakes.push({ path: placeAt(offset), message: `not valid YAML: ${mistake}` })
  for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
    report(pos[0], discreet[code] ?? message)
    // The parser is lost, and complains about everything after it.
    if (code === 'UNEXPECTED_TOKEN' || code === 'RESOURCE_EXHAUSTION') throw new ConfigError(mistakes)
  }
  const content = plainValue(document.contents, (node, mistake) => void report(node.range?.[0] ?? 0, mistake))
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  let offsets: Map<string, number> | undefined
  return {
    content,
    placeOf: (path) => {
      offsets ??= new Map(offsetsIn(document.contents))
      const offset = offsetOf(offsets, path)
      return offset === undefined ? undefined : placeAt(offset)
    },
  }
}

/** Where each key and each item of a list begins, by path. */
function* offsetsIn(node: unknown, path: Path = []): Generator<[path: string, offset: number]> {
  const items: [key: PropertyKey, start: unknown, value: unknown][] = isMapNode(node)
    ? node.items.map(({ key, value }) => [keyOf(key), key, value])
    : isSeq(node)
      ? node.items.map((item, index) => [index, item, item])
      : []
  for (const [key, start, value] of items) {
    const below = [...path, key]
    if (isNode(start) && start.range) yield [formatPath(below), start.range[0]]
    yield* offsetsIn(value, below)
  }
}

/** The offset of a path, or of its longest part that is in the file. */
function offsetOf(offsets: ReadonlyMap<string, number>, path: string): number | undefined {
  const shorter = path.replace(/(\.[\w-]+|\[(\d+|"([^"\\]|\\.)*")\])$/, '')
  return offsets.get(path) ?? (shorter === path ? undefined : offsetOf(offsets, shorter))
}

const defaultFile = 'callwatch.yaml'

/** A file's content, how the user named the file, and the file's folder. */
export type ConfigFile = YamlContent & { name: string; folder: string; isMissing?: true }

/**
 * Reads the file that `--config` names, otherwise the file of CALLWATCH_CONFIG, otherwise ./callwatch.yaml if it exists.
 * Otherwise the content is empty, and only the environment counts.
 *
 * @throws ConfigError if a named file cannot be read, or the file is not YAML
 */
export function readConfigFile(options: {
  file?: string
  env: Environment
  cwd: string
  readConfig?: ReadText
  /** The option that names the file, and what kind of file is expected. */
  option?: string
  expected?: string
}): ConfigFile {
  const { file, env, cwd, readConfig = readAnyText, option = '--config', expected = 'a configuration file' } = options
  const name = file ?? (env['CALLWATCH_CONFIG'] || defaultFile)
  const path = resolve(cwd, name)
  let source: string
  try {
    source = readConfig(path)
  } catch (error) {
    const problem = fileProblem(error)
    const named = file === undefined ? (env['CALLWATCH_CONFIG'] ? 'CALLWATCH_CONFIG' : undefined) : option
    if (named === undefined && problem === 'does not exist')
      return { content: null, placeOf: () => undefined, name, folder: cwd, isMissing: true }
    const message = `the file \`${name}\` ${problem}; expected ${expected} in YAML`
    throw new ConfigError([{ path: named ?? name, message }], { isPassing: true })
  }
  return { ...parseYaml(source, name), name, folder: dirname(path) }
}

/**
 * The error for problems of a file, each with its place.
 *
 * @param brought the places, as the user knows them, whose values other programs bring in files
 */
export function errorIn(
  { isMissing, name, placeOf }: ConfigFile,
  problems: readonly Problem[],
  brought: ReadonlySet<string> = new Set(),
): ConfigError {
  const placed = problems.map((problem) => {
    const place = placeOf(problem.path)
    return place === undefined ? problem : { ...problem, place }
  })
  const isPassing = problems.every(({ path }) => brought.has(path))
  return new ConfigError(placed, { ...(isMissing !== true && { file: name }), isPassing })
}
