/** One mistake of the user. */
export type Problem = {
  /** The place in the file (`targets[0].region`), the environment variable's name, or `file:line:column`. */
  path: string
  /** Where in the file that is, as `file:line:column`; absent where it is not in the file. */
  place?: string
  /** What was found and what was expected; never a secret's value. */
  message: string
}

/** The configuration cannot be used. Carries every problem that was found, at least one. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]

  /** @param file what the user calls the file that was read, where there is one */
  constructor(problems: readonly Problem[], file?: string) {
    const found = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    super(`${found} in the configuration${file === undefined ? '' : ` (${file})`}`)
    this.name = 'ConfigError'
    this.problems = problems
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
