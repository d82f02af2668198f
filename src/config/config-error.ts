/** One mistake in the configuration. */
export type Problem = {
  /** The place in the file (`targets[0].region`), the environment variable's name, or `file:line:column`. */
  path: string
  /** The place in the file as `file:line:column`; absent if the value is not from the file. */
  place?: string
  /** What was found and what was expected; never a secret's value. */
  message: string
}

/** The configuration cannot be used. Contains all problems that were found, at least one. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]
  /** Whether only files are missing or wrong that other programs bring. So a later start may succeed. */
  readonly isPassing: boolean

  /** @param file how the user named the file that was read, if there is one */
  constructor(problems: readonly Problem[], { file, isPassing = false }: { file?: string; isPassing?: boolean } = {}) {
    const found = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    super(`${found} in the configuration${file === undefined ? '' : ` (${file})`}`)
    this.name = 'ConfigError'
    this.problems = problems
    this.isPassing = isPassing
  }
}

/** A problem on one line: `file:line:column: path: message`. */
export function formatProblem({ place, path, message }: Problem): string {
  return `${place === undefined ? '' : `${place}: `}${path}: ${message}`
}

/** The problems for a terminal, one line each, without a line break at the end. */
export function formatProblems(error: ConfigError): string {
  return error.problems.map(formatProblem).join('\n')
}
