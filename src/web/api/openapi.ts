import * as z from 'zod'
import { openApi as document, problem, STATUS_CODES } from '../../views/problem.ts'
import { named } from '../../views/shapes.ts'
import { contentOf, route, type RouteDescription } from './route.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

/** `GET /api/v1/openapi.json`: the document of all routes. */
export const openApi = route(
  'GET /api/v1/openapi.json',
  'This document',
  {
    answers: { 200: document },
  },
  () => {
    let document: ReturnType<typeof openApiDocument> | undefined
    return async () => (document ??= openApiDocument((await import('./routes.ts')).ROUTES))
  },
)

/** The OpenAPI document of these routes. */
export function openApiDocument(routes: readonly RouteDescription[]) {
  const byPath = Map.groupBy(routes, ({ url }) => url.replaceAll(/:(\w+)/g, '{$1}'))
  const paths = Array.from(byPath, ([path, methods]) => {
    const operations = methods.map((each) => [each.method.toLowerCase(), operationOf(each)])
    return [path, Object.fromEntries(operations)] as const
  })
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
    components: { securitySchemes: { password: { type: 'http', scheme: 'basic' } }, schemas: components() },
    paths: Object.fromEntries(paths),
  }
}

function operationOf({ summary, checks: { querystring, params, body } = {}, answers }: RouteDescription) {
  const parameters = [...parametersIn('query', querystring), ...parametersIn('path', params)]
  return {
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(body) } } },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, responseOf(contentOf(answer), status)]),
      ),
      default: responseOf([['application/problem+json', problem]]),
    },
  }
}

function parametersIn(place: 'query' | 'path', checks: z.ZodType | undefined) {
  if (checks === undefined) return []
  const { properties = {}, required = [] } = jsonSchema(checks)
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = Object(schema) as JsonSchema // oxlint-disable-line typescript/no-unsafe-type-assertion -- none is true or false
    return { name, in: place, required: required.includes(name), ...(description && { description }), schema: rest }
  })
}

function responseOf(content: readonly (readonly [type: string, schema: z.ZodType])[], status = '') {
  const description = content[0]?.[1].description ?? STATUS_CODES[status]
  const byType = content.map(([type, schema]) => [type, { schema: { $ref: refTo(named.get(schema)!.id) } }])
  return { description, ...(content.length > 0 && { content: Object.fromEntries(byType) }) }
}

const refTo = (id: string) => `#/components/schemas/${id}`

function components(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(named, { ...FORM, uri: refTo })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, schema]),
  )
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, FORM)
  return rest
}

/** Schemas of requests and answers. Later versions may add fields to objects. */
const FORM = {
  io: 'input',
  override: ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    // Its format says it in a word.
    if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  },
} as const
