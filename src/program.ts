import { Command, Option } from 'commander'
import type { AlertCallsOptions } from './commands/alert-calls.ts'
import type { AlertsOptions } from './commands/alerts.ts'
import type { BacktestOptions } from './commands/backtest.ts'
import type { CheckOptions } from './commands/check.ts'
import type { CopyOptions } from './commands/copy-store.ts'
import type { DemoOptions } from './commands/demo.ts'
import type { EventsOptions } from './commands/events.ts'
import { explainError, FAILURE, SUCCESS } from './commands/explain-error.ts'
import {
  duration,
  matching,
  names,
  numberOrDuration,
  past,
  port,
  positive,
  share,
  whole,
} from './commands/option-values.ts'
import { passOptions } from './commands/pass-options.ts'
import type { PrometheusRulesOptions } from './commands/prometheus-rules.ts'
import type { ReportOptions } from './commands/report.ts'
import type { SilenceEdit, SilenceOptions } from './commands/silence.ts'
import type { SimulateOptions } from './commands/simulate.ts'
import type { Config } from './config/config.ts'
import type { LogStream } from './log/logger.ts'
import type { SecretsMask } from './log/mask-secrets.ts'
import { VERSION } from './daemon/version.ts'
import { escapedJson, plainText } from './text/plain-text.ts'

/** What a run of the program uses of its process. */
export type Surroundings = {
  env: NodeJS.ProcessEnv
  /** Where relative file names start. */
  cwd: string
  stdout: LogStream
  stderr: Pick<LogStream, 'write'>
  /** Learns the secrets of the configuration. */
  secrets: SecretsMask
}

type WithConfig = { config?: string }

/**
 * Runs one command to its end. Each command is imported when it is called, since most need only a small part of the
 * program.
 *
 * @param args without the names of Node.js and of the program
 * @returns the exit code
 * @throws an error that no user can fix: a bug
 */
