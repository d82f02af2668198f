import { readFileSync, statSync } from 'node:fs'

/** The text of a file, and whether it can be read only once; or why there is none, worded to follow the file's name. */
export type Reading = { text: string; isPipe: boolean } | { problem: string }

/** Reads a whole file as UTF-8. */
export type ReadText = (path: string) => Reading

/** Longer files are neither configurations nor secrets nor certificates (bytes). */
const MAX_TEXT_BYTES = 1_000_000

/** Reads a file. It refuses pipes and devices, because the file is read again and again. */
export const readText: ReadText = (path) => readWhole(path, false)

/** Reads any file, including a pipe such as `<(…)`, for whose end it waits. */
export const readAnyText: ReadText = (path) => readWhole(path, true)

function readWhole(path: string, mayBePipe: boolean): Reading {
  try {
    const stats = statSync(path)
    const isPipe = !stats.isFile() && !stats.isDirectory()
    if (isPipe && !mayBePipe) return { problem: 'is a pipe or a device and no file' }
    if (stats.size > MAX_TEXT_BYTES) return { problem: 'is larger than 1 MB' }
    return { text: readFileSync(path, 'utf8'), isPipe }
  } catch (error) {
    return { problem: problemOf(error) }
  }
}

function problemOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  if (code === 'EISDIR') return 'is a folder'
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read, because its permissions forbid it'
  return `cannot be read (${typeof code === 'string' ? code : 'unknown reason'})`
}
