import type { FastifyInstance, FastifyTypeProvider } from 'fastify'
import * as z from 'zod'
import type { AnswerName } from '../answers.ts'
import { BadRequest } from '../problem.ts'

/** What the `config` of a route of the API says for the document. */
export type RouteDescription = {
  /** What it does. */
  summary: string
  /** What it answers where it succeeds, and errors that have more than others. */
  answers: Answers
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteDescription> {}
}

/** By status, the schema of the answer in answers.ts, or one for each content type; null where it has no content. */
type Answers = Readonly<Record<number, AnswerName | Readonly<Record<string, AnswerName>> | null>>

interface CheckedByZod extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
}

/**
 * The application as the routes of `/api/v1` see it. What their `schema` has (`querystring`, `params`, `body`) is checked by
 * zod before their handlers, which get what zod made of it. The document `openapi.json` is generated from the same
 * schemas, and from what their `config` says.
 */
export function api(app: FastifyInstance) {
  return app.setValidatorCompiler<z.ZodType>(checkerOf).withTypeProvider<CheckedByZod>()
}

function checkerOf({ schema, httpPart }: { schema: z.ZodType; httpPart?: string | undefined }) {
  return (given: unknown) => {
    if (httpPart !== 'body' && hasNul(given))
      return { error: new BadRequest('no parameter may contain a NUL character') }
    const { data, error } = schema.safeParse(given)
    if (error === undefined) return { value: data }
    return { error: new BadRequest(httpPart === 'body' ? z.prettifyError(error) : problemIn(schema, error)) }
  }
}

/** PostgreSQL has no text with a NUL. */
function hasNul(given: unknown): boolean {
  return JSON.stringify(given ?? '').includes('\\u0000')
}

/** The first problem of a query, in a sentence. */
function problemIn(schema: z.ZodType, { issues: [issue] }: z.ZodError): string {
  if (issue?.code !== 'unrecognized_keys') return `${issue?.path.join('.')} ${issue?.message}`
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape).join(', ') : 'none'
  return `unknown parameter ${issue.keys.join(', ')}; the parameters are ${names}`
}
