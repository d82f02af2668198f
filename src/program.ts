import { writeSync } from 'node:fs'
import { inspect } from 'node:util'
import { Command, CommanderError, Option } from 'commander'
import { audit } from './commands/audit.ts'
import { backtest, type BacktestOptions } from './commands/backtest.ts'
import { backup } from './commands/backup.ts'
import { check, type CheckOptions } from './commands/check.ts'
import { surviveClosedPipe } from './commands/closed-pipe.ts'
import { COPY_HELP, storeCopy, type CopyOptions } from './commands/copy-store.ts'
import { demo } from './commands/demo.ts'
import { duration, matching, port, positive, share, whole } from './commands/option-values.ts'
import { prometheusRules } from './commands/prometheus-rules.ts'
import { run } from './commands/run.ts'
import { addSilence, endSilence, listSilences, type SilenceOptions } from './commands/silence.ts'
import { simulate } from './commands/simulate.ts'
import { switchOptions } from './commands/switch-options.ts'
import { testNotify } from './commands/test-notify.ts'
import { token } from './commands/token.ts'
import { UsageError } from './commands/usage-error.ts'
import { VERSION } from './daemon/version.ts'
import type { Config } from './config/config.ts'
import { ConfigError, formatProblems } from './config/config-error.ts'
import { loadConfig, type LoadOptions } from './config/load-config.ts'
import { repeatedLoad } from './config/repeated-load.ts'
import { secretsOf } from './config/secrets-of.ts'
import { secretsMask } from './daemon/mask-secrets.ts'
import { ServiceError } from './service/service-error.ts'
import { StoreError } from './store/store.ts'
import { escapedJson, plainText } from './text/plain-text.ts'

const SUCCESS = 0
const FAILURE = 1
const WRONG_USAGE = 2

const print = (line: string) =>
  void process.stdout.write(`${/^[{[]/.test(line) ? escapedJson(line) : plainText(line)}\n`)
const complain = (line: string) => void process.stderr.write(`${plainText(line)}\n`)

type WithConfig = { config?: string }
const sources = ({ config: file }: WithConfig): LoadOptions => ({
  ...(file === undefined ? {} : { file }),
  env: process.env,
  cwd: process.cwd(),
})
/** Of whatever was loaded: an error that nobody foresaw is printed with its stack. */
const secrets = secretsMask([])
const learning = (load: () => Config) => () => {
  const config = load()
  secrets.learn(secretsOf(config))
  return config
}
const configured = (options: WithConfig): Config => learning(() => loadConfig(sources(options)))()

const program = new Command('callwatch')
  .description('Watches a hosted calls service: counts calls, minutes and failures exactly, and alerts a team')
  .version(VERSION, '--version')
  .exitOverride()

/** A command that reads the configuration. */
const withConfig = (command: Command) =>
  command.option(
    '--config <file>',
    'the configuration (or CALLWATCH_CONFIG, or ./callwatch.yaml, or the environment alone)',
  )
const configuredCommand = (name: string, description: string) =>
  withConfig(program.command(name).description(description))

configuredCommand('run', 'the daemon: watches until SIGTERM')
  .option('--reset-target <name>', 'forget all that was counted of this target before watching it')
  .action((options: WithConfig & { resetTarget?: string }) =>
    run(learning(repeatedLoad(sources(options))), { resetTarget: options.resetTarget }),
  )

program
  .command('demo')
  .description('the daemon against a simulated service; needs nothing')
  .option('--speed <n>', 'how many times shorter than life calls are', positive, 20)
  .option('--calls-per-minute <n>', 'how many calls begin', positive, 60)
  .option('--seed <n>', 'the same seed makes the same calls', whole, 1)
  .action(async (options: { speed: number; callsPerMinute: number; seed: number }) => {
    process.exitCode = (await demo(options, print)) ? SUCCESS : FAILURE
  })

configuredCommand('check', 'validates the configuration and prints it with its secrets masked')
  .option('--probe', 'also ask each target for one page of calls, and connect to a shared store', false)
  .option('--json', 'print the configuration, its problems and what the probe found as JSON', false)
  .action(async (options: WithConfig & CheckOptions) => {
    process.exitCode = (await check(() => configured(options), options, print)) ? SUCCESS : FAILURE
  })

configuredCommand(
  'audit',
  'lists the whole lookback from the service now and compares it, call by call, with the store',
)
  .option('--json', 'print what was found as JSON', false)
  .option('--full', 'read the list to its end, also what lies before the lookback', false)
  .action(async (options: WithConfig & { json: boolean; full: boolean }) => {
    process.exitCode = (await audit(configured(options), options, print)) ? SUCCESS : FAILURE
  })

configuredCommand('backtest', 'runs the alert rules over the history in the store, and says when each would have fired')
  .addOption(new Option('--since <duration>', 'how far back').argParser(duration).default(7 * 86_400, '7d'))
  .option('--json', 'print what was found as JSON', false)
  .action((options: WithConfig & BacktestOptions) => backtest(configured(options), options, print))

