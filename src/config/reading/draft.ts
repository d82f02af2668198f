import { formatPath, type Path } from '../../schema/path.ts'
import type { Problem } from '../config-error.ts'

/** A configuration that is being built: the file's content, to which interpolation, environment and secrets are added. */
export type Draft = {
  /** Maps, lists and scalars, in the file's own form. */
  tree: unknown
  /** The problems so far, with paths as the user knows them. */
  problems: readonly Problem[]
  /** Places in the tree that already have a problem. */
  reported: readonly string[]
  /** Places in the tree whose value is not from that place in the file, and what the user calls them. */
  origins: ReadonlyMap<string, string>
  /** Places with an interpolated value, and the text before the interpolation. Only that text may be shown. */
  templates: ReadonlyMap<string, string>
}

/** The user's name for a place in the tree: its path in the file, or the variable that filled it. */
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

/** The draft with a value from elsewhere. From now on, the user knows the place as `origin`. */
export function withOrigin(draft: Draft, path: Path, origin: string): Draft {
  return { ...draft, origins: new Map(draft.origins).set(formatPath(path), origin) }
}
