import type * as z from 'zod'

/** The first problem of a query string, in a sentence. */
export function queryProblem({ issues: [issue] }: z.ZodError, names: readonly string[]): string {
  if (issue?.code !== 'unrecognized_keys') return `${issue?.path.join('.')} ${issue?.message}`
  return `there is no parameter ${issue.keys.join(', ')}; there are ${names.join(', ')}`
}
