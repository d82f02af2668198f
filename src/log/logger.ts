import { pino, type Logger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { escapedJson, plainJson } from '../text/plain-text.ts'
import type { LogConfig } from './log-section.ts'
import type { Mask } from './mask-secrets.ts'
import { shortLine } from './short-line.ts'

/** The parts of a process's stream that the log needs. */
export type LogStream = Pick<NodeJS.WriteStream, 'isTTY'> & {
  write: (text: string) => unknown
  hasColors: () => boolean
  /** The width of a terminal. */
  columns?: number
}

export type LoggerOptions = {
  level: LogConfig['level']
  /** Masks everything that is written. */
  mask: Mask
  stream: LogStream
}

/** A log of JSON lines of at most 8 KB. On a terminal it writes readable lines, in colours unless NO_COLOR or the terminal forbids them. */
export function createLogger({ level, mask, stream }: LoggerOptions): Logger {
  const shown = stream.isTTY ? readable(stream, mask) : (line: string) => shortLine(mask(line), escapedJson)
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: levelName } },
    { write: (line) => void stream.write(shown(line)) },
  )
}

/** Makes lines for a terminal. Nothing in a line can move the terminal's cursor. */
function readable(stream: LogStream, mask: Mask): (line: string) => string {
  const pretty = prettyFactory({ ignore: 'pid,hostname', singleLine: true, colorize: stream.hasColors() })
  return (line) => shortLine(mask(line), (text) => mask(pretty(plainJson(text))))
}

function levelName(level: string): { level: string } {
  return { level }
}
