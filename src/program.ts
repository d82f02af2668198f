import { styleText } from 'node:util'
import { Command } from 'commander'
import { CONFIG, fitted, type CommandContext, type ConfiguredCommand, type Declare } from './commands/command.ts'
import { explainError, FAILURE, SUCCESS } from './commands/explain-error.ts'
import { passOptions } from './commands/options/pass-options.ts'
import type { Config } from './config/config.ts'
import type { LogStream } from './log/logger.ts'
import type { SecretsMask } from './log/mask-secrets.ts'
import { VERSION } from './daemon/version.ts'
import { escapedJson, plainText } from './text/plain-text.ts'

/** What the program uses of its process. */
export type Surroundings = {
  env: NodeJS.ProcessEnv
  /** The folder at which relative file names start. */
  cwd: string
  stdout: LogStream
  stderr: LogStream
  /** Learns the secrets of the configuration. */
  secrets: SecretsMask
}

type Listed = { about: string; load: () => Promise<{ declare: Declare }>; isConfigured?: false }

/**
 * The commands by name, in the order of the help. The file of each command has its options, and is loaded when the command is called.
 */
const COMMANDS: Readonly<Record<string, Listed>> = {
  run: { about: 'Run the daemon until SIGTERM', load: () => import('./commands/run.ts') },
  demo: {
    about: 'Run the daemon against a simulated service; needs no configuration',
    load: () => import('./commands/demo/demo.ts'),
    isConfigured: false,
  },
  check: {
    about: 'Validate the configuration and print it with its secrets masked',
    load: () => import('./commands/check.ts'),
  },
  audit: {
    about: 'List the whole lookback from the service and compare it with the store, call by call',
    load: () => import('./commands/audit/audit.ts'),
  },
  backtest: {
    about: 'Run the alert rules over the history in the store and print when each would have fired',
    load: () => import('./commands/alerts/backtest.ts'),
  },
  calls: {
    about: 'Print calls in progress, the oldest first, or those that finished in a period, the newest first',
    load: () => import('./commands/calls/calls.ts'),
  },
  find: {
    about: 'Ask the service for the calls of a user, a group or a session, and print what became of each',
    load: () => import('./commands/find.ts'),
  },
  events: {
    about: 'Print what happened to calls and alerts, from the log of events in the store',
    load: () => import('./commands/events.ts'),
  },
  report: {
    about: 'Print what was used: calls by outcome, minutes and durations of a period',
    load: () => import('./commands/report.ts'),
  },
  alerts: {
    about: 'Print the alerts that fired in a period, newest first',
    load: () => import('./commands/alerts/alerts.ts'),
  },
  status: {
    about:
      'Print how targets, alerts, receivers and the store are doing; exit code 1 if a target is not polled or an alert fires',
    load: () => import('./commands/status/status.ts'),
  },
  backup: {
    about: 'Make a consistent backup of the store, also while the daemon runs',
    load: () => import('./commands/backup.ts'),
  },
  store: { about: 'Manage the store of all counts', load: () => import('./commands/copy-store.ts') },
  simulate: {
    about: 'Run the simulated calls service alone, over HTTP on loopback',
    load: () => import('./commands/simulate.ts'),
    isConfigured: false,
  },
  silence: { about: 'Silence alerts for a while', load: () => import('./commands/alerts/silence.ts') },
  'test-notify': {
    about: 'Send a sample notification to every receiver',
    load: () => import('./commands/test-notify.ts'),
  },
  service: {
    about: "Use the service's own operations: print one call as it answers it, or create an auth token",
    load: () => import('./commands/service.ts'),
  },
}

/**
 * Runs one command to its end. Each command is imported when it is called, since most need only a small part of the program.
 *
 * @param args without the names of Node.js and of the program
 * @returns the exit code
 * @throws an error that no user can fix: a bug
 */
export async function runProgram(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr } = surroundings
  const warn = (text: string) => void stderr.write(`${fitted(plainText(text), stderr)}\n`)
  let code = SUCCESS
  const succeed = (success: boolean) => void (code = success ? SUCCESS : FAILURE)
  const context = contextOf(surroundings, warn, succeed)
  const program = new Command('callwatch')
    .description('Watch CometChat voice and video calls: count calls, minutes and failures exactly, and alert a team')
    .version(VERSION, '--version')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
  const [first, second] = args.filter((arg) => !arg.startsWith('-'))
  const called = first === 'help' ? second : first
  for (const [name, { about, load, isConfigured = true }] of Object.entries(COMMANDS)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types are of the same class
    const command = program.command(name).description(about) as unknown as ConfiguredCommand
    if (name !== called) continue
    if (isConfigured) command.option(...CONFIG)
    ;(await load()).declare(command, context)
  }
  program.hook('preAction', (_program, command) => passOptions(command))
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    const explained = explainError(error, program.args[0])
    if (explained === undefined) throw error
    if (explained.text !== '') warn(explained.text)
    return explained.code
  }
}

function contextOf(
  { env, cwd, stdout, secrets }: Surroundings,
  warn: CommandContext['warn'],
  succeed: CommandContext['succeed'],
): CommandContext {
  const loader: CommandContext['loader'] = async ({ config: file }) => {
    const { repeatedLoad } = await import('./config/load-config.ts')
    const { secretsOf } = await import('./config/secrets.ts')
    const load = repeatedLoad({ ...(file === undefined ? {} : { file }), env, cwd })
    let latest: Config | undefined
    return () => {
      const config = load()
      // Finding the secrets of thousands of targets takes a tenth of a second.
      if (config !== latest) secrets.add(secretsOf(config))
      latest = config
      return config
    }
  }
  const isJson = (line: string) => /^[{[]/.test(line)
  const printWhole: CommandContext['print'] = (line, colour) => {
    // The mark with which a CSV of a spreadsheet begins stays.
    const text = /^\uFEFF?/.exec(line)![0] + (isJson(line) ? escapedJson(line) : plainText(line))
    const isColoured = colour !== undefined && stdout.isTTY && stdout.hasColors()
    stdout.write(`${isColoured ? styleText(colour, text, { validateStream: false }) : text}\n`)
  }
  return {
    env,
    cwd,
    stdout,
    print: (line, colour) => printWhole(isJson(line) ? line : fitted(line, stdout), colour),
    printWhole,
    warn,
    loader,
    configured: async (options) => {
      const { configWarnings } = await import('./config/warnings.ts')
      const config = (await loader(options))()
      for (const warning of configWarnings(config)) warn(`warning: ${warning}`)
      return config
    },
    succeed,
  }
}
