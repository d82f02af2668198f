import { below, fieldLines } from './field-lines.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }

/** A line for each field of a JSON Schema. A reference is the name of what it refers to. */
export function schemaLines(schema: JsonSchema, ignored: readonly string[] = []): string[] {
  const { add, lines } = fieldLines()
  const visit = (path: string, node: JsonSchema): void => {
    const { $ref, properties = {}, items, additionalProperties, required = [] } = node as Keywords
    const alternatives = [node['anyOf'], node['oneOf'], node['allOf']].filter(Array.isArray).flat()
    if ($ref !== undefined) {
      if (!ignored.includes($ref)) add(path, $ref.split('/').at(-1)!)
    } else if (alternatives.length > 0) {
      for (const alternative of alternatives) visit(`${path}${variantOf(alternative)}`, alternative)
    } else if (items !== undefined) visit(`${path}[]`, items)
    else if (Object.keys(properties).length > 0 || typeof additionalProperties === 'object') {
      for (const [name, field] of Object.entries(properties)) visit(below(path, name, !required.includes(name)), field)
      if (typeof additionalProperties === 'object') visit(`${path}.*`, additionalProperties)
    } else for (const type of typesOf(node)) add(path, type)
  }
  visit('', schema)
  return lines()
}

type Keywords = {
  $ref?: string
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  additionalProperties?: boolean | JsonSchema
  required?: readonly string[]
}

/** Names what of several alternatives a schema is, where a constant says so: `(signal=minutes)`. */
function variantOf({ properties = {} }: Keywords & JsonSchema): string {
  const [constant] = Object.entries(properties).filter(([, field]) => 'const' in field)
  return constant === undefined ? '' : `(${constant[0]}=${String(constant[1]['const'])})`
}

function typesOf({ enum: values, type = 'any', format, ...node }: JsonSchema): string[] {
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value))
  if ('const' in node) return [JSON.stringify(node['const'])]
  return [type].flat().map((each) => `${String(each)}${typeof format === 'string' ? ` (${format})` : ''}`)
}
