import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** Reads a file whole, as UTF-8; throws what the file system says. */
export type ReadText = (path: string) => string

/** No configuration, secret or certificate is longer (bytes). */
const MAX_TEXT_BYTES = 1_000_000

/** A regular file. A pipe or a device is refused, and not waited for: it would be read again and again. */
export const readText: ReadText = (path) => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    if (!stats.isFile() && !stats.isDirectory()) throw new UnreadableFile('NOT_A_FILE')
    return readWhole(file)
  } finally {
    closeSync(file)
  }
}

/** Any file, a pipe such as `<(…)` included. Waits some seconds for what is written to it; nothing else happens meanwhile. */
export const readAnyText: ReadText = (path) => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return readWhole(file, fstatSync(file).isFIFO())
  } finally {
    closeSync(file)
  }
}

/** Whether a file can be read once only. */
export function isReadOnce(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && !stats.isFile() && !stats.isDirectory()
}

/** A file that callwatch does not read, though the file system would. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
  readonly code: 'NOT_A_FILE' | 'TOO_LARGE' | 'NOT_WRITTEN'

  constructor(code: UnreadableFile['code']) {
    super(code)
    this.code = code
  }
}

const piece = Buffer.allocUnsafe(64 * 1024)
/** How long a pipe may keep its reader waiting, and how often that looks (milliseconds). */
const MAX_WAIT_MS = 5000
const WAIT_MS = 20

function readWhole(file: number, isPipe = false): string {
  const pieces: Buffer[] = []
  const end = performance.now() + MAX_WAIT_MS
  for (let length = 0; ;) {
    const read = readPiece(file)
    // Until a writer has opened a pipe, it looks as if it had ended.
    const isAwaited = read === undefined || (read === 0 && length === 0 && isPipe)
    if (isAwaited && performance.now() > end) throw new UnreadableFile('NOT_WRITTEN')
    if (isAwaited) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS)
    else if (read === 0) return Buffer.concat(pieces).toString()
    else {
      length += read
      if (length > MAX_TEXT_BYTES) throw new UnreadableFile('TOO_LARGE')
      pieces.push(Buffer.from(piece.subarray(0, read)))
    }
  }
}

/** How many bytes were read into the piece; undefined where there are none yet. */
function readPiece(file: number): number | undefined {
  try {
    return readSync(file, piece)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined
    throw error
  }
}
