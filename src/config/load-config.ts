import { configSchema, withCertificate, type Config } from './config.ts'
import { servedRules } from './shipped-rules.ts'
import { withOrigin, type Draft } from './reading/draft.ts'
import { fillFromEnvironment, type Environment } from './reading/environment.ts'
import { interpolate } from './reading/interpolate.ts'
import { parseDuration } from '../schema/duration-text.ts'
import { proxyProblems } from '../network/proxy-variables.ts'
import { valueAt, withValue } from '../schema/path.ts'
import { problemsOf } from './reading/problems-of.ts'
import { errorIn, readConfigFile, type ConfigFile } from './reading/read-config-file.ts'
import { readSecretFiles } from './reading/read-secret-files.ts'
import { readText as readFile, type ReadText } from './reading/read-text.ts'
import { readTlsFiles } from './reading/read-tls-files.ts'
import type { Certificate } from '../web/http-section.ts'

export type LoadConfigOptions = {
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
  const { env, cwd, readText = readFile } = options
  const file = readConfigFile(options)
  const { content, name, folder } = file
  const { draft, names } = interpolate(content, env)
  const filled = fillFromEnvironment(draft, env, name, names)
  const problems = [...filled.problems, ...proxyProblems(env)]
  const { draft: read, tls } = readTlsFiles(readSecretFiles({ ...filled, problems }, { file: folder, cwd, readText }), {
    folder,
    readText,
  })
  return check(withShippedRules(withOrigin(read, [], name)), tls, file)
}

function check(draft: Draft, tls: Certificate | undefined, file: ConfigFile): Config {
  const result = configSchema.safeParse(draft.tree)
  const problems = [...draft.problems, ...problemsOf(result.error?.issues ?? [], draft)]
  if (result.data === undefined || problems.length > 0) throw errorIn(file, problems)
  return withCertificate(result.data, tls)
}

/** A file without rules gets the shipped rules, if its `store.history` is long enough for them. */
function withShippedRules(draft: Draft): Draft {
  const history = valueAt(draft.tree, ['store', 'history'])
  const seconds = typeof history === 'string' ? parseDuration(history) : undefined
  if (seconds === undefined || valueAt(draft.tree, ['alerts']) !== undefined) return draft
  return { ...draft, tree: withValue(draft.tree, ['alerts'], servedRules(seconds)) }
}
