import { isMap, valueAt, withValue, type Path, formatPath, placesOf } from '../../schema/path.ts'
import { variables, type Variable } from '../../schema/variables.ts'
import { configSchema } from '../config.ts'
import type { Problem } from '../config-error.ts'
import { addValue, type Draft } from './draft.ts'

/** Variables by name, as in `process.env`. An empty variable counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

const all = placesOf(configSchema, variables)
/** The variables that callwatch knows by itself. */
export const VARIABLES = [...new Set(all.map(({ meta }) => meta.name)), 'CALLWATCH_CONFIG']
const ofTargets = all.filter(({ path }) => path[0] === 'targets')
// For items of other lists it is unknown whose secret it is. Variables that make another one superfluous come first.
const others = all
  .filter(({ path }) => !path.includes('*'))
  .toSorted((a, b) => Number('unless' in a.meta) - Number('unless' in b.meta))

/**
 * Adds what the file omits from the environment. If the file has no targets, the variables define one. If it has one target,
 * they add what that target omits. If it has several, they add nothing, because it is unknown whose key it is.
 *
 * @param fileName how the user named the file
 */
export function fillFromEnvironment(draft: Draft, env: Environment, fileName: string): void {
  for (const { path, meta } of others) fill(draft, path, meta, env, valueAt(draft.tree, path.slice(0, -1)))
  const targets = valueAt(draft.tree, ['targets'])
  if (targets === undefined || (Array.isArray(targets) && targets.length === 0)) return makeTarget(draft, env)
  // `app_id: ${CALLWATCH_APP_ID}` is no second target.
  if (env['CALLWATCH_APP_ID'] && !draft.names.has('CALLWATCH_APP_ID')) {
    const both = `\`CALLWATCH_APP_ID\` is set although ${fileName} has \`targets\``
    const message = `${both}; expected the target in one place: unset the variable, or remove \`targets\` from the file`
    draft.problems.push({ path: 'CALLWATCH_APP_ID', message })
  } else if (Array.isArray(targets) && targets.length === 1 && isMap(targets[0]))
    for (const { path, meta } of ofTargets) fill(draft, inFirst(path), meta, env, targets[0])
}

function makeTarget(draft: Draft, env: Environment): void {
  const given = ofTargets.filter(({ meta }) => env[meta.name])
  if (given.length === 0) return
  const target = Object.fromEntries(given.map(({ path, meta }) => [path.at(-1), env[meta.name]]))
  draft.tree = withValue(draft.tree, ['targets'], [target])
  for (const { path, meta } of ofTargets) draft.origins.set(formatPath(inFirst(path)), meta.name)
}

/** Replaces the place of any target by that of the first target. */
function inFirst(path: readonly string[]): Path {
  return path.map((part) => (part === '*' ? 0 : part))
}

/** @param section is searched for keys that make the variable superfluous */
function fill(draft: Draft, path: Path, { name, unless = [] }: Variable, env: Environment, section: unknown): void {
  const inFile = [path, [...path.slice(0, -1), `${String(path.at(-1))}_file`]]
  const isGiven = inFile.some((one) => valueAt(draft.tree, one) !== undefined)
  const isSuperfluous = unless.some((key) => valueAt(section, [key]) !== undefined)
  if (env[name] && !isGiven && !isSuperfluous) addValue(draft, path, env[name], name)
}

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
export function interpolate(content: unknown, env: Environment): Draft {
  const templates = new Map<string, string>()
  const names = new Set<string>()
  const problems: Problem[] = []

  const replaceIn = (template: string, path: Path): string =>
    template.replaceAll(reference, (whole: string, name: string | undefined, end: string | undefined) => {
      if (name === undefined) return '${'
      const refuse = (message: string) => {
        problems.push({ path: formatPath(path), message })
        return whole
      }
      templates.set(formatPath(path), template)
      if (end === '' || !variableName.test(name))
        return refuse('found `${` without a name and `}`; expected `${NAME}`, or `$${` for a plain `${`')
      names.add(name)
      const state = env[name] === undefined ? 'not set' : 'empty'
      return env[name] || refuse(`the environment variable \`${name}\` is ${state}; expected a value for it`)
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
  const reported = new Set(problems.map(({ path }) => path))
  return { tree, problems, reported, origins: new Map(), brought: new Set(), templates, names }
}
