import type { Environment } from './environment.ts'
import { withProblem, type Draft } from './draft.ts'
import { formatPath, isMap, type Path } from '../../schema/path.ts'

// `$${` first: it means a plain `${`. A `${` that never closes matches too, as a mistake.
const reference = /\$\$\{|\$\{([^}]*)(\}?)/g
const variableName = /^[A-Za-z_]\w*$/

/**
 * Replaces `${NAME}` in every text of the file from the environment. A variable that is missing or empty is a problem
 * at its place. `$${` means `${`. What comes from a variable is not interpolated again. A key without a value
 * (YAML's null) counts as left out.
 *
 * @param content maps, lists and scalars, as YAML gives them
 */
export function interpolate(content: unknown, env: Environment): { draft: Draft; names: ReadonlySet<string> } {
  const templates = new Map<string, string>()
  const names = new Set<string>()
  const mistakes: { path: Path; message: string }[] = []

  const replaceIn = (template: string, path: Path): string =>
    template.replaceAll(reference, (whole: string, name: string | undefined, end: string | undefined) => {
      if (name === undefined) return '${'
      templates.set(formatPath(path), template)
      if (end === '' || !variableName.test(name)) {
        mistakes.push({
          path,
          message: 'found `${` without a name and `}`; expected `${NAME}`, or `$${` for a plain `${`',
        })
        return whole
      }
      names.add(name)
      const value = env[name]
      if (value !== undefined && value !== '') return value
      const state = value === undefined ? 'not set' : 'empty'
      mistakes.push({ path, message: `the environment variable \`${name}\` is ${state}; expected a value for it` })
      return whole
    })

  const walk = (node: unknown, path: Path): unknown => {
    if (typeof node === 'string') return replaceIn(node, path)
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]))
    if (!isMap(node)) return node
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, walk(value ?? undefined, [...path, key])]),
    )
  }

  const tree = walk(content ?? {}, [])
  const start: Draft = { tree, problems: [], reported: [], origins: new Map(), templates }
  return { draft: mistakes.reduce((draft, { path, message }) => withProblem(draft, path, message), start), names }
}
