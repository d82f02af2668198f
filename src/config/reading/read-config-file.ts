import { dirname, resolve } from 'node:path'
import { ConfigError } from '../config-error.ts'
import type { Environment } from './interpolate.ts'
import { parseYaml, type YamlContent } from './parse-yaml.ts'
import { readAnyText, type ReadText } from './read-text.ts'

const defaultFile = 'callwatch.yaml'

/** A file's content, how the user named the file, and the file's folder. */
export type ConfigFile = YamlContent & { name: string; folder: string; isMissing?: true }

/** Where the file is, and how the user named it. */
export type NamedFile = {
  /** The value of `--config`. */
  file?: string
  env: Environment
  /** The folder at which relative names from the command line and the environment start. */
  cwd: string
  readConfig?: ReadText
  /** The option that names the file, and what kind of file is expected. */
  option?: string
  expected?: string
}

/**
 * Reads the file that `--config` names, otherwise the file of CALLWATCH_CONFIG, otherwise ./callwatch.yaml if it exists.
 * Otherwise the content is empty, and only the environment counts.
 *
 * @throws ConfigError if a named file cannot be read, or the file is not YAML
 */
export function readConfigFile(options: NamedFile): ConfigFile {
  const { file, env, cwd, readConfig = readAnyText, option = '--config', expected = 'a configuration file' } = options
  const name = file ?? (env['CALLWATCH_CONFIG'] || defaultFile)
  const path = resolve(cwd, name)
  const reading = readConfig(path)
  if ('text' in reading) return { ...parseYaml(reading.text, name), name, folder: dirname(path) }
  const named = file === undefined ? (env['CALLWATCH_CONFIG'] ? 'CALLWATCH_CONFIG' : undefined) : option
  if (named === undefined && reading.problem === 'does not exist') return noFile(name, cwd)
  const message = `the file \`${name}\` ${reading.problem}; expected ${expected} in YAML`
  throw new ConfigError([{ path: named ?? name, message }], { isPassing: true })
}

/** What counts as the file if there is none. */
export function noFile(name: string, folder: string): ConfigFile {
  return { content: null, placeOf: () => undefined, name, folder, isMissing: true }
}