configuredCommand('backup', 'a consistent copy of the store, also of a running daemon')
  .argument('<file>', 'where the copy goes; must not exist yet')
  .action((file: string, options: WithConfig) => backup(configured(options), file, print))

const stores = program.command('store').description('what the counts are kept in')
withConfig(stores.command('copy'))
  .description(
    'copies a store with all that was counted into an empty one, and compares them; no callwatch may use either',
  )
  .option('--from <store>', 'a file or the address of a PostgreSQL database (default: the configured store)')
  .option('--to <store>', 'the same (default: the configured store)')
  .addHelpText('after', COPY_HELP)
  .action(async (options: WithConfig & CopyOptions) => {
    const copied = await storeCopy(options, { load: () => configured(options), env: process.env }, print)
    process.exitCode = copied ? SUCCESS : FAILURE
  })

const simulateCommand = program
  .command('simulate')
  .description('the simulated calls service alone, over HTTP on loopback')
  .option('--port <n>', 'the port, 0 for a free one', port, 8080)
  .option('--speed <n>', 'how many times shorter than life calls are', positive, 1)
  .option('--calls-per-minute <n>', 'how many calls begin', positive, 30)
  .option('--seed <n>', 'the same seed makes the same calls', whole, 1)
  .option('--history <n>', 'calls that are over at the start', whole, 100)
  .option('--api-key <key>', 'the key of scope fullAccess, in place of the one that is printed')
  .option('--requests-per-minute <n>', 'answer 429 above this many requests', positive)
  .option('--chaos <n>', 'draw the switches from the seed: from 0, calm, to 1', share)
for (const option of switchOptions()) simulateCommand.addOption(option)
simulateCommand.action((options: Parameters<typeof simulate>[0]) => simulate(options, print))

const silences = program.command('silence').description('what nobody is to be told of for a while')
const silenceCommand = (name: string, description: string) =>
  withConfig(silences.command(name).description(description))

silenceCommand('add', 'silences alerts; evaluation goes on, and what still fires afterwards is told then')
  .option('--alert <name>', 'only alerts of this rule')
  .option('--match <name=value>', 'only alerts with this label, severity or target; may be given again', matching)
  .option('--all', 'every alert, in place of --alert and --match')
  .requiredOption('--for <duration>', 'how long, such as 2h', duration)
  .option('--reason <text>', 'shown to whoever wonders', '')
  .action((options: WithConfig & SilenceOptions) => addSilence(configured(options), options, print))
silenceCommand('list', 'shows the silences that hold').action((options: WithConfig) =>
  listSilences(configured(options), print),
)
silenceCommand('end', 'ends a silence before its time')
  .argument('<number>', 'of the silence, as `list` shows it', whole)
  .action((id: number, options: WithConfig) => endSilence(configured(options), id, print))

configuredCommand('prometheus-rules', 'prints the alert rules as a rule file for Prometheus').action(
  (options: WithConfig) => prometheusRules(configured(options), print),
)

configuredCommand('test-notify', 'sends a sample notification through every notifier').action(
  async (options: WithConfig) => {
    process.exitCode = (await testNotify(configured(options), print)) ? SUCCESS : FAILURE
  },
)

configuredCommand('token', 'creates an auth token for a user, and prints it')
  .argument('<uid>', 'the user')
  .option('--target <name>', 'the target whose chat service creates it, where there are several')
  .action((uid: string, options: WithConfig & { target?: string }) =>
    token(configured(options), uid, options.target, print),
  )

process.once('uncaughtException', die)
for (const stream of [process.stdout, process.stderr]) surviveClosedPipe(stream, () => program.args[0] === 'run')
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = explain(error)
}

/** Ends the process by a mistake of our own: what goes on in it is not to be relied on, and a supervisor starts another one. */
function die(error: unknown): never {
  writeSync(process.stderr.fd, `${secrets.mask(inspect(error))}\n`)
  process.exit(FAILURE)
}

/** Says what went wrong, in sentences where it is the user's to mend, and gives the exit code. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : WRONG_USAGE
  if (error instanceof ConfigError) {
    complain(`${error.message}\n${formatProblems(error)}`)
    return WRONG_USAGE
  }
  if (!(error instanceof Error)) return die(error)
  if (cannotListen(error)) {
    const mend = program.args[0] === 'simulate' ? 'choose another --port' : 'set another http.host or http.port'
    complain(`${error.message}; ${mend}`)
    return FAILURE
  }
  if (!(error instanceof StoreError || error instanceof ServiceError || error instanceof UsageError)) {
    return die(error)
  }
  complain(error.message)
  const wrongUsage = error instanceof UsageError || (error instanceof StoreError && error.kind === 'refused')
  return wrongUsage ? WRONG_USAGE : FAILURE
}

/** A port in use or not allowed, an address that is not this machine's, a name that stands for none. */
function cannotListen(error: Error): boolean {
  return 'syscall' in error && (error.syscall === 'listen' || error.syscall === 'getaddrinfo')
}
