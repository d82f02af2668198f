import { channel } from 'node:diagnostics_channel'
import { STATUS_CODES } from 'node:http'
import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import * as z from 'zod'
import { answers } from '../../src/web/answers.ts'
import { AUTH, serve } from './serve.ts'

export type JsonSchema = Record<string, unknown>
export type OpenApi = {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>>
  components: { schemas: Record<string, JsonSchema> }
}

const API = '/api/v1/'
const PROBLEM = 'application/problem+json'

/** Starts the server, and returns the OpenAPI document of its routes under `/api/v1`, and these as `GET /path`. */
export async function openApiDocument(): Promise<{ document: OpenApi; routes: string[] }> {
  const routes: string[] = []
  let served: FastifyInstance | undefined
  // The server is the one that runs: fastify announces it before it has any route.
  const announced = channel('fastify.initialization')
  const extend = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance } // oxlint-disable-line typescript/no-unsafe-type-assertion -- as fastify documents it
    served = fastify
    void fastify.register(swagger, { openapi: about(), transform: describe, convertConstToEnum: false })
    fastify.addHook('onRoute', ({ method, url }) => {
      if (method !== 'HEAD' && url.startsWith('/api/')) routes.push(`${String(method)} ${url}`)
    })
  }
  announced.subscribe(extend)
  await serve([], { auth: AUTH })
  announced.unsubscribe(extend)
  const document: unknown = served?.swagger()
  return { document: document as OpenApi, routes } // oxlint-disable-line typescript/no-unsafe-type-assertion -- a test validates it
}

function about() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'callwatch',
      version: '1',
      description: 'What callwatch counts, shows and tells: docs/api.md describes it. Fields may be added.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    // Without http.auth there is no password.
    security: [{}, { password: [] }],
    components: { securitySchemes: { password: { type: 'http', scheme: 'basic' } as const }, schemas: components() },
  }
}

/** What swagger is told of a route: the schemas that check its requests, and what its `config` names. */
function describe({ schema = {}, url, route }: { schema?: object; url: string; route: RouteOptions }) {
  if (!url.startsWith(API)) return { url, schema: { hide: true } }
  const { summary, answers: named } = route.config ?? {}
  if (summary === undefined || named === undefined) throw new Error(`${url} has no \`config\` with summary and answers`)
  const requests = Object.entries(schema).map(([part, checks]) => [part, jsonSchema(checks)])
  const response = Object.fromEntries(
    Object.entries(named).map(([status, answer]) => {
      if (answer === null) return [status, { description: STATUS_CODES[status], type: 'null' }]
      const byType = typeof answer === 'string' ? { 'application/json': answer } : answer
      return [status, answerOf(byType, STATUS_CODES[status])]
    }),
  )
  const failed = answerOf({ [PROBLEM]: 'Problem' })
  return { url, schema: { summary, ...Object.fromEntries(requests), response: { ...response, default: failed } } }
}

function answerOf(byType: Readonly<Record<string, keyof typeof answers>>, title?: string) {
  const [name] = Object.values(byType)
  const content = Object.entries(byType).map(([type, name]) => [
    type,
    { schema: { $ref: `#/components/schemas/${name}` } },
  ])
  return { description: answers[name!].description ?? title, content: Object.fromEntries(content) }
}

function components(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(answers)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { ...FORM, uri: (id) => `#/components/schemas/${id}` })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, schema]),
  )
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, FORM)
  return rest
}

/** What clients send, and what they get: objects that may have more fields later. */
const FORM = {
  io: 'input',
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    // Its format says it in a word.
    if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  },
} as const
