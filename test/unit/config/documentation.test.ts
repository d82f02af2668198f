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
  const tables = sections.map(
    ([name, description, rows]) =>
      `## ${name}\n\n${description}.\n\n| Key | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`,
  )
  return `# Configuration

Generated from the schema by \`npx vitest run test/unit/config -u\`; do not edit it by hand.
[callwatch.example.yaml](../config/callwatch.example.yaml) has the same keys in a file, with longer comments.

- Durations are written like \`15s\`, \`5m\`, \`24h\`.
- \`\${NAME}\` is replaced from the environment anywhere.
- Each secret \`x\` can be in a file of its own, named by \`x_file\`. callwatch reads the file again when it changes.
- A key of a rule is listed with the first signal that has it. A key that a signal cannot have is an error.

${tables.join('\n')}`
}

/**
 * A row for each key, and for each key in it: a list's entry is `[]`. Where a place has the same keys as an earlier one, it has only a
 * row that says so. The file of a secret has no row: the page says once how its key is made.
 *
 * @param places the first place of each set of keys, and of each long list of words
 */
function rowsOf(path: string, node: Node, places: Map<string, string>, isRequired = false): string[] {
  const { default: preset, anyOf = [], oneOf = [] } = node
  const fallback = ['string', 'number', 'boolean'].includes(typeof preset) ? `\`${String(preset)}\`` : ''
  const inner = [node, ...anyOf, ...oneOf].flatMap(({ properties = {}, items, required = [] }) => [
    ...Object.entries(properties)
      .filter(([name]) => !(name.endsWith('_file') && name.slice(0, -'_file'.length) in properties))
      .flatMap(([name, child]) => rowsOf(`${path}.${name}`, child, places, required.includes(name))),
    ...(items === undefined || wordsOf(items).length > 0 ? [] : rowsOf(`${path}[]`, items, places)),
  ])
  const keys = inner.map((row) => row.replaceAll(`\`${path}.`, '`')).join('\n')
  const [all = '', first = path] = (inner.length > 1 && [...places].find(([known]) => known.endsWith(keys))) || []
  const isAlike = path.slice(path.lastIndexOf('.')) === first.slice(first.lastIndexOf('.'))
  if (first === path) places.set(keys, path)
  const some = all === keys ? '' : ` ${Array.from(keys.matchAll(/^\| (`\w+`)/gm), ([, key]) => key).join(', ')}`
  const about = meaningOf(node, path, places)
  const meaning =
    first === path ? about : isAlike && some === '' ? `As \`${first}\`` : `${about}; keys${some} as in \`${first}\``
  const own = meaning === '' ? [] : [`| \`${path}\` | ${isRequired ? 'required' : fallback} | ${cell(meaning)} |`]
  return [...new Set([...own, ...(first === path ? inner : [])])]
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

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
