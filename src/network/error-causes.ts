/** An error and its causes, innermost last. */
export function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return []
  return [error, ...causesOf(error instanceof AggregateError ? error.errors[0] : error.cause)]
}

/** The innermost code of an error and its causes, such as `ECONNREFUSED`. */
export function codeOf(causes: readonly Error[]): string | undefined {
  return causes.map((cause) => ('code' in cause ? cause.code : undefined)).findLast((code) => typeof code === 'string')
}
