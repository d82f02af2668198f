import { withOrigin, type Draft } from './draft.ts'
import { isMap, valueAt, withValue, type Path } from '../path.ts'

/** Variables by name, as in `process.env`. An empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

const settings: readonly (readonly [variable: string, path: Path])[] = [
  ['CALLWATCH_POLL_INTERVAL', ['poll', 'interval']],
  ['CALLWATCH_STORE_URL', ['store', 'url']],
  ['CALLWATCH_STORE_PATH', ['store', 'path']],
  ['CALLWATCH_HTTP_HOST', ['http', 'host']],
  ['CALLWATCH_HTTP_PORT', ['http', 'port']],
  ['CALLWATCH_LOG_LEVEL', ['log', 'level']],
  ['SLACK_WEBHOOK_URL', ['notify', 'slack', 'webhook_url']],
]

const targetSettings = {
  CALLWATCH_APP_ID: 'app_id',
  CALLWATCH_REGION: 'region',
  CALLWATCH_BASE_URL: 'base_url',
  CALLWATCH_API_KEY: 'api_key',
  CALLWATCH_API_KEY_FILE: 'api_key_file',
  CALLWATCH_ON_BEHALF_OF: 'on_behalf_of',
} as const

/** Keys of a target in the file that make a variable superfluous, besides the one that it fills and its `_file`. */
const givenOtherwise: Readonly<Record<string, readonly string[]>> = {
  region: ['base_url'],
  base_url: ['region', 'domain'],
  api_key_file: ['api_key'],
}

/**
 * Fills what the file leaves out from the environment. With no targets in the file the variables make one. Beside a
 * single target they fill what that one leaves out; beside several nothing, because nobody can tell whose key it is.
 *
 * @param fileName what the user calls the file
 * @param interpolated variables that the file itself refers to: `app_id: ${CALLWATCH_APP_ID}` is no second target
 */
export function fillFromEnvironment(
  draft: Draft,
  env: Environment,
  fileName: string,
  interpolated: ReadonlySet<string>,
): Draft {
  const filled = settings.reduce((next, [variable, path]) => {
    return isSuperfluous(next, variable) ? next : fill(next, path, variable, env[variable])
  }, draft)
  const targets = valueAt(filled.tree, ['targets'])
  if (targets === undefined || (Array.isArray(targets) && targets.length === 0)) return makeTarget(filled, env)
  if (env['CALLWATCH_APP_ID'] && !interpolated.has('CALLWATCH_APP_ID')) {
    const both = `\`CALLWATCH_APP_ID\` is set although ${fileName} has \`targets\``
    const message = `${both}; expected the target in one place: unset the variable, or remove \`targets\` from the file`
    const problem = { path: 'CALLWATCH_APP_ID', message }
    return { ...filled, problems: [...filled.problems, problem] }
  }
  return Array.isArray(targets) && targets.length === 1 ? fillTarget(filled, env, targets[0]) : filled
}

/** A container's image sets a path for whoever says nothing; whoever names a database has said something. */
function isSuperfluous({ tree }: Draft, variable: string): boolean {
  if (variable !== 'CALLWATCH_STORE_PATH') return false
  return ['url', 'url_file'].some((key) => valueAt(tree, ['store', key]) !== undefined)
}

function makeTarget(draft: Draft, env: Environment): Draft {
  const variables = Object.entries(targetSettings)
  const given = variables.filter(([variable]) => env[variable])
  if (given.length === 0) return draft
  const target = Object.fromEntries(given.map(([variable, key]) => [key, env[variable]]))
  const made = { ...draft, tree: withValue(draft.tree, ['targets'], [target]) }
  return variables.reduce((next, [variable, key]) => withOrigin(next, ['targets', 0, key], variable), made)
}

function fillTarget(draft: Draft, env: Environment, target: unknown): Draft {
  if (!isMap(target)) return draft
  return Object.entries(targetSettings).reduce((next, [variable, key]) => {
    const superfluous = givenOtherwise[key]?.some((other) => target[other] !== undefined)
    return superfluous ? next : fill(next, ['targets', 0, key], variable, env[variable])
  }, draft)
}

function fill(draft: Draft, path: Path, variable: string, value: string | undefined): Draft {
  const inFile = [path, [...path.slice(0, -1), `${String(path.at(-1))}_file`]]
  if (!value || inFile.some((place) => valueAt(draft.tree, place) !== undefined)) return draft
  return withOrigin({ ...draft, tree: withValue(draft.tree, path, value) }, path, variable)
}
