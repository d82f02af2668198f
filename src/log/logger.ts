import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import pretty from 'pino-pretty'
import { escapedJson, plainJson } from '../text/plain-text.ts'
import type { LogConfig } from './log-section.ts'
import type { Mask } from './mask-secrets.ts'

/** What is needed of a process's stream. */
export type LogStream = Pick<NodeJS.WriteStream, 'isTTY'> & {
  write: (text: string) => unknown
  hasColors: () => boolean
}

export type LoggerOptions = {
  level: LogConfig['level']
  /** Everything that is written goes through it. */
  mask: Mask
  stream: LogStream
}

/** A log of JSON lines; where a person watches, of readable ones, in colours unless NO_COLOR or the terminal forbids them. */
export function createLogger({ level, mask, stream }: LoggerOptions): Logger {
  const destination = stream.isTTY ? readable(stream, mask) : masking(stream, (line) => escapedJson(mask(line)))
  return pino({ level, base: null, timestamp: isoTimestamp, formatters: { level: levelName } }, destination)
}

/** Lines for a terminal, which nothing in them may move the cursor of. */
function readable(stream: LogStream, mask: Mask): { write: (line: string) => void } {
  const lines = pretty({
    destination: masking(stream, mask),
    ignore: 'pid,hostname',
    singleLine: true,
    colorize: stream.hasColors(),
  })
  return { write: (line) => void lines.write(plainJson(line)) }
}

function isoTimestamp(): string {
  return `,"time":"${new Date().toISOString()}"`
}

function levelName(level: string): { level: string } {
  return { level }
}

/** Writes on what is masked: the last door that all text goes through. */
function masking(stream: LogStream, mask: Mask): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      stream.write(mask(String(chunk)))
      done()
    },
  })
}
