import type { Environment } from './environment.ts'
import { withProblem, type Draft } from './draft.ts'
import { formatPath, isMap, type Path } from '../../schema/path.ts'

// `$${` comes first: it stands for a plain `${`. A `${` without an end matches as well, as a mistake.
const reference = /\$\$\{|\$\{([^}]*)(\}?)/g
const variableName = /^[A-Za-z_]\w*$/

/**
 * Replaces `${NAME}` in all texts of the file by variables of the environment. A missing or empty variable is a problem at
 * that place. `$${` stands for `${`. Values of variables are not interpolated again. A key without a value (YAML's null)
 * counts as omitted.
 *
 * @param content maps, lists and scalars, as YAML returns them
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
