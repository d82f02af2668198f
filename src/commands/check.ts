import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { secretsOf } from '../config/secrets.ts'
import { maskConfig, maskedTree } from '../config/mask-config.ts'
import { configWarnings } from '../config/warnings.ts'
import { maskSecrets } from '../log/mask-secrets.ts'
import { readAddress } from '../store/postgres/address.ts'
import { StoreError } from '../store/store-error.ts'
import type { Exchange } from '../service/exchange.ts'
import { Option, type CommandContext, type Declare } from './command.ts'
import type { CheckView, Probe } from '../views/check.ts'

type CheckOptions = { probe: boolean; store: boolean; print?: boolean; target?: string; record?: string }

/**
 * Prints the configuration with its secrets masked, and the results of the probes. Succeeds if everything is valid. Prints
 * JSON for an invalid configuration too.
 */
export const declare: Declare = (command, { loader, print, succeed }) =>
  void command
    .option('--probe', 'also send up to ten requests to each target, and connect to a shared store', false)
    .option('--target <name>', 'probe only this target')
    .addOption(new Option('--record <file>', 'probe, and write the answers to it, anonymous').implies({ probe: true }))
    .option('--print', 'with --probe, print the configuration as well', false)
    .option('--store', 'also check the whole store for damage, or connect to a shared one', false)
    .option('--json', 'print the configuration, its problems and what was found as JSON', false)
    .action(async (options) => {
      const load = await loader(options)
      const checked = () => withAddress(load())
      succeed(await (options.json ? checkAsJson(checked, options, print) : checkAsText(checked(), options, print)))
    })

/** @throws {ConfigError} if `store.url` is not the address of a PostgreSQL database */
function withAddress(config: Config): Config {
  try {
    if ('url' in config.store) readAddress(config.store.url)
    return config
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new ConfigError([{ path: 'store.url', message: error.message.replace(/^store\.url /, '') }])
  }
}

/** The configuration is long: with probes it is printed only on demand, after their results. */
async function checkAsText(config: Config, options: CheckOptions, print: CommandContext['print']): Promise<boolean> {
  const good = await printProbes(config, options, print)
  for (const warning of configWarnings(config)) print(`# warning: ${warning}`)
  if (!options.probe || options.print === true) print(maskConfig(config).trimEnd())
  return good
}

/** One line per target and for a shared store, then the warnings. */
async function printProbes(config: Config, options: CheckOptions, print: CommandContext['print']): Promise<boolean> {
  const printVerdict = (name: string, { works, message }: { works: boolean; message: string }) =>
    print(`${works ? '✓' : '✗'} ${name}: ${message}`, works ? 'green' : 'red')
  const probes: Probe[] = []
  for await (const result of probesOf(config, options)) {
    probes.push(result)
    printVerdict(result.target, result)
    for (const { check, result: is, message } of result.findings ?? []) {
      print(`  ${is === 'ok' ? '✓' : '!'} ${check.replaceAll('_', ' ')}: ${message}`, is === 'ok' ? 'green' : 'yellow')
    }
    if (result.recording !== undefined) {
      const { file, answers, replaced } = result.recording
      const counts = Object.entries(replaced).map(([kind, count]) => `${count} ${kind}`)
      print(`# ${file} has ${answers} answers; replaced or shifted: ${counts.join(', ')}`)
    }
  }
  const store = await storeProbeOf(config, options)
  if (store !== undefined) printVerdict('store', store)
  for (const { target, warnings } of probes) {
    for (const { message } of warnings) print(`# ${target}: warning: ${message}`)
  }
  const all = [...probes, ...(store === undefined ? [] : [store])]
  const failed = all.filter(({ works }) => !works).length
  if (options.probe) print(`${all.length - failed} ✓ ${failed} ✗`, 'bold')
  return failed === 0
}

async function checkAsJson(load: () => Config, options: CheckOptions, print: (line: string) => void): Promise<boolean> {
  const printJson = (document: CheckView) => print(JSON.stringify(document, undefined, 2))
  let config: Config
  try {
    config = load()
  } catch (error) {
    if (error instanceof ConfigError) printJson({ valid: false, problems: [...error.problems] })
    throw error
  }
  const document: CheckView = { valid: true, warnings: configWarnings(config), config: maskedTree(config) }
  const [probes, store] = [await Array.fromAsync(probesOf(config, options)), await storeProbeOf(config, options)]
  printJson({ ...document, ...(options.probe && { probes }), ...(store && { store }) })
  return probes.every(({ works }) => works) && store?.works !== false
}

/** Probes one target after the other, in the order of the configuration. Only one target can be recorded. */
async function* probesOf(config: Config, { probe: isWanted, target: name, record: file }: CheckOptions) {
  if (!isWanted) return
  const { probe } = await import('./probe.ts')
  const [{ newRecording }, { targetOf }] = await Promise.all([import('./record.ts'), import('./service.ts')])
  const mask = maskSecrets(secretsOf(config))
  const targets = name === undefined && file === undefined ? config.targets : [targetOf(config, name)]
  const record = file === undefined ? undefined : newRecording(file)
  for (const target of targets) {
    const exchanges: Exchange[] = []
    const found = await probe(target, config.poll, exchanges)
    // A service may repeat the key in its error, in any spelling.
    for (const said of [found, ...(found.findings ?? [])]) said.message = mask(said.message)
    if (record !== undefined) found.recording = record(exchanges)
    yield found
  }
}

async function storeProbeOf({ store }: Config, options: CheckOptions) {
  if (!options.store && (!options.probe || 'path' in store)) return undefined
  const { probeStore } = await import('../store/open-store.ts')
  return probeStore(store)
}
