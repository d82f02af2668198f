import { Help, Option as PlainOption } from 'commander'
import type { Command, Option as TypedOption } from '@commander-js/extra-typings'
import type { Config } from '../config/config.ts'
import type { LogStream } from '../log/logger.ts'
import { columnsOf, padded, shortened } from '../text/columns.ts'

type Colour = 'red' | 'yellow' | 'green' | 'bold'

type Print = (line: string, colour?: Colour) => void

/** What a command may use of the program. */
export type CommandContext = {
  env: NodeJS.ProcessEnv
  /** The folder at which relative file names start. */
  cwd: string
  stdout: LogStream
  /**
   * Prints a line: JSON as it is, any other in the width of the terminal.
   *
   * @param colour of the line on a terminal, unless NO_COLOR or the terminal forbids colours
   */
  print: Print
  /** Prints a line as it is, however wide the terminal is: of a table, which has its width, or of a file. */
  printWhole: Print
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
export const WIDE = ['--wide', 'print all, also what the terminal has no room for', false] as const

/** The width of what is printed: that of the terminal, unless all columns are wanted. */
export function widthOf({ stdout }: Pick<CommandContext, 'stdout'>, { wide }: { wide: boolean }): number {
  return stdout.isTTY && !wide ? stdout.columns || Infinity : Infinity
}

/** A space of a command, which must stay whole to be copied, and a space without a width, at which a long expression may be broken. */
const HELD = '\uE000'
const BREAK = '\u2028'

/** A line as several that fit the width, broken between words but not within backquotes; all but the first are indented further. */
export function wrapped(line: string, width: number): string {
  if (line.length <= width) return line
  const broken = line.replaceAll('|', `|${BREAK}`)
  const held = broken.replaceAll(/`[^`]+`/g, (code) => code.replaceAll(BREAK, '').replaceAll(' ', HELD))
  const lines = new Help().boxWrap(held, width - 4).replaceAll(BREAK, '')
  return lines.replaceAll(HELD, ' ').replaceAll('\n', `\n${/^ */.exec(line)![0]}  `)
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

/** What a shortened text keeps (characters). */
export const SHORTEST = 10

/**
 * The lines of a table with aligned columns. Columns give way until the rest fits the terminal, then the longest texts are shortened; a
 * last line says so.
 *
 * @param texts how many columns, from the first one, are left-aligned texts; all others are numbers
 */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  texts: number,
  { width, givesWay }: Fit = { width: Infinity, givesWay: [] },
): string[] {
  const widths = header.map((name, i) => Math.max(...[name, ...rows.map((row) => row[i]!)].map(columnsOf)))
  const shown = new Set(header.keys())
  const taken = () => [...shown].reduce((sum, i) => sum + widths[i]! + 2, -2)
  for (const name of givesWay) if (taken() > width) shown.delete(header.indexOf(name))
  const others = header.filter((_name, i) => !shown.has(i))
  const longestFirst = [...shown].filter((i) => i < texts).toSorted((a, b) => widths[b]! - widths[a]!)
  for (const i of longestFirst) {
    const room = Math.max(SHORTEST, widths[i]! - Math.max(0, taken() - width))
    if (room < widths[i]!) others.push(`the whole ${header[i]!}`)
    widths[i] = Math.min(widths[i]!, room)
  }
  const lines = [header, ...rows].map((row) =>
    [...shown]
      .map((i) => (i < texts ? padded(shortened(row[i]!, widths[i]!), widths[i]!) : row[i]!.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  )
  return others.length === 0 ? lines : [...lines, wrapped(`--wide also prints: ${others.join(', ')}`, width)]
}
