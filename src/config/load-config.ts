import { isDeepStrictEqual } from 'node:util'
import { parseDuration } from '../schema/duration-text.ts'
import { proxyProblems } from '../network/proxy-variables.ts'
import { valueAt, withValue } from '../schema/path.ts'
import { configSchema, withCertificate, type Config } from './config.ts'
import { servedRules } from './shipped-rules.ts'
import { type Draft, draftOf, errorOf, problemsOf } from './reading/draft.ts'
import { fillFromEnvironment } from './reading/environment.ts'
import type { Environment } from './reading/interpolate.ts'
import { readConfigFile } from './reading/read-config-file.ts'
import { checkVariables } from './reading/unknown-variables.ts'
import { readSecretFiles, readTlsFiles } from './reading/read-named-files.ts'
import { readAnyText, readText, type Reading, type ReadText } from './reading/read-text.ts'

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
  const draft = draftOf(readConfigFile(options), env)
  fillFromEnvironment(draft, env)
  draft.problems.push(...proxyProblems(env))
  const unknownVariables = checkVariables(draft, env)
  readSecretFiles(draft, { cwd, readText: read })
  const tls = readTlsFiles(draft, { cwd, readText: read })
  addShippedRules(draft)
  const result = configSchema.safeParse(draft.tree)
  const problems = [...draft.problems, ...problemsOf(result.error?.issues ?? [], draft)]
  if (result.data === undefined || problems.length > 0) throw errorOf(draft, problems)
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
  let pipe: Reading | undefined
  let files: { read: ReadText; path: string; reading: Reading }[] = []
  let latest: { config: Config } | { error: unknown } | undefined
  const readConfig: ReadText = (path) => {
    if (pipe !== undefined) return pipe
    // If a pipe replaces the file while the daemon runs, it must not block everything.
    const reading = latest === undefined ? readAnyText(path) : readText(path)
    if ('text' in reading && reading.isPipe) pipe = reading
    return reading
  }
  const noting =
    (read: ReadText): ReadText =>
    (path) => {
      const reading = read(path)
      files.push({ read, path, reading })
      return reading
    }
  const load = () => {
    files = []
    try {
      return { config: loadConfig({ ...options, readText: noting(readText), readConfig: noting(readConfig) }) }
    } catch (error) {
      return { error }
    }
  }
  return () => {
    const isSame = files.every(({ read, path, reading }) => isDeepStrictEqual(read(path), reading))
    if (latest === undefined || !isSame) latest = load()
    if ('error' in latest) throw latest.error
    return latest.config
  }
}
