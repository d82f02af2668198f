import { CommanderError } from 'commander'
import { ConfigError, formatProblems } from '../config/config-error.ts'
import { QueryError } from '../schema/query-error.ts'
import { ServiceError } from '../service/service-error.ts'
import { RefusedByOthers, StoreError } from '../store/store-error.ts'

export const SUCCESS = 0
export const FAILURE = 1
export const WRONG_USAGE = 2

/** The user asks for something impossible. The message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * What a failed command prints, and its exit code.
 *
 * @param command the command's name
 * @returns undefined for an error that no user can fix: a bug
 */
export function explainError(error: unknown, command: string | undefined): { text: string; code: number } | undefined {
  // Commander has already printed its own errors.
  if (error instanceof CommanderError) return { text: '', code: error.exitCode === 0 ? SUCCESS : WRONG_USAGE }
  if (error instanceof ConfigError)
    return { text: `${error.message}\n${formatProblems(error)}`, code: codeOf(!error.isPassing) }
  if (error instanceof UsageError || error instanceof QueryError) return { text: error.message, code: WRONG_USAGE }
  if (error instanceof StoreError)
    return { text: error.message, code: codeOf(error.kind === 'refused' && !(error instanceof RefusedByOthers)) }
  if (error instanceof ServiceError) return { text: error.message, code: FAILURE }
  if (error instanceof Error && cannotListen(error)) {
    const fix = command === 'simulate' ? 'choose another --port' : 'set another http.host or http.port'
    return { text: `${error.message}; ${fix}`, code: FAILURE }
  }
  return undefined
}

function codeOf(isMistake: boolean): number {
  return isMistake ? WRONG_USAGE : FAILURE
}

/** The port is in use or forbidden, the address belongs to another machine, or the name cannot be resolved. */
function cannotListen(error: Error): boolean {
  return 'syscall' in error && (error.syscall === 'listen' || error.syscall === 'getaddrinfo')
}
