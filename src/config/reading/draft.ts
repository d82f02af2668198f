import { formatPath, type Path } from '../../schema/path.ts'
import type { Problem } from '../config-error.ts'

/** A configuration in the making: the file's content while interpolation, environment and secrets are added. */
export type Draft = {
  /** Maps, lists and scalars, in the file's own form. */
  tree: unknown
  /** What was wrong so far; paths are the user's. */
  problems: readonly Problem[]
  /** Places in the tree that a problem already names. */
  reported: readonly string[]
  /** Places in the tree whose value is not from there in the file, and what the user calls them. */
  origins: ReadonlyMap<string, string>
  /** Places whose value came by interpolation, and the text before it. Only that text may be shown. */
  templates: ReadonlyMap<string, string>
}

/** How the user calls a place in the tree: by its path in the file or by the variable that filled it. */
export function nameOf(draft: Draft, path: Path): string {
  const place = formatPath(path)
  return draft.origins.get(place) ?? place
}

/** The draft with one more problem. */
export function withProblem(draft: Draft, path: Path, message: string): Draft {
  return {
    ...draft,
    problems: [...draft.problems, { path: nameOf(draft, path), message }],
    reported: [...draft.reported, formatPath(path)],
  }
}

/** The draft with a value from elsewhere. `origin` is what the user calls the place from now on. */
export function withOrigin(draft: Draft, path: Path, origin: string): Draft {
  return { ...draft, origins: new Map(draft.origins).set(formatPath(path), origin) }
}
