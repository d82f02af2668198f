import type { z } from 'zod'
import { formatPath, isMap, type Path, valueAt, withValue } from '../../schema/path.ts'
import { ConfigError, type Problem } from '../config-error.ts'
import { isSecretPlace } from '../secrets.ts'
import { interpolate, type Environment } from './interpolate.ts'
import type { ConfigFile } from './read-config-file.ts'

/** A configuration that is being built: the file's content, to which each step adds values and problems. */
export type Draft = {
  readonly file: ConfigFile
  /** Maps, lists and scalars, in the file's own form. */
  tree: unknown
  /** The problems so far, with paths as the user knows them. */
  readonly problems: Problem[]
  /** Where values at places in the tree come from, if not from there in the file: another place, or a variable. */
  readonly origins: Map<string, Path | string>
  /** The names of places whose value is, or would be, the content of a file of its own. */
  readonly brought: Set<string>
  /** The variables that the file refers to. */
  readonly names: Set<string>
}

/**
 * A draft of the file in which `${NAME}` is replaced in all texts. A missing or empty variable is a problem at that place. A key
 * without a value (YAML's null) counts as omitted.
 */
export function draftOf(file: ConfigFile, env: Environment): Draft {
  const draft: Draft = { file, tree: {}, problems: [], origins: new Map(), brought: new Set(), names: new Set() }
  const walk = (node: unknown, path: Path): unknown => {
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]))
    if (isMap(node))
      return Object.fromEntries(
        Object.entries(node).map(([key, value]) => [key, walk(value ?? undefined, [...path, key])]),
      )
    if (typeof node !== 'string') return node
    const { text, names, problems } = interpolate(node, env)
    for (const name of names) draft.names.add(name)
    for (const problem of problems) addProblem(draft, path, problem)
    return text
  }
  draft.tree = walk(file.content ?? {}, [])
  return draft
}

/** Where the value at a place in the tree comes from: a place in the file, or a variable. */
const originOf = (draft: Draft, path: Path) => draft.origins.get(formatPath(path)) ?? path

/** The user's name for a place in the tree: its path in the file, or the variable that filled it. */
export function nameOf(draft: Draft, path: Path): string {
  const origin = originOf(draft, path)
  return typeof origin === 'string' ? origin : formatPath(origin) || draft.file.name
}

/** A problem at a place in the tree, as the user knows the place. */
export function problemAt(draft: Draft, path: Path, message: string): Problem {
  const origin = originOf(draft, path)
  const place = typeof origin === 'string' ? undefined : draft.file.placeOf(origin)
  return { path: nameOf(draft, path), ...(place !== undefined && { place }), message }
}

/** Adds a problem. */
export function addProblem(draft: Draft, path: Path, message: string): void {
  draft.problems.push(problemAt(draft, path, message))
}

/** Adds a value from elsewhere. From now on, the user knows the place as its origin: another place, or a variable. */
export function addValue(draft: Draft, path: Path, value: unknown, origin: Path | string): void {
  draft.tree = withValue(draft.tree, path, value)
  draft.origins.set(formatPath(path), origin)
}

/** The text in the file at a place whose value is interpolated. Only that text may be shown. */
export function templateAt(draft: Draft, path: Path): string | undefined {
  const text = valueAt(draft.file.content, path)
  return typeof text === 'string' && text.includes('${') ? text : undefined
}

/** The error for problems of the file. */
export function errorOf({ file, brought }: Draft, problems: readonly Problem[]): ConfigError {
  const isPassing = problems.every(({ path }) => brought.has(path))
  return new ConfigError(problems, { ...(file.isMissing !== true && { file: file.name }), isPassing })
}

const kinds: Record<string, string> = { object: 'a map', record: 'a map', array: 'a list' }

/**
 * Turns the schema's findings into sentences: what was found, then what was expected. Only this file does so. The message of
 * a scalar's finding is its expectation (scalars.ts); a cross-check supplies its whole sentence (section.ts).
 */
export function problemsOf(issues: readonly z.core.$ZodIssue[], draft: Draft): Problem[] {
  const reported = new Set(draft.problems.map(({ path }) => path))
  return issues.flatMap((issue) => {
    if (reported.has(nameOf(draft, issue.path))) return []
    if (issue.code !== 'unrecognized_keys') return [problemAt(draft, issue.path, sentenceOf(issue, draft))]
    // section.ts has written one line for each key.
    const messages = issue.message.split('\n')
    return issue.keys.map((key, index) =>
      problemAt(draft, [...issue.path, key.split(':')[0] ?? key], messages[index] ?? issue.message),
    )
  })
}

function sentenceOf(issue: z.core.$ZodIssue, draft: Draft): string {
  if (issue.code === 'custom' && issue.params?.['sentence'] === true) return issue.message
  const kind = issue.code === 'invalid_type' ? kinds[issue.expected] : undefined
  const value = valueAt(draft.tree, issue.path)
  return kind === undefined
    ? `${found(value, issue, draft)}; expected ${issue.message}`
    : `${foundKind(value)}; expected ${kind}`
}

/** Names the kind of a value without showing it, since any value may be a secret. */
function foundKind(value: unknown): string {
  if (value === undefined || value === null) return 'missing'
  if (Array.isArray(value)) return 'found a list'
  if (typeof value === 'object') return 'found a map'
  return typeof value === 'string' ? 'found a text' : `found a ${typeof value}`
}

function found(value: unknown, issue: z.core.$ZodIssue, draft: Draft): string {
  if (value === '') return 'found an empty text'
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return foundKind(value)
  const unquoted = typeof value !== 'string' && issue.code === 'invalid_type' && issue.expected === 'string'
  const how = unquoted ? ' without quotes' : ''
  if (isSecretPlace(issue.path)) return `found a value (hidden, it may be secret)${how}`
  const template = templateAt(draft, issue.path)
  if (template !== undefined) return `found \`${excerpt(template)}\` (value hidden, it may be secret)`
  return `found \`${excerpt(String(value))}\`${how}`
}

/** A value on one line, shortened, and without parts of an address that may be secret: user, password, query. */
function excerpt(value: string): string {
  const line = JSON.stringify(value).slice(1, -1)
  const safe = line
    .replace(/^(\w+:\/\/)\S*@/, '$1…@')
    .replace(/^[^\s:/]+:(?!\/\/)\S*@/, '…@')
    .replace(/(:\/\/[^?]*\?).*/, '$1…')
  return safe.length > 80 ? `${safe.slice(0, 79)}…` : safe
}
