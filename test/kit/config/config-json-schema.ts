import { z } from 'zod'
import { configSchema } from '../../../src/config/config.ts'
import { isMap } from '../../../src/schema/path.ts'

type JsonSchema = Record<string, unknown>

/**
 * The form of the configuration file as JSON Schema (2020-12), for completion and validation in editors. It checks less than
 * loading: it does not check keys against each other, names of time zones, cron fields and the like.
 */
export function configJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { io: 'input' })
  return {
    $schema,
    title: "callwatch's configuration file",
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a map stays one
    ...(withReferences(schema) as JsonSchema),
    $defs: {
      reference: {
        type: 'string',
        pattern: String.raw`\$\{[A-Za-z_]\w*\}`,
        description: 'Replaced from the environment; a variable that is not set is an error',
      },
    },
  }
}

/** What `${NAME}` may be replaced by: any scalar. */
const REFERENCE = { $ref: '#/$defs/reference' }

/** Keywords that describe a value. They stay next to the keywords that restrict it. */
const ANNOTATIONS = ['description', 'default', 'examples', 'writeOnly']

/** A schema that accepts `${NAME}` wherever it expects more than any text. */
function withReferences(node: unknown): unknown {
  if (!isMap(node)) return node
  if (isTree(node)) {
    return Object.fromEntries(Object.entries(node).map(([keyword, value]) => [keyword, withinTree(keyword, value)]))
  }
  const annotations = Object.entries(node).filter(([keyword]) => ANNOTATIONS.includes(keyword))
  const rest = Object.entries(node).filter(([keyword]) => !ANNOTATIONS.includes(keyword))
  // A rule's signal must be literal, and a plain text accepts `${NAME}` anyway.
  if ('const' in node || rest.every(([keyword]) => keyword === 'type' || keyword === 'minLength')) return node
  return { ...Object.fromEntries(annotations), anyOf: [Object.fromEntries(rest), REFERENCE] }
}

function isTree(node: JsonSchema): boolean {
  return node['type'] === 'object' || node['type'] === 'array' || 'oneOf' in node
}

function withinTree(keyword: string, value: unknown): unknown {
  if (keyword === 'oneOf' && Array.isArray(value)) return value.map(withReferences)
  if (keyword === 'items' || keyword === 'additionalProperties') return withReferences(value)
  if (keyword !== 'properties' || !isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, withReferences(schema)]))
}
