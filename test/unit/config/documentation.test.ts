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

test('docs/configuration.md lists every key as it is; `npx vitest run test/unit/config -u` refreshes it', async () => {
  const { properties = {} } = configJsonSchema() as Node
  const places = new Map<string, string>()
  const rows = Object.entries(properties).flatMap(([name, node]) => rowsOf(name, node, places))
  expect(rows.length).toBeGreaterThan(80)
  await expect(page(rows)).toMatchFileSnapshot('../../../docs/configuration.md')
})

function page(rows: readonly string[]): string {
  return `# Configuration

Generated from the schema by \`npx vitest run test/unit/config -u\`; do not edit it by hand.
[callwatch.example.yaml](../config/callwatch.example.yaml) has the same keys in a file, with longer comments, and
[callwatch.schema.json](../config/callwatch.schema.json) enables completion and validation in an editor.

- Durations are written like \`15s\`, \`5m\`, \`24h\`.
- \`\${NAME}\` is replaced from the environment anywhere.
- \`&NAME\` marks a value, \`*NAME\` repeats it, and \`<<: *NAME\` adds the keys of a marked map that a map lacks.
- Each secret \`x\` can be in a file of its own, named by \`x_file\`, which is read again when it changes.
- A key of a rule is listed with the first signal that has it. A key that a signal cannot have is an error.
- [Alerting](alerting.md) describes what rules evaluate, and when they fire.

| Key | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`
}

/**
 * A row for each key, and for each key in it: a list's entry is `[]`, any name of a map is `NAME`. Where a place has the same keys as
 * an earlier one, it has only a row that says so.
 *
 * @param places the first place of each set of keys
 */
function rowsOf(path: string, node: Node, places: Map<string, string>, isRequired = false): string[] {
  const { default: preset, anyOf = [], oneOf = [] } = node
  const fallback = ['string', 'number', 'boolean'].includes(typeof preset) ? `\`${String(preset)}\`` : ''
  const inner = [node, ...anyOf, ...oneOf].flatMap(({ properties = {}, items, required = [] }) => [
    ...Object.entries(properties).flatMap(([name, child]) =>
      rowsOf(`${path}.${name}`, child, places, required.includes(name)),
    ),
    ...(items === undefined ? [] : rowsOf(`${path}[]`, items, places)),
  ])
  const keys = inner.map((row) => row.replaceAll(`\`${path}.`, '`')).join('\n')
  const first = inner.length > 2 ? (places.get(keys) ?? path) : path
  if (first === path) places.set(keys, path)
  const meaning = `${meaningOf(node)}${first === path ? '' : `. It has the keys of \`${first}\``}`
  const own = meaning === '' ? [] : [`| \`${path}\` | ${isRequired ? 'required' : fallback} | ${cell(meaning)} |`]
  return [...new Set([...own, ...(first === path ? inner : [])])]
}

/** What a key is for, with the values that it may have where these are words. */
function meaningOf(node: Node): string {
  const { description = '', const: only, items } = node
  if (typeof only === 'string') return `\`${only}\`: ${description}`
  const ofList = items === undefined ? [] : wordsOf(items)
  const words = [...wordsOf(node), ...ofList].map((word) => `\`${String(word)}\``)
  return words.length === 0 ? description : `${description} (${ofList.length > 0 ? 'any of ' : ''}${words.join(', ')})`
}

function wordsOf({ enum: own = [], anyOf = [] }: Node): unknown[] {
  return [...own, ...anyOf.flatMap(wordsOf)]
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
