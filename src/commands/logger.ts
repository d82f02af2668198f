import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import pretty from 'pino-pretty'

export type LoggerOptions = {
  level: string
  /** Never written, wherever they turn up. */
  secrets: readonly string[]
  stream: NodeJS.WriteStream
}

/** A log of JSON lines, or of readable ones where a person watches. */
export function createLogger({ level, secrets, stream }: LoggerOptions): Logger {
  const destination = stream.isTTY
    ? pretty({ destination: masking(stream, secrets), ignore: 'pid,hostname' })
    : masking(stream, secrets)
  return pino({ level, base: null, timestamp: isoTimestamp, formatters: { level: levelName } }, destination)
}

function isoTimestamp(): string {
  return `,"time":"${new Date().toISOString()}"`
}

function levelName(level: string): { level: string } {
  return { level }
}

/**
 * Writes on, with every secret replaced. Redaction by path would miss a secret within an error's message; this is the
 * last door that all text goes through.
 */
function masking(stream: NodeJS.WriteStream, secrets: readonly string[]): Writable {
  const spellings = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  const mask = (text: string) => spellings.reduce((masked, secret) => masked.replaceAll(secret, '********'), text)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      stream.write(mask(String(chunk)))
      done()
    },
  })
}
