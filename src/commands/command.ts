import { Option as PlainOption } from 'commander'
import type { Command, Option as TypedOption } from '@commander-js/extra-typings'
import type { Config } from '../config/config.ts'
import type { LogStream } from '../log/logger.ts'

/** What a command uses of the program. */
export type CommandContext = {
  env: NodeJS.ProcessEnv
  /** Where relative file names start. */
  cwd: string
  stdout: LogStream
  print: (line: string) => void
  /** Prints what is not part of the result. */
  warn: (line: string) => void
  /** Returns what reads the configuration, again at each call; it throws a ConfigError. */
  loader: (options: WithConfig) => Promise<() => Config>
  /** Reads the configuration, and warns of shipped rules that it leaves out. */
  configured: (options: WithConfig) => Promise<Config>
  /** The exit code says whether the command succeeded. */
  succeed: (success: boolean) => void
}

type WithConfig = { config?: string | undefined }

/** Adds arguments, options, subcommands and the action to a command that has its name and description. */
export type Declare = (command: Command, context: CommandContext) => void

/** The option of every command that reads the configuration. */
export const CONFIG = [
  '--config <file>',
  'read this configuration file (default: CALLWATCH_CONFIG, ./callwatch.yaml, or the environment alone)',
] as const

/** Commander's, with the type of its values. */
export const Option: typeof TypedOption = PlainOption

/** `--json`, beside `--format`. */
export const jsonOption = (description: string) => new Option('--json', description).default(false).conflicts('format')
