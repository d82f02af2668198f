import { closeSync, openSync, writeFileSync } from 'node:fs'
import { anonymize } from './anonymize.ts'
import type { Exchange } from '../service/exchange.ts'
import type { Probe } from '../views/check.ts'
import { UsageError } from './explain-error.ts'

/**
 * Creates a file for a recording, before anything is requested.
 *
 * @returns writes the exchanges to it, anonymous, for `callwatch simulate --replay`
 * @throws {UsageError} if there is such a file, or it cannot be created
 */
export function newRecording(file: string): (exchanges: readonly Exchange[]) => NonNullable<Probe['recording']> {
  const descriptor = orRefuse('--record needs a new file: delete this one, or name another', () =>
    openSync(file, 'wx', 0o600),
  )
  return (exchanges) => {
    // Objects that are nested thousands of times deep cannot be rewritten.
    const { answers, replaced } = orRefuse('the answers are nested too deeply', () => anonymize(exchanges))
    writeFileSync(descriptor, `${JSON.stringify({ answers }, undefined, 2)}\n`)
    closeSync(descriptor)
    return { file, answers: answers.length, replaced }
  }
}

function orRefuse<Result>(problem: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw new UsageError(`nothing was recorded; ${problem} (${String(error)})`)
  }
}
