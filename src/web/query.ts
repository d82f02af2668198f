import type * as z from 'zod'

/** A request whose parameters are wrong. The server answers it with 400 and this message. */
export class BadRequest extends Error {}

/**
 * Reads the parameters of a query string.
 *
 * @throws {BadRequest} with the first problem, in a sentence
 */
export function readQuery<Schema extends z.ZodObject>(schema: Schema, query: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(query)
  if (data !== undefined) return data
  const [issue] = error?.issues ?? []
  if (issue?.code !== 'unrecognized_keys') throw new BadRequest(`${issue?.path.join('.')} ${issue?.message}`)
  const names = Object.keys(schema.shape).join(', ')
  throw new BadRequest(`unknown parameter ${issue.keys.join(', ')}; the parameters are ${names}`)
}
