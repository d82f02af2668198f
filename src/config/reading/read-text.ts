import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** Reads a whole file as UTF-8. Throws the file system's errors. */
export type ReadText = (path: string) => string

/** Longer files are neither configurations nor secrets nor certificates (bytes). */
const MAX_TEXT_BYTES = 1_000_000

/**
 * Reads a regular file. It refuses pipes and devices and does not wait for them, because the file is read again and again.
 */
export const readText: ReadText = (path) => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    if (!stats.isFile() && !stats.isDirectory()) throw new UnreadableFile('is a pipe or a device and no file')
    return readWhole(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Reads any file, including a pipe such as `<(…)`. Waits some seconds for the pipe's content, and blocks everything else
 * meanwhile.
 */
export const readAnyText: ReadText = (path) => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return readWhole(file, fstatSync(file).isFIFO())
  } finally {
    closeSync(file)
  }
}

/** Whether a file can be read only once. */
export function isReadOnce(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && !stats.isFile() && !stats.isDirectory()
}

/** A file that the file system would read, but callwatch does not. The message follows the file's name. */
class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

const piece = Buffer.allocUnsafe(64 * 1024)
/** How long to wait for a pipe, and how often to check it (milliseconds). */
const MAX_WAIT_MS = 5000
const WAIT_MS = 20

function readWhole(file: number, isPipe = false): string {
  const pieces: Buffer[] = []
  const end = performance.now() + MAX_WAIT_MS
  for (let length = 0; ;) {
    const read = readPiece(file)
    // Before a writer has opened a pipe, the pipe seems to have ended.
    const isAwaited = read === undefined || (read === 0 && length === 0 && isPipe)
    if (isAwaited && performance.now() > end)
      throw new UnreadableFile('is a pipe to which nothing was written within five seconds')
    if (isAwaited) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS)
    else if (read === 0) return Buffer.concat(pieces).toString()
    else {
      length += read
      if (length > MAX_TEXT_BYTES) throw new UnreadableFile('is larger than 1 MB')
      pieces.push(Buffer.from(piece.subarray(0, read)))
    }
  }
}

/** How many bytes were read into the piece; undefined if there are none yet. */
function readPiece(file: number): number | undefined {
  try {
    return readSync(file, piece)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined
    throw error
  }
}

/** Why a file cannot be read, worded to follow the file's name. */
export function fileProblem(error: unknown): string {
  if (error instanceof UnreadableFile) return error.message
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  if (code === 'EISDIR') return 'is a folder'
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read, because its permissions forbid it'
  return `cannot be read (${typeof code === 'string' ? code : 'unknown reason'})`
}
