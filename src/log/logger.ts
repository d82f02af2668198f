import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import pretty from 'pino-pretty'
import { escapedJson, plainJson } from '../text/plain-text.ts'
import type { LogConfig } from './log-section.ts'
import type { Mask } from './mask-secrets.ts'

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

/** A log of JSON lines. On a terminal it writes readable lines, in colours unless NO_COLOR or the terminal forbids them. */
export function createLogger({ level, mask, stream }: LoggerOptions): Logger {
  const destination = stream.isTTY ? readable(stream, mask) : masking(stream, (line) => escapedJson(mask(line)))
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: levelName } },
    destination,
  )
}

/** Lines for a terminal. Nothing in a line can move the terminal's cursor. */
function readable(stream: LogStream, mask: Mask): { write: (line: string) => void } {
  const lines = pretty({
    destination: masking(stream, mask),
    ignore: 'pid,hostname',
    singleLine: true,
    colorize: stream.hasColors(),
  })
  return { write: (line) => void lines.write(plainJson(line)) }
}

function levelName(level: string): { level: string } {
  return { level }
}

/** Masks the output. All text passes through here last. */
function masking(stream: LogStream, mask: Mask): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      stream.write(mask(String(chunk)))
      done()
    },
  })
}
