import { readFileSync } from 'node:fs'

/** Reads a file whole, as UTF-8; throws what the file system says. */
export type ReadText = (path: string) => string

export const readText: ReadText = (path) => readFileSync(path, 'utf8')
