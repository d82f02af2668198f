import { configSchema, withCertificate, type Config } from './config.ts'
import { ConfigError } from './config-error.ts'
import { defaultRules } from '../alerts/default-rules.ts'
import { withOrigin, type Draft } from './reading/draft.ts'
import { fillFromEnvironment, type Environment } from './reading/environment.ts'
import { interpolate } from './reading/interpolate.ts'
import { valueAt } from '../schema/path.ts'
import { problemsOf } from './reading/problems-of.ts'
import { readConfigFile, type ConfigFile } from './reading/read-config-file.ts'
import { readSecretFiles } from './reading/read-secret-files.ts'
import { readText as readFile, type ReadText } from './reading/read-text.ts'
import { readTlsFiles } from './reading/read-tls-files.ts'
import type { Certificate } from '../web/http-section.ts'

export type LoadOptions = {
  /** The value of `--config`. */
  file?: string
  env: Environment
  /** Where relative names from the command line and the environment start. */
  cwd: string
  /** Reads the files of secrets and certificates. */
  readText?: ReadText
  /** Reads the configuration file. */
  readConfig?: ReadText
}

/**
 * Reads, completes and checks the configuration. Nothing else in the program reads the environment or the file.
 *
 * @throws ConfigError with every problem at once, none of them with a secret in it; mistakes in the file's syntax alone,
 *   since nothing can be said about the rest then
 */
export function loadConfig(options: LoadOptions): Config {
  const { env, cwd, readText = readFile } = options
  const file = readConfigFile(options)
  const { content, name, folder } = file
  const { draft, names } = interpolate(content, env)
  const filled = fillFromEnvironment(draft, env, name, names)
  const { draft: read, tls } = readTlsFiles(readSecretFiles(filled, { file: folder, cwd, readText }), {
    folder,
    readText,
  })
  return check(nameDefaults(read, name), tls, file)
}

function check(draft: Draft, tls: Certificate | undefined, { content, name, placeOf }: ConfigFile): Config {
  const result = configSchema.safeParse(draft.tree)
  const problems = [...draft.problems, ...problemsOf(result.error?.issues ?? [], draft)]
  if (result.data === undefined || problems.length > 0) {
    const placed = problems.map((problem) => {
      const place = placeOf(problem.path)
      return place === undefined ? problem : { ...problem, place }
    })
    throw new ConfigError(placed, content === null ? undefined : name)
  }
  return withCertificate(result.data, tls)
}

/** What is not in the file gets a name that the user knows. */
function nameDefaults(draft: Draft, fileName: string): Draft {
  const named = withOrigin(draft, [], fileName)
  if (valueAt(draft.tree, ['alerts']) !== undefined) return named
  const lengths = defaultRules.flatMap((_, i) => [
    ['alerts', i, 'window'],
    ['alerts', i, 'only_if', 'offset'],
  ])
  return lengths.reduce((next, path) => withOrigin(next, path, 'store.history'), named)
}
