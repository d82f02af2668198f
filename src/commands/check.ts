import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { maskConfig, maskedTree } from '../config/mask-config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { maskSecrets } from '../daemon/mask-secrets.ts'
import { probe, type Probe } from './probe.ts'

export type CheckOptions = {
  /** Whether to ask each target's service for one page. */
  probe: boolean
  /** Whether to print one JSON document in place of a file with comments. */
  json: boolean
}

/**
 * Prints the configuration with its secrets masked, and with `probe` what each target's service said. As JSON it is
 * printed also where the configuration is invalid.
 *
 * @param load reads the configuration
 * @returns whether every probe succeeded
 * @throws {ConfigError}
 */
export async function check(
  load: () => Config,
  options: CheckOptions,
  print: (line: string) => void,
): Promise<boolean> {
  return options.json ? checkAsJson(load, options, print) : checkAsText(load(), options, print)
}

async function checkAsText(config: Config, { probe }: CheckOptions, print: (line: string) => void): Promise<boolean> {
  print(maskConfig(config).trimEnd())
  if (!probe) return true
  let good = true
  for await (const { target, works, message, warnings } of probesOf(config)) {
    good &&= works
    print(`# ${target}: ${message}`)
    for (const warning of warnings) print(`# ${target}: warning: ${warning.message}`)
  }
  return good
}

async function checkAsJson(
  load: () => Config,
  { probe }: CheckOptions,
  print: (line: string) => void,
): Promise<boolean> {
  const printJson = (document: object) => print(JSON.stringify(document, undefined, 2))
  let config: Config
  try {
    config = load()
  } catch (error) {
    if (error instanceof ConfigError) printJson({ valid: false, problems: error.problems })
    throw error
  }
  const probes = probe ? await Array.fromAsync(probesOf(config)) : undefined
  printJson({ valid: true, config: maskedTree(config), ...(probes && { probes }) })
  return probes?.every(({ works }) => works) ?? true
}

/** One after the other, in the order of the configuration. */
async function* probesOf(config: Config): AsyncGenerator<Probe> {
  const mask = maskSecrets(secretsOf(config))
  for (const target of config.targets) {
    const { message, ...probed } = await probe(target, config.poll)
    // A service may repeat the key in what it says, spelled in any way.
    yield { ...probed, message: mask(message) }
  }
}