export async function runProgram(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { env, cwd, stdout, stderr, secrets } = surroundings
  const print = (line: string) => void stdout.write(`${/^[{[]/.test(line) ? escapedJson(line) : plainText(line)}\n`)
  const warn = (text: string) => void stderr.write(`${plainText(text)}\n`)
  let code = SUCCESS
  const succeed = (success: boolean) => void (code = success ? SUCCESS : FAILURE)

  const loader = async ({ config: file }: WithConfig): Promise<() => Config> => {
    const { repeatedLoad } = await import('./config/repeated-load.ts')
    const { secretsOf } = await import('./config/secrets-of.ts')
    const load = repeatedLoad({ ...(file === undefined ? {} : { file }), env, cwd })
    return () => {
      const config = load()
      secrets.learn(secretsOf(config))
      return config
    }
  }
  const configured = async (options: WithConfig): Promise<Config> => {
    const { leftOutWarnings } = await import('./config/shipped-rules.ts')
    const config = (await loader(options))()
    for (const warning of leftOutWarnings(config)) warn(`warning: ${warning}`)
    return config
  }

  const program = new Command('callwatch')
    .description('Monitor a hosted calls service: count calls, minutes and failures exactly, and alert a team')
    .version(VERSION, '--version')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })

  /** A command that reads the configuration. */
  const configuredCommand = (name: string, description: string, parent: Command = program) =>
    parent
      .command(name)
      .description(description)
      .option(
        '--config <file>',
        'read this configuration file (default: CALLWATCH_CONFIG, ./callwatch.yaml, or the environment alone)',
      )

  configuredCommand('run', 'Run the daemon until SIGTERM')
    .option('--reset-target <name>', 'delete all counts of this target first')
    .action(async (options: WithConfig & { resetTarget?: string }) => {
      const { run } = await import('./commands/run.ts')
      await run(await loader(options), { resetTarget: options.resetTarget })
    })

  program
    .command('demo')
    .description('Run the daemon against a simulated service; needs no configuration')
    .option('--speed <n>', 'run calls at this multiple of real time', positive, 20)
    .option('--calls-per-minute <n>', 'start this many calls a minute (default: 60, or 6 with a history)', positive)
    .option('--seed <n>', 'draw the calls from this seed', whole, 1)
    .option('--history <duration>', 'poll through a past of this duration first, such as 35d, with its alerts', past)
    .option('--quiet', 'print no line per event, only the addresses, problems and the result', false)
    .action(async (options: DemoOptions) => {
      const { demo } = await import('./commands/demo.ts')
      succeed(await demo(options, print))
    })

  configuredCommand('check', 'Validate the configuration and print it with its secrets masked')
    .option('--probe', 'also request one call from each target, and connect to a shared store', false)
    .option('--store', 'also check the whole store for damage, or connect to a shared one', false)
    .option('--json', 'print the configuration, its problems and what was found as JSON', false)
    .action(async (options: WithConfig & CheckOptions) => {
      const { check } = await import('./commands/check.ts')
      succeed(await check(await loader(options), options, print))
    })

  configuredCommand('audit', 'List the whole lookback from the service and compare it with the store, call by call')
    .option('--json', 'print the result as JSON', false)
    .option('--full', 'read the list to its end, beyond the lookback', false)
    .action(async (options: WithConfig & { json: boolean; full: boolean }) => {
      const { audit } = await import('./commands/audit.ts')
      succeed(await audit(await configured(options), options, print))
    })

  configuredCommand(
    'backtest',
    'Run the alert rules over the history in the store and print when each would have fired',
  )
    .option('--since <time>', 'start at this date or time, or this long ago', '7d')
    .option('--rule <file>', 'try the rules of this file, one or a list of them, in place of the configured ones')
    .option('--no-chart', 'draw no values')
    .option('--json', 'print the result as JSON', false)
    .action(async (options: WithConfig & BacktestOptions) => {
      const { backtest } = await import('./commands/backtest.ts')
      const config = await configured(options)
      const { rule: file } = options
      if (file === undefined) return backtest(config, options, print)
      const { loadRules } = await import('./config/load-rules.ts')
      const alerts = loadRules({ file, env, cwd, history: config.store.history })
      return backtest({ ...config, alerts }, options, print)
    })

  const events = configuredCommand(
    'events',
    'Print what happened to calls and alerts, from the log of events in the store',
  )
    .option('--follow', 'continue with what happens from now on, until SIGINT or SIGTERM', false)
    .option('--after <cursor>', 'start after the event with this `callwatchcursor`')
    .addOption(
      new Option('--since <time>', 'start with what was found at this date or time, or this long ago').conflicts(
        'after',
      ),
    )
    .option('--type <names>', 'print only events of these types, such as call.ended; repeatable', names)
    .option('--target <names>', 'print only events of these targets; repeatable', names)
    .option(
      '--limit <n>',
      'print the newest n events (default: 50); with --after or --since the first n (default: all)',
      whole,
    )
    .option('--json', 'print each event as a line of JSON: a CloudEvent with its `callwatchcursor`', false)
    .action(async (options: WithConfig & EventsOptions) => {
      const { events: printEvents } = await import('./commands/events.ts')
      await printEvents(await configured(options), options, { print, warn })
    })

  const webhooks = configuredCommand('webhooks', 'List the webhooks of events, and change what they get', events)
    .option('--json', 'print them as JSON', false)
    .action(async (options: WithConfig & { json: boolean }) => {
      const { listWebhooks } = await import('./commands/webhooks.ts')
      await listWebhooks(await configured(options), options, print)
    })
  configuredCommand('dead', 'List the dead letters of a webhook', webhooks)
    .argument('<name>', 'name of the webhook')
    .option('--json', 'print them as JSON', false)
    .action(async (name: string, options: WithConfig & { json: boolean }) => {
      const { listDeadLetters } = await import('./commands/webhooks.ts')
      await listDeadLetters(await configured(options), { name, json: options.json }, print)
    })
  configuredCommand('replay', 'Deliver events to a webhook again', webhooks)
    .argument('<name>', 'name of the webhook')
    .option('--since <time>', 'all events that were found since this date or time, or this long ago')
    .option('--dead', 'its dead letters')
    .action(async (name: string, options: WithConfig & { since?: string; dead?: boolean }) => {
      const { replay } = await import('./commands/webhooks.ts')
      await replay(await configured(options), name, options, print)
    })
  const switching = (command: 'pause' | 'resume', description: string) =>
    configuredCommand(command, description, webhooks)
      .argument('<name>', 'name of the webhook')
      .action(async (name: string, options: WithConfig) => {
        const { setPaused } = await import('./commands/webhooks.ts')
        await setPaused(await configured(options), name, command === 'pause', print)
      })
  switching('pause', 'Deliver nothing to a webhook until it is resumed; its events wait')
  switching('resume', 'Continue the deliveries to a webhook that is paused, or whose receiver answered 410')

  configuredCommand('report', 'Print what was used: calls by outcome, minutes and durations of a period')
    .option('--since <time>', 'from this date or time on, or this long ago (default: all that the store keeps)')
    .option('--until <time>', 'before this date or time (default: now)')
    .option('--by <keys>', 'a row for each day, target, type, mode or receiver_type; repeatable', names)
    .option('--target <names>', 'only these targets; repeatable', names)
    .option('--zone <name>', 'the time zone of dates and days', 'UTC')
    .addOption(new Option('--format <format>', 'how to print it').choices(['table', 'csv']).default('table'))
    .addOption(jsonOption('print it as JSON'))
    .action(async (options: WithConfig & ReportOptions) => {
      const { report } = await import('./commands/report.ts')
      await report(await configured(options), options, { print, warn })
    })

  const alerts = configuredCommand('alerts', 'Print the alerts that fired in a period, newest first')
    .option('--since <time>', 'those that fired after this date or time, or this long ago', '7d')
    .option('--until <time>', 'those that fired before this date or time (default: now)')
    .option('--target <names>', 'only of these targets; repeatable', names)
    .option('--json', 'print them as JSON', false)
    .action(async (options: WithConfig & AlertsOptions) => {
      const { alerts: printAlerts } = await import('./commands/alerts.ts')
      await printAlerts(await configured(options), options, { print, warn })
    })

  configuredCommand('calls', 'Print the calls behind an alert that fires or has fired, newest first', alerts)
    .argument('<alert>', 'its rule, or the rule with its labels as `callwatch alerts` shows it, in quotes')
    .option(
      '--at <time>',
      'when it fired (UTC), as `callwatch alerts` shows it, or the minute or date of it (default: the last time)',
    )
    .option('--target <names>', 'only of these targets; repeatable', names)
    .addOption(
      new Option('--format <format>', 'how to print them').choices(['table', 'csv', 'ndjson']).default('table'),
    )
    .addOption(jsonOption('print them as JSON'))
    .action(async (alert: string, options: WithConfig & AlertCallsOptions) => {
      const { alertCalls } = await import('./commands/alert-calls.ts')
      await alertCalls(await configured(options), alert, options, { print, warn })
    })

  configuredCommand('backup', 'Make a consistent backup of the store, also while the daemon runs')
    .argument('<file>', 'path of the copy; must not exist yet')
    .action(async (file: string, options: WithConfig) => {
      const { backup } = await import('./commands/backup.ts')
      backup(await configured(options), file, print)
    })

  const stores = configuredCommand('store', 'Manage the store of all counts')
  configuredCommand(
    'copy',
    'Copy a store with all its counts into an empty one and compare both; stop all daemons on both first',
    stores,
  )
    .option('--from <store>', 'copy from this file or PostgreSQL address (default: the configured store)')
    .option('--to <store>', 'copy into this file or PostgreSQL address (default: the configured store)')
    .addHelpText('after', COPY_HELP)
    .action(async (options: WithConfig & CopyOptions) => {
      const { storeCopy } = await import('./commands/copy-store.ts')
      succeed(await storeCopy(options, { load: await loader(options), env }, print))
    })

  program
    .command('simulate')
    .description('Run the simulated calls service alone, over HTTP on loopback')
    .option('--port <n>', 'listen on this port; 0 picks a free one', port, 8080)
    .option('--speed <n>', 'run calls at this multiple of real time', positive, 1)
    .option(
      '--calls-per-minute <n>',
      'start this many calls a minute (default: 30, or what a history of that duration can have)',
      positive,
    )
    .option('--seed <n>', 'draw the calls from this seed', whole, 1)
    .option(
      '--history <n|duration>',
      'start with this many finished calls; or with those of a duration such as 35d, by the hour and the day of the week (UTC)',
      numberOrDuration,
      100,
    )
    .option('--api-key <key>', 'use this key of scope fullAccess instead of the default one')
    .option('--requests-per-minute <n>', 'answer 429 above this rate', positive)
    .option('--chaos <n>', 'draw the switches from the seed, with an intensity from 0 (calm) to 1', share)
    .action(async (options: SimulateOptions) => {
      const { simulate } = await import('./commands/simulate.ts')
      await simulate(options, print)
    })
  program.hook('preAction', (_program, command) => passOptions(command))
  program.hook('preSubcommand', async (_program, command) => {
    if (command.name() !== 'simulate') return
    const { switchOptions } = await import('./commands/switch-options.ts')
    for (const option of switchOptions()) command.addOption(option)
  })

  const silences = configuredCommand('silence', 'Silence alerts for a while')
  configuredCommand(
    'add',
    'Silence alerts; rules are still evaluated, and what still fires when it expires is notified',
    silences,
  )
    .option('--alert <name>', 'silence only alerts of this rule')
    .option('--match <name=value>', 'silence only alerts with this label, severity or target; repeatable', matching)
    .option('--all', 'silence every alert; replaces --alert and --match')
    .requiredOption('--for <duration>', 'expire the silence after this time, such as 2h (required)', duration)
    .option('--reason <text>', 'show this reason with the silence', '')
    .option('--author <name>', 'show this author with the silence (default: the user of the system)')
    .action(async (options: WithConfig & SilenceOptions) => {
      const { addSilence } = await import('./commands/silence.ts')
      await addSilence(await configured(options), options, print)
    })
  configuredCommand('list', 'List the active silences', silences)
    .option('--since <time>', 'also list those that expired since this date or time, or this long ago')
    .option('--json', 'print them as JSON', false)
    .action(async (options: WithConfig & { since?: string; json: boolean }) => {
      const { listSilences } = await import('./commands/silence.ts')
      await listSilences(await configured(options), options, print)
    })
  configuredCommand('edit', 'Edit an active silence; what is not given stays', silences)
    .argument('<number>', 'number of the silence, as `silence list` shows it', whole)
    .option('--alert <name>', 'silence only alerts of this rule')
    .option('--match <name=value>', 'silence only alerts with this label, severity or target; repeatable', matching)
    .option('--all', 'silence every alert; replaces --alert and --match')
    .option('--for <duration>', 'expire the silence after this time from now, such as 2h', duration)
    .option('--reason <text>', 'show this reason with the silence')
    .action(async (id: number, options: WithConfig & SilenceEdit) => {
      const { editSilence } = await import('./commands/silence.ts')
      await editSilence(await configured(options), id, options, print)
    })
  configuredCommand('expire', 'Expire a silence early', silences)
    .argument('<number>', 'number of the silence, as `silence list` shows it', whole)
    .action(async (id: number, options: WithConfig) => {
      const { expireSilence } = await import('./commands/silence.ts')
      await expireSilence(await configured(options), id, print)
    })

  configuredCommand('prometheus-rules', 'Print the alert rules as a rule file for Prometheus')
    .option('--runbooks <url>', 'the page where you keep docs/operations.md, to which the shipped alerts link')
    .action(async (options: WithConfig & PrometheusRulesOptions) => {
      const { prometheusRules } = await import('./commands/prometheus-rules.ts')
      prometheusRules(await configured(options), options, print)
    })

  configuredCommand('test-notify', 'Send a sample notification to every receiver').action(
    async (options: WithConfig) => {
      const { testNotify } = await import('./commands/test-notify.ts')
      succeed(await testNotify(await configured(options), print, stdout))
    },
  )

  configuredCommand('token', 'Create an auth token for a user and print it')
    .argument('<uid>', 'ID of the user')
    .option('--target <name>', 'use the chat service of this target; required with several targets')
    .action(async (uid: string, options: WithConfig & { target?: string }) => {
      const { token } = await import('./commands/token.ts')
      await token(await configured(options), uid, options.target, print)
    })

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

function jsonOption(description: string): Option {
  return new Option('--json', description).default(false).conflicts('format')
}

/** What `store copy --help` says beside the options. */
const COPY_HELP = `
Both replace \${NAME} from the environment, so that no password is on the command line, where others can read it.
Use single quotes, or the shell replaces it:

  callwatch store copy --from data/callwatch.db --to 'postgres://callwatch:\${PASSWORD}@db1,db2/callwatch'

All or nothing is copied: exit code 1 if the copy, read back, is not equal. The source stays as it is.`
