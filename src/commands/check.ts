import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { secretsOf } from '../config/secrets.ts'
import { maskConfig, maskedTree } from '../config/mask-config.ts'
import { configWarnings } from '../config/warnings.ts'
import { maskSecrets } from '../log/mask-secrets.ts'
import { readAddress } from '../store/postgres/address.ts'
import { onlyStoreErrors, RefusedByOthers, StoreError } from '../store/store-error.ts'
import type { Exchange } from '../service/exchange.ts'
import { Option, type CommandContext, type Declare } from './command.ts'
import type { CheckView, Probe } from '../views/commands/check.ts'

type CheckOptions = { probe: boolean; store: boolean; json: boolean; target?: string; record?: string }

/**
 * Prints the configuration with its secrets masked, and the results of the probes. Succeeds if everything is valid. Prints
 * JSON for an invalid configuration too.
 */
export const declare: Declare = (command, { loader, print, printWhole, succeed }) =>
  void command
    .option(
      '--probe',
      'also send up to ten requests to each target and one to each heartbeat, and connect to a shared store',
      false,
    )
    .option('--target <name>', 'probe only this target')
    .addOption(
      new Option('--record <file>', 'probe, and write the anonymized answers to this file').implies({ probe: true }),
    )
    .option('--store', 'also check the whole store for damage, or connect to a shared one', false)
    .option('--json', 'print the configuration, its problems and what was found as JSON', false)
    .action(async (options) => {
      const load = await loader(options)
      const printJson = (document: CheckView) => options.json && print(JSON.stringify(document, undefined, 2))
      try {
        const config = withAddress(load())
        const warnings = [...configWarnings(config), ...(await noticesOfNames(config, options))]
        // It is long: what was found comes last.
        if (!options.json && !options.probe) printWhole(`${maskConfig(config)}# The configuration is valid.`)
        const found = await probed(config, options, options.json ? () => undefined : print, warnings)
        printJson({ valid: true, warnings, config: maskedTree(config), ...found })
        succeed(
          [...(found.probes ?? []), ...(found.heartbeats ?? []), found.store].every((one) => one?.works !== false),
        )
      } catch (error) {
        if (error instanceof ConfigError) printJson({ valid: false, problems: [...error.problems] })
        throw error
      }
    })

/** @throws {ConfigError} if `store.url` is not the address of a PostgreSQL database */
function withAddress(config: Config): Config {
  try {
    if ('url' in config.store) readAddress(config.store.url)
    return config
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const problem = { path: 'store.url', message: error.message.replace(/^store\.url /, '') }
    throw new ConfigError([problem], { isPassing: error instanceof RefusedByOthers })
  }
}

/** Probes targets and store, and prints one line for each, then the warnings. The configuration is long, and is not printed with probes. */
async function probed(
  config: Config,
  options: CheckOptions,
  print: CommandContext['print'],
  warnings: readonly string[],
) {
  const probes: Probe[] = []
  for await (const result of probesOf(config, options)) {
    probes.push(result)
    printProbe(result, print)
  }
  const store = await storeProbeOf(config, options)
  if (store !== undefined) printVerdict('store', store, print)
  const heartbeats = await heartbeatsOf(config, options)
  for (const one of heartbeats) printVerdict(one.receiver, one, print)
  for (const probe of probes) for (const { message } of probe.warnings) print(`# ${probe.target}: warning: ${message}`)
  const verdicts = [...probes, store, ...heartbeats].flatMap((one) => one?.works ?? [])
  const failed = verdicts.filter((works) => !works).length
  if (options.probe) print(`${verdicts.length - failed} ✓ ${failed} ✗`, 'bold')
  for (const warning of warnings) print(`# warning: ${warning}`)
  return { ...(options.probe && { probes, heartbeats }), ...(store && { store }) }
}

type Verdict = Pick<Probe, 'works' | 'message'>

function printVerdict(name: string, { works, message }: Verdict, print: CommandContext['print']): void {
  print(`${works ? '✓' : '✗'} ${name}: ${message}`, works ? 'green' : 'red')
}

function printProbe(probe: Probe, print: CommandContext['print']): void {
  printVerdict(probe.target, probe, print)
  for (const { check, result: is, message } of probe.findings ?? []) {
    print(`  ${is === 'ok' ? '✓' : '!'} ${check.replaceAll('_', ' ')}: ${message}`, is === 'ok' ? 'green' : 'yellow')
  }
  if (probe.recording === undefined) return
  const { file, answers, replaced } = probe.recording
  const counts = Object.entries(replaced).map(([kind, count]) => `${count} ${kind}`)
  print(`# ${file} has ${answers} answers; replaced or shifted: ${counts.join(', ')}`)
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

/** Probes the heartbeats, unless one target is meant. */
async function heartbeatsOf(config: Config, { probe, target, record }: CheckOptions) {
  if (!probe || target !== undefined || record !== undefined) return []
  return (await import('./probe-heartbeats.ts')).probeHeartbeats(config)
}

/**
 * What a daemon will say of names of targets that its store does not have; nothing where this cannot read the store.
 *
 * @throws {ConfigError} if it will refuse one
 */
async function noticesOfNames({ store, targets }: Config, options: CheckOptions): Promise<string[]> {
  if ('url' in store ? !connects(options) : !existsSync(store.path)) return []
  const [{ openReader }, { renamedTargets }] = await Promise.all([
    import('../store/open-store.ts'),
    import('../pipeline/renamed-targets.ts'),
  ])
  const read = async () => {
    await using reader = await openReader(store)
    return await renamedTargets(reader, targets)
  }
  const found = await read().catch(onlyStoreErrors(undefined))
  if (found?.refusal !== undefined) throw new ConfigError([{ path: 'targets', message: found.refusal }])
  return found?.notices ?? []
}

const connects = ({ store, probe }: CheckOptions) => store || probe

async function storeProbeOf({ store }: Config, options: CheckOptions) {
  if (!options.store && (!options.probe || 'path' in store)) return undefined
  const { probeStore } = await import('../store/open-store.ts')
  return probeStore(store)
}
