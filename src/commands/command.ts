import { Help, Option as PlainOption } from 'commander'
import type { Command, Option as TypedOption } from '@commander-js/extra-typings'
import type { Config } from '../config/config.ts'
import type { LogStream } from '../log/logger.ts'

type Colour = 'red' | 'yellow' | 'green' | 'bold'

/** What a command may use of the program. */
export type CommandContext = {
  env: NodeJS.ProcessEnv
  /** The folder at which relative file names start. */
  cwd: string
  stdout: LogStream
  /** @param colour of the line on a terminal, unless NO_COLOR or the terminal forbids colours */
  print: (line: string, colour?: Colour) => void
  /** Prints a line that is not part of the result. */
  warn: (line: string) => void
  /** Returns a function that reads the configuration each time it is called. It throws a ConfigError. */
  loader: (options: WithConfig) => Promise<() => Config>
  /** Reads the configuration, and warns about shipped rules that were left out. */
  configured: (options: WithConfig) => Promise<Config>
  /** Sets whether the command succeeded, which decides the exit code. */
  succeed: (success: boolean) => void
}

type WithConfig = { config?: string | undefined }

/** A command that reads the configuration. */
export type ConfiguredCommand = Command<[], WithConfig>

/** Adds arguments, options, subcommands and the action to a command, which already has its name, description and `--config`. */
export type Declare = (command: ConfiguredCommand, context: CommandContext) => void

/** The option of every command that reads the configuration. */
export const CONFIG = [
  '--config <file>',
  'read this configuration file (default: CALLWATCH_CONFIG, ./callwatch.yaml, or the environment alone)',
] as const

/** Adds a subcommand, which reads the configuration too. */
export function subcommand(above: ConfiguredCommand, name: string, about: string) {
  return above
    .command(name)
    .description(about)
    .option(...CONFIG)
}

/** The option of every command that prints a wide table. */
export const WIDE = ['--wide', 'print all columns, also those for which the terminal has no room', false] as const

/** The width of what is printed: that of the terminal, unless all columns are wanted. */
export function widthOf({ stdout }: Pick<CommandContext, 'stdout'>, { wide }: { wide: boolean }): number {
  return stdout.isTTY && !wide ? (stdout.columns ?? Infinity) : Infinity
}

/** A space of a command, which must stay whole to be copied. */
const HELD = '\uE000'

/** A line as several that fit the width, broken between words but not within backquotes; all but the first are indented further. */
export function wrapped(line: string, width: number): string {
  const held = line.replaceAll(/`[^`]+`/g, (code) => code.replaceAll(' ', HELD))
  const lines = new Help().boxWrap(held, width - 4).replaceAll(HELD, ' ')
  return lines.replaceAll('\n', `\n${/^ */.exec(line)![0]}  `)
}

/** The lines of a text as a terminal has room for them. */
export function fitted(text: string, stdout: LogStream): string {
  const width = widthOf({ stdout }, { wide: false })
  return text.split('\n').map((line) => wrapped(line, width)).join('\n') // oxfmt-ignore
}

/** Commander's class, with the type of its values. */
export const Option: typeof TypedOption = PlainOption

/** `--format`, whose default is a table. */
export const formatOption = <const Format extends string>(description: string, ...others: Format[]) =>
  new Option('--format <format>', description).choices(['table', ...others]).default('table' as const)

/** `--json`, for a command that also has `--format`. */
export const jsonOption = (description: string) => new Option('--json', description).default(false).conflicts('format')

/** Where a table is printed: the width of the terminal, and the columns that it can do without, the least important first. */
type Fit = { width: number; givesWay: readonly string[] }

/**
 * The lines of a table with aligned columns. Columns give way until the rest fits the terminal; a last line names them.
 *
 * @param texts how many columns, from the first one, are left-aligned texts; all others are numbers
 */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  texts: number,
  { width, givesWay }: Fit = { width: Infinity, givesWay: [] },
): string[] {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)))
  const shown = new Set(header.keys())
  const taken = () => [...shown].reduce((sum, i) => sum + widths[i]! + 2, -2)
  for (const name of givesWay) if (taken() > width) shown.delete(header.indexOf(name))
  const lines = [header, ...rows].map((row) =>
    [...shown]
      .map((i) => (i < texts ? row[i]!.padEnd(widths[i]!) : row[i]!.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  )
  const others = header.filter((_name, i) => !shown.has(i))
  return others.length === 0 ? lines : [...lines, `--wide also prints: ${others.join(', ')}`]
}
