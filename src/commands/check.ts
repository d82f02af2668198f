import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { maskConfig, maskedTree } from '../config/mask-config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { maskSecrets } from '../daemon/mask-secrets.ts'
import { readAddress } from '../store/postgres/address.ts'
import { probeStore } from '../store/open-store.ts'
import { StoreError } from '../store/store.ts'
import { probe, type Probe } from './probe.ts'

export type CheckOptions = {
  /** Whether to ask each target's service for one page, and to connect to a shared store. */
  probe: boolean
  /** Whether to print one JSON document in place of a file with comments. */
  json: boolean
}

/**
 * Prints the configuration with its secrets masked, and with `probe` what each target's service said, and a shared
 * store. As JSON it is printed also where the configuration is invalid.
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
  const checked = () => withAddress(load())
  return options.json ? checkAsJson(checked, options, print) : checkAsText(checked(), options, print)
}

/** @throws {ConfigError} where nobody could connect to what `store.url` says */
function withAddress(config: Config): Config {
  try {
    if ('url' in config.store) readAddress(config.store.url)
    return config
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new ConfigError([{ path: 'store.url', message: error.message.replace(/^store\.url /, '') }])
  }
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
  const store = await probeStore(config.store)
  if (store !== undefined) print(`# store: ${store.message}`)
  return good && store?.works !== false
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
  const document = { valid: true, config: maskedTree(config) }
  if (!probe) {
    printJson(document)
    return true
  }
  const [probes, store] = [await Array.fromAsync(probesOf(config)), await probeStore(config.store)]
  printJson({ ...document, probes, ...(store && { store }) })
  return probes.every(({ works }) => works) && store?.works !== false
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
