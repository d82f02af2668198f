import { isDeepStrictEqual } from 'node:util'
import { parseDuration } from '../schema/duration-text.ts'
import { proxyProblems } from '../network/proxy-variables.ts'
import { valueAt, withValue } from '../schema/path.ts'
import { configSchema, withCertificate, type Config } from './config.ts'
import { servedRules } from './shipped-rules.ts'
import { type Draft, problemsOf } from './reading/draft.ts'
import { fillFromEnvironment, type Environment, interpolate } from './reading/environment.ts'
import { errorIn, readConfigFile } from './reading/read-config-file.ts'
import { checkVariables } from './reading/unknown-variables.ts'
import { readSecretFiles, readTlsFiles } from './reading/read-named-files.ts'
import { isReadOnce, readAnyText, readText, type ReadText } from './reading/read-text.ts'

type LoadConfigOptions = {
  /** The value of `--config`. */
  file?: string
  env: Environment
  /** The folder at which relative names from the command line and the environment start. */
  cwd: string
  /** Reads the files of secrets and certificates. */
  readText?: ReadText
  /** Reads the configuration file. */
  readConfig?: ReadText
}

/**
 * Reads, completes and checks the configuration. Nothing else in the program reads the environment or the file.
 *
 * @throws ConfigError with all problems at once, none of them with a secret in it. If the file's syntax is wrong, only with
 *   those mistakes, because nothing else can be checked then.
 */
export function loadConfig(options: LoadConfigOptions): Config {
  const { env, cwd, readText: read = readText } = options
  const file = readConfigFile(options)
  const { content, name, folder } = file
  const draft = interpolate(content, env)
  fillFromEnvironment(draft, env, name)
  draft.problems.push(...proxyProblems(env))
  const unknownVariables = checkVariables(draft, env)
  const folders = { file: folder, cwd, readText: read }
  readSecretFiles(draft, folders)
  const tls = readTlsFiles(draft, folders)
  addShippedRules(draft)
  draft.origins.set('', name)
  const result = configSchema.safeParse(draft.tree)
  const problems = [...draft.problems, ...problemsOf(result.error?.issues ?? [], draft)]
  if (result.data === undefined || problems.length > 0) throw errorIn(file, problems, draft.brought)
  return { ...withCertificate(result.data, tls), ...(unknownVariables.length > 0 && { unknownVariables }) }
}

/** A file without rules gets the shipped rules, if its `store.history` is long enough for them. */
function addShippedRules(draft: Draft): void {
  const history = valueAt(draft.tree, ['store', 'history'])
  const seconds = typeof history === 'string' ? parseDuration(history) : undefined
  if (seconds !== undefined && valueAt(draft.tree, ['alerts']) === undefined)
    draft.tree = withValue(draft.tree, ['alerts'], servedRules(seconds))
}

/**
 * Loads the configuration each time it is called, but checks it again only if one of its files has changed. Reading the files
 * takes a fraction of a millisecond. A configuration that is no regular file, such as `<(…)`, is read once and never changes.
 *
 * @returns the same configuration, or throws the same ConfigError, until a file changes
 */
export function repeatedLoad(options: LoadConfigOptions): () => Config {
  const once = new Map<string, string>()
  let latest: Loaded | undefined
  const readConfig: ReadText = (path) => {
    const known = once.get(path)
    if (known !== undefined) return known
    // If a pipe replaces the file while the daemon runs, it must not block everything.
    if (latest !== undefined || !isReadOnce(path)) return readText(path)
    const text = readAnyText(path)
    once.set(path, text)
    return text
  }
  return () => {
    const isSame = latest?.files.every(({ read, text }) => isDeepStrictEqual(tried(read), text))
    if (latest === undefined || isSame === false) latest = load({ ...options, readConfig })
    return resultOf(latest.config)
  }
}

/** A configuration, and the text of each of its files when it was loaded. */
type Loaded = { files: { read: () => string; text: Tried<string> }[]; config: Tried<Config> }

function load(options: LoadConfigOptions & { readConfig: ReadText }): Loaded {
  const files: Loaded['files'] = []
  const noting =
    (read: ReadText): ReadText =>
    (path) => {
      const file = () => read(path)
      const text = tried(file)
      files.push({ read: file, text })
      return resultOf(text)
    }
  const noted = { ...options, readText: noting(readText), readConfig: noting(options.readConfig) }
  const config = tried(() => loadConfig(noted))
  return { files, config }
}

/** What work has returned or thrown. */
type Tried<T> = { value: T } | { error: unknown }

function tried<T>(work: () => T): Tried<T> {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}

function resultOf<T>(outcome: Tried<T>): T {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
