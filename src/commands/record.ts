import { writeFileSync } from 'node:fs'
import { anonymize, type Replaced } from '../service/anonymize.ts'
import type { Exchange } from '../service/exchange.ts'
import { UsageError } from './explain-error.ts'

/** How many answers a recording has, and what was replaced in them. */
export type Recording = { file: string; answers: number; replaced: Replaced }

/**
 * Writes the exchanges to a new file, anonymous, for `callwatch simulate --replay`.
 *
 * @throws {UsageError} if there is such a file, or it cannot be written
 */
export function record(file: string, exchanges: readonly Exchange[]): Recording {
  try {
    const { answers, replaced } = anonymize(exchanges)
    writeFileSync(file, `${JSON.stringify({ answers }, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
    return { file, answers: answers.length, replaced }
  } catch (error) {
    throw new UsageError(
      `nothing was recorded; --record needs a new file: delete this one, or name another (${String(error)})`,
    )
  }
}
