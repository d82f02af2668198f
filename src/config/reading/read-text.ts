import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** Reads a file whole, as UTF-8; throws what the file system says. */
export type ReadText = (path: string) => string

/** No configuration, secret or certificate is longer (bytes). */
const LONGEST_TEXT = 1_000_000

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

/** Any file, a pipe such as `<(…)` included. */
export const readAnyText: ReadText = (path) => {
  const file = openSync(path, 'r')
  try {
    return readWhole(file)
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
  readonly code: 'NOT_A_FILE' | 'TOO_LARGE'

  constructor(code: UnreadableFile['code']) {
    super(code)
    this.code = code
  }
}

const piece = Buffer.allocUnsafe(64 * 1024)

function readWhole(file: number): string {
  const pieces: Buffer[] = []
  for (let length = 0; ;) {
    const read = readSync(file, piece)
    if (read === 0) return Buffer.concat(pieces).toString()
    length += read
    if (length > LONGEST_TEXT) throw new UnreadableFile('TOO_LARGE')
    pieces.push(Buffer.from(piece.subarray(0, read)))
  }
}
