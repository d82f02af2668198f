import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { alertChange } from '../src/views/alert.ts'
import { callChange, callInEvent, participant } from '../src/views/call.ts'
import { alertEvent, callEvent } from '../src/views/event.ts'

/*
 * The last step of `npm run package`: the declarations of what the package exports. The compiler has written those of the functions;
 * the types of events are written here from their schemas, so that users need neither zod nor the program's own types.
 */

const PACKAGE = join(import.meta.dirname, '../dist/package')
const [COMPILED, TYPES] = [join(PACKAGE, 'compiled'), join(PACKAGE, 'dist/types')]

type JsonSchema = z.core.JSONSchema.BaseSchema
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- none is true or false, or a list
const plain = (schema: unknown) => schema as JsonSchema

const EXPORTED = {
  CallEvent: callEvent,
  AlertEvent: alertEvent,
  CallChange: callChange,
  CallData: callInEvent,
  Participant: participant,
  AlertChange: alertChange,
}

const names = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(EXPORTED)) names.add(schema, { id })
const { schemas } = z.toJSONSchema(names, {
  uri: (id) => id,
  override: ({ zodSchema, jsonSchema }) => {
    const description = z.globalRegistry.get(zodSchema)?.description
    if (description !== undefined) jsonSchema.description = description
  },
})
const types = Object.entries(schemas).map(
  ([name, { description, ...schema }]) => `/** ${description}. */\nexport type ${name} = ${typeOf(schema, '')}\n`,
)
const event =
  '/** An event as webhooks and `/api/v1/events` deliver it. */\nexport type CallwatchEvent = CallEvent | AlertEvent\n'

for (const name of ['index.d.ts', 'events/webhooks/verify.d.ts']) {
  mkdirSync(dirname(join(TYPES, name)), { recursive: true })
  cpSync(join(COMPILED, name), join(TYPES, name))
}
rmSync(COMPILED, { recursive: true })
mkdirSync(join(TYPES, 'views'), { recursive: true })
writeFileSync(join(TYPES, 'views/event.d.ts'), [event, ...types].join('\n'))

/** A schema as a type of TypeScript. */
function typeOf({ $ref, anyOf, enum: values, type, items, ...node }: JsonSchema, indent: string): string {
  if ($ref !== undefined) return $ref
  if (anyOf !== undefined) return anyOf.map((each) => typeOf(each, indent)).join(' | ')
  if (values !== undefined || 'const' in node)
    return (values ?? [node.const]).map((value) => JSON.stringify(value)).join(' | ')
  if (type === 'array') return `(${typeOf(plain(items), indent)})[]`
  if (type === 'object') return objectOf(node, indent)
  if (node.not !== undefined) return 'never'
  if (typeof type !== 'string' || ('additionalProperties' in node && node.additionalProperties !== false))
    throw new Error(`no type of TypeScript is known for ${JSON.stringify({ type, ...node })}`)
  return type === 'integer' ? 'number' : type
}

function objectOf({ properties = {}, required = [] }: JsonSchema, indent: string): string {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, field]) => {
    const { description, ...schema } = plain(field)
    const about = description === undefined ? '' : `${inner}/** ${description}. */\n`
    return `${about}${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)}\n`
  })
  return `{\n${fields.join('')}${indent}}`
}
