import { expect, test } from 'vitest'
import { configJsonSchema } from '../../kit/config/config-json-schema.ts'

/** As far as the page needs to know of a JSON Schema. */
type Node = {
  description?: string
  default?: unknown
  properties?: Record<string, Node>
  items?: Node
  anyOf?: Node[]
  oneOf?: Node[]
  writeOnly?: boolean
  enum?: unknown[]
  const?: unknown
  required?: string[]
}

/** A longer list is on the page about it. */
const MOST_WORDS = 8
/** A longer list is only on the first key that has it. */
const SEVERAL = 4

test('docs/configuration.md lists every key as it is; `npx vitest run test/unit/config -u` refreshes it', async () => {
  const { properties = {} } = configJsonSchema() as Node
  const places = new Map<string, string>()
  const sections = Object.entries(properties).map(([name, node]): Parameters<typeof page>[0][number] => {
    const rows = rowsOf(name, node, places)
    return [name, node.description ?? '', rows.slice(1)]
  })
  expect(sections.flatMap(([, , rows]) => rows).length).toBeGreaterThan(80)
  await expect(page(sections)).toMatchFileSnapshot('../../../docs/configuration.md')
})

function page(sections: readonly [name: string, description: string, rows: readonly string[]][]): string {
  const tables = sections.map(([name, description, rows]) => `## ${name}\n\n${description}.\n\n${rows.join('\n')}\n`)
  return `# Configuration

Generated from the schema by \`npx vitest run test/unit/config -u\`; do not edit it by hand.
[callwatch.example.yaml](../config/callwatch.example.yaml) has the same keys in a file, with longer comments.

Each key has its default in parentheses.

- Durations are written like \`15s\`, \`5m\`, \`24h\`.
- \`\${NAME}\` is replaced from the environment anywhere.
- Each secret \`x\` can be in a file of its own, named by \`x_file\`. callwatch reads the file again when it changes.
- Some keys of a rule belong to certain signals only. With another signal they are an error.

${tables.join('\n')}`
}

/**
 * A row for each key, and for each key in it: a list's entry is `[]`. Where a place has the same keys as an earlier one, it has only a
 * row that says so. The file of a secret has no row: the page says once how its key is made.
 *
 * @param places the first place of each set of keys, and of each long list of words
 */
function rowsOf(path: string, node: Node, places: Map<string, string>, isRequired = false): string[] {
  const { default: value, anyOf = [], oneOf = [] } = node
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value)
  const isList = Array.isArray(value) && value.length > 0
  const fallback = isScalar || isList ? ` (\`${isList ? value.join(', ') : String(value)}\`)` : ''
  const inner = [node, ...anyOf, ...oneOf].some((one) => isOfSignals(one.items))
    ? rowsOfSignals(`${path}[]`, [node, ...anyOf, ...oneOf].find((one) => isOfSignals(one.items))!.items!, places)
    : [node, ...anyOf, ...oneOf].flatMap(({ properties = {}, items, required = [] }) => [
        ...rowsOfKeys(path, properties, places, required),
        ...(items === undefined || wordsOf(items).length > 0 ? [] : rowsOf(`${path}[]`, items, places)),
      ])
  const keys = inner.map((row) => row.replaceAll(`\`${path}.`, '`')).join('\n')
  const [all = '', first = path] = (inner.length > 1 && [...places].find(([known]) => known.endsWith(keys))) || []
  const isAlike = path.slice(path.lastIndexOf('.')) === first.slice(first.lastIndexOf('.'))
  if (first === path) places.set(keys, path)
  const some = all === keys ? '' : ` ${Array.from(keys.matchAll(/^- (`\w+`)/gm), ([, key]) => key).join(', ')}`
  const about = meaningOf(node, path, places)
  const meaning =
    first === path ? about : isAlike && some === '' ? `As \`${first}\`` : `${about}; keys${some} as in \`${first}\``
  const preset = isRequired ? ' (required)' : fallback
  const own = meaning === '' ? [] : [`- \`${path}\`${preset}: ${meaning.replaceAll('\n', ' ')}`]
  return [...new Set([...own, ...(first === path ? inner : [])])]
}

function rowsOfKeys(path: string, properties: Record<string, Node>, places: Map<string, string>, required: string[]) {
  return Object.entries(properties)
    .filter(([name]) => !(name.endsWith('_file') && name.slice(0, -'_file'.length) in properties))
    .flatMap(([name, child]) => rowsOf(`${path}.${name}`, child, places, required.includes(name)))
}

const variantsOf = ({ anyOf = [], oneOf = [] }: Node = {}) => [...anyOf, ...oneOf]
const signalOf = ({ properties = {} }: Node) => properties['signal']?.const
const isOfSignals = (items?: Node) => variantsOf(items).some((variant) => signalOf(variant) !== undefined)

/** Rules have other keys for each signal: first those that all have, then a row that names the signals before the keys that they have. */
function rowsOfSignals(path: string, rule: Node, places: Map<string, string>): string[] {
  const variants = variantsOf(rule)
  const signals = variants.map((variant) => `\`${String(signalOf(variant))}\``)
  const having = new Map<string, string[]>()
  for (const [index, { properties = {}, required = [] }] of variants.entries()) {
    const { signal: _signal, ...keys } = properties
    for (const row of rowsOfKeys(path, keys, new Map(places), required))
      having.set(row, [...(having.get(row) ?? []), signals[index]!])
  }
  const groups = Map.groupBy(having.keys(), (row) => having.get(row)!.join(', '))
  const inOrder = [...groups].toSorted(([a], [b]) => b.split(', ').length - a.split(', ').length)
  return inOrder.flatMap(([which, rows]) => {
    const lacking = signals.filter((signal) => !which.includes(signal))
    if (lacking.length === 0)
      return [`- \`${path}.signal\` (required): [what the rule measures](alerting.md#signals): ${which}`, ...rows]
    const title = lacking.length < signals.length / 2 ? `All but ${lacking.join(', ')}` : `Only ${which}`
    return [`\n${title}:\n`, ...rows]
  })
}

/** What a key is for, with the values that it may have where these are words. */
function meaningOf(node: Node, path: string, places: Map<string, string>): string {
  const { description = '', const: only, items } = node
  if (typeof only === 'string') return `\`${only}\`: ${description}`
  const ofList = items === undefined ? [] : wordsOf(items)
  const words = [...wordsOf(node), ...ofList].map((word) => `\`${String(word)}\``)
  const list = words.join(', ')
  const first = words.length > SEVERAL ? (places.get(list) ?? path) : path
  places.set(list, first)
  return words.length === 0 || words.length > MOST_WORDS || first !== path
    ? description
    : `${description} (${ofList.length > 0 ? 'any of ' : ''}${list})`
}

function wordsOf({ enum: own = [], anyOf = [] }: Node): unknown[] {
  return [...own, ...anyOf.flatMap(wordsOf)]
}
