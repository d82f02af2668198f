import { isMap, valueAt, withValue, type Path, formatPath, placesOf } from '../../schema/path.ts'
import { variables, type Variable } from '../../schema/variables.ts'
import { configSchema } from '../config.ts'
import { addValue, type Draft } from './draft.ts'
import type { Environment } from './interpolate.ts'

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
 */
export function fillFromEnvironment(draft: Draft, env: Environment): void {
  for (const { path, meta } of others) fill(draft, path, meta, env, valueAt(draft.tree, path.slice(0, -1)))
  const targets = valueAt(draft.tree, ['targets'])
  if (targets === undefined || (Array.isArray(targets) && targets.length === 0)) return makeTarget(draft, env)
  // `app_id: ${CALLWATCH_APP_ID}` is no second target.
  if (env['CALLWATCH_APP_ID'] && !draft.names.has('CALLWATCH_APP_ID')) {
    const both = `\`CALLWATCH_APP_ID\` is set although ${draft.file.name} has \`targets\``
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
