import { dirname, resolve } from 'node:path'
import { ConfigError, type Problem } from '../config-error.ts'
import type { Environment } from './environment.ts'
import { fileProblem } from './file-problem.ts'
import { parseYaml, type YamlContent } from './parse-yaml.ts'
import { readAnyText, type ReadText } from './read-text.ts'

const defaultFile = 'callwatch.yaml'

/** A file's content, how the user named the file, and the file's folder. */
export type ConfigFile = YamlContent & { name: string; folder: string; isMissing?: true }

/**
 * Reads the file that `--config` names, otherwise the file of CALLWATCH_CONFIG, otherwise ./callwatch.yaml if it exists.
 * Otherwise the content is empty, and only the environment counts.
 *
 * @throws ConfigError if a named file cannot be read, or the file is not YAML
 */
export function readConfigFile(options: {
  file?: string
  env: Environment
  cwd: string
  readConfig?: ReadText
  /** The option that names the file, and what kind of file is expected. */
  option?: string
  expected?: string
}): ConfigFile {
  const { file, env, cwd, readConfig = readAnyText, option = '--config', expected = 'a configuration file' } = options
  const name = file ?? (env['CALLWATCH_CONFIG'] || defaultFile)
  const path = resolve(cwd, name)
  let source: string
  try {
    source = readConfig(path)
  } catch (error) {
    const problem = fileProblem(error)
    const named = file === undefined ? (env['CALLWATCH_CONFIG'] ? 'CALLWATCH_CONFIG' : undefined) : option
    if (named === undefined && problem === 'does not exist')
      return { content: null, placeOf: () => undefined, name, folder: cwd, isMissing: true }
    throw new ConfigError([
      { path: named ?? name, message: `the file \`${name}\` ${problem}; expected ${expected} in YAML` },
    ])
  }
  return { ...parseYaml(source, name), name, folder: dirname(path) }
}

/** The error for problems of a file, each with its place. */
export function errorIn({ isMissing, name, placeOf }: ConfigFile, problems: readonly Problem[]): ConfigError {
  const placed = problems.map((problem) => {
    const place = placeOf(problem.path)
    return place === undefined ? problem : { ...problem, place }
  })
  return new ConfigError(placed, isMissing === true ? undefined : name)
}
