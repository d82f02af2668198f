import { AUTH_OPENS } from '../auth-opens.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { concurrencyLimit } from '../concurrency-limit.ts'
import { QueryError } from '../../schema/query-error.ts'
import { sendProblem } from '../problem.ts'

/** The schema that checks each part of a request. Handlers get its output. */
type Checks = { querystring?: z.ZodType; params?: z.ZodType; body?: z.ZodType }

/** The schema of the JSON answer of each status, or one for each content type; null if there is no content. */
type Answers = Readonly<Record<number, z.ZodType | Readonly<Record<string, z.ZodType>> | null>>

/** What a route accepts and answers. The types of its handler and the OpenAPI document come from this. */
export type Schemas<C extends Checks = Checks, A extends Answers = Answers> = {
  checks?: C
  answers: A
  /** How many of its responses are made at the same time, if they are large or take long. */
  atATime?: number
  /** Whether its answer has no noise of floating point. To look would take a tenth of a second for ten thousand targets. */
  isClean?: boolean
  /** A HEAD would be answered at once, and the history be read anyway. */
  head?: false
}

declare module 'fastify' {
  interface FastifyContextConfig {
    isClean?: boolean
  }
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A route in the document. */
export type RouteDescription = Schemas & { method: Method; url: string; summary: string }

/** A route, which any server that has the options can mount. */
export type Route<Options> = RouteDescription & {
  serve: (options: Options, app: FastifyInstance) => Handler
}

type Handler<Checked extends object = object, Answer = unknown> = {
  // A method, so that any route can be in the list of all routes.
  handle(request: FastifyRequest<Checked>, reply: FastifyReply): Promise<Answer>
}['handle']

type CheckedBy<C extends Checks> = {
  Querystring: OutputOf<C['querystring']>
  Params: OutputOf<C['params']>
  Body: OutputOf<C['body']>
}
type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown
type AnswerOf<Answer> = Answer extends z.ZodType
  ? z.output<Answer>
  : Answer extends Readonly<Record<string, z.ZodType>>
    ? z.output<Answer[keyof Answer]>
    : never

/**
 * A route of `/api/v1`. All methods but GET need `http.auth`.
 *
 * @param summary what it does, for the document
 */
export function route<C extends Checks, A extends Answers, Options>(
  place: `${Method} /api/v1/${string}`,
  summary: string,
  schemas: Schemas<C, A>,
  serve: (options: Options, app: FastifyInstance) => Handler<CheckedBy<C>, AnswerOf<A[keyof A]> | FastifyReply>,
): Route<Options> {
  const [method, url] = place.split(' ') as [Method, string] // oxlint-disable-line typescript/no-unsafe-type-assertion -- by its type
  return { method, url, summary, ...schemas, serve }
}

/** Serves a route. */
export function mount<Options>(
  app: FastifyInstance,
  { method, url, checks, atATime, head, isClean = false, serve }: Route<Options>,
  options: NoInfer<Options> & { auth?: unknown },
): void {
  const admits = atATime === undefined ? undefined : concurrencyLimit(atATime)
  const handle = serve(options, app)
  app.setValidatorCompiler<z.ZodType>(checkerOf).route({
    method,
    url,
    config: { isClean },
    exposeHeadRoute: method === 'GET' && head !== false && admits === undefined,
    // Answers are written as they are: compiled schemas would take several times as long for large ones.
    ...(checks !== undefined && { schema: checks }),
    ...(method !== 'GET' && options.auth === undefined && { preValidation: refuseChange }),
    handler: async (request, reply) =>
      admits !== undefined && (await admits(reply)) === undefined ? reply : handle(request, reply),
  })
}

/** Without authentication, a client could suppress notifications. */
async function refuseChange(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const detail = `changes over HTTP need http.auth, ${AUTH_OPENS}; the commands \`callwatch silence\` and \`callwatch test-notify\` do not`
  return sendProblem(reply, 403, detail)
}

function checkerOf({ schema, httpPart }: { schema: z.ZodType; httpPart?: string | undefined }) {
  return (input: unknown) => {
    if (httpPart !== 'body' && hasNul(input))
      return { error: new QueryError('no parameter may contain a NUL character') }
    const { data, error } = schema.safeParse(input)
    if (error === undefined) return { value: data }
    return { error: new QueryError(httpPart === 'body' ? z.prettifyError(error) : problemIn(schema, error)) }
  }
}

/** PostgreSQL has no text with a NUL. */
function hasNul(input: unknown): boolean {
  return JSON.stringify(input ?? '').includes('\\u0000')
}

/** The first problem of a query, in a sentence. */
function problemIn(schema: z.ZodType, { issues: [issue] }: z.ZodError): string {
  if (issue?.code !== 'unrecognized_keys') return `${issue?.path.join('.')} ${issue?.message}`
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape).join(', ') : 'none'
  return `unknown parameter ${issue.keys.join(', ')}; the parameters are ${names}`
}

/** An answer's content by type. */
export function contentOf(answer: Answers[number]): [type: string, schema: z.ZodType][] {
  if (answer === null) return []
  return answer instanceof z.ZodType ? [['application/json', answer]] : Object.entries(answer)
}
