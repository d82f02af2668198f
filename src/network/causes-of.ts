/** An error and its causes, innermost last. */
export function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return []
  return [error, ...causesOf(error instanceof AggregateError ? error.errors[0] : error.cause)]
}

/** The code of an error, such as `ECONNREFUSED`. */
export function codeIn(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
