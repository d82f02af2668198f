import { fstatSync, writeSync } from 'node:fs'
import type { LogStream } from './logger.ts'

export type LogOutput = LogStream & {
  /** How many lines could not be written. */
  dropped: () => number
}

/** The most output that waits for a pipe (characters). Without a limit, a pipe that nothing reads would fill the memory. */
const MAX_WAITING_CHARACTERS = 1024 * 1024

/**
 * The output of the log. Nothing else depends on it: a line that cannot be written is dropped and counted, whatever the error
 * is. The stream itself needs a listener for its errors.
 */
export function logOutput(stream: NodeJS.WriteStream & { fd: number }): LogOutput {
  let dropped = 0
  const drop = () => void (dropped += 1)
  let isCut = false
  /** If the disk is full, the stream would not notice that only the beginning of a line was written. */
  const writeToFile = (line: string): void => {
    const bytes = Buffer.from(isCut ? `\n${line}` : line)
    try {
      isCut = writeSync(stream.fd, bytes) < bytes.length
      if (isCut) drop()
    } catch {
      drop()
    }
  }
  const writeToStream = (line: string): void => {
    if (stream.writableLength + line.length > MAX_WAITING_CHARACTERS) drop()
    else stream.write(line, (error) => error && drop())
  }
  return {
    isTTY: stream.isTTY,
    hasColors: () => stream.hasColors(),
    write: !stream.isTTY && fstatSync(stream.fd).isFile() ? writeToFile : writeToStream,
    dropped: () => dropped,
  }
}
