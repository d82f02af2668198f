import { execFileSync } from 'node:child_process'

const HEX_DIGITS = 5

/**
 * Seeds that move with the code: drawn from the hash of the commit, so that each push covers other worlds, and a failing one is the same again.
 *
 * @param count at most 8
 * @param hash of the commit, 40 hexadecimal digits; default: that of this clone
 */
export function seedsOfCommit(count: number, hash = hashOfCommit()): number[] {
  return Array.from({ length: count }, (_none, i) =>
    Number.parseInt(hash.slice(i * HEX_DIGITS, (i + 1) * HEX_DIGITS), 16),
  )
}

let known: string | undefined

function hashOfCommit(): string {
  known ??= execFileSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).trim()
  return known
}
