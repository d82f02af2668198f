import type { z } from 'zod'
import { formatPath, type Path, valueAt, withValue } from '../../schema/path.ts'
import type { Problem } from '../config-error.ts'
import { isSecretPlace } from '../secrets.ts'

/** A configuration that is being built: the file's content, to which each step adds values and problems. */
export type Draft = {
  /** Maps, lists and scalars, in the file's own form. */
  tree: unknown
  /** The problems so far, with paths as the user knows them. */
  readonly problems: Problem[]
  /** Places in the tree that already have a problem. */
  readonly reported: Set<string>
  /** Places in the tree whose value is not from that place in the file, and what the user calls them. */
  readonly origins: Map<string, string>
  /** The names of places whose value is, or would be, the content of a file of its own. */
  readonly brought: Set<string>
  /** Places with an interpolated value, and the text before the interpolation. Only that text may be shown. */
  readonly templates: ReadonlyMap<string, string>
  /** The variables that the file refers to. */
  readonly names: ReadonlySet<string>
}

/** The user's name for a place in the tree: its path in the file, or the variable that filled it. */
export function nameOf(draft: Draft, path: Path): string {
  const place = formatPath(path)
  return draft.origins.get(place) ?? place
}

/** Adds a problem. */
export function addProblem(draft: Draft, path: Path, message: string): void {
  draft.problems.push({ path: nameOf(draft, path), message })
  draft.reported.add(formatPath(path))
}

/** Adds a value from elsewhere. From now on, the user knows the place as `origin`. */
export function addValue(draft: Draft, path: Path, value: unknown, origin: string): void {
  draft.tree = withValue(draft.tree, path, value)
  draft.origins.set(formatPath(path), origin)
}

const kinds: Record<string, string> = { object: 'a map', record: 'a map', array: 'a list' }

/**
 * Turns the schema's findings into sentences: what was found, then what was expected. Only this file does so. The message of
 * a scalar's finding is its expectation (scalars.ts); a cross-check supplies its whole sentence (section.ts).
 */
export function problemsOf(issues: readonly z.core.$ZodIssue[], draft: Draft): Problem[] {
  return issues.flatMap((issue) => {
    if (draft.reported.has(formatPath(issue.path))) return []
    return issue.code === 'unrecognized_keys' ? unknownKeys(issue, draft) : [problemOfIssue(issue, draft)]
  })
}

function problemOfIssue(issue: z.core.$ZodIssue, draft: Draft): Problem {
  const path = nameOf(draft, issue.path)
  if (issue.code === 'custom' && issue.params?.['sentence'] === true) return { path, message: issue.message }
  const kind = issue.code === 'invalid_type' ? kinds[issue.expected] : undefined
  const value = valueAt(draft.tree, issue.path)
  if (kind !== undefined) return { path, message: `${foundKind(value)}; expected ${kind}` }
  return { path, message: `${found(value, issue, draft)}; expected ${issue.message}` }
}

/** One problem per key. section.ts has written one line for each. */
function unknownKeys(issue: z.core.$ZodIssueUnrecognizedKeys, draft: Draft): Problem[] {
  const messages = issue.message.split('\n')
  return issue.keys.map((key, index) => {
    const path = nameOf(draft, [...issue.path, key.split(':')[0] ?? key])
    return { path, message: messages[index] ?? issue.message }
  })
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
  const template = draft.templates.get(formatPath(issue.path))
  if (template !== undefined) return `found \`${excerpt(template)}\` (value hidden, it may be secret)`
  return `found \`${excerpt(String(value))}\`${how}`
}

/** A value on one line, shortened, and without parts of an address that may be secret: user, password, query. */
function excerpt(value: string): string {
  const line = JSON.stringify(value).slice(1, -1)
  const safe = line.replace(/\/\/[^/]*@/, '//…@').replace(/(:\/\/[^?]*\?).*/, '$1…')
  return safe.length > 80 ? `${safe.slice(0, 79)}…` : safe
}
