import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dirname } from 'node:path/posix'
import { pageLibraries } from './page-libraries.ts'

const PAGE = join(import.meta.dirname, 'page')
const ENTRY = 'page.js'

/**
 * Joins `page.js` with the modules and libraries that it imports, so that a browser needs one request. Each becomes a
 * function that returns its exports, after those that it imports.
 *
 * @throws {Error} if a file is missing, or imports or exports in another form
 */
export function pageScript(): string {
  const libraries = new Map(pageLibraries().map(({ path, folder, file }) => [path, join(folder, file)]))
  const joined = new Map<string, string>()
  const add = (path: string): string => {
    const name = path.replaceAll(/\W/g, '_')
    if (joined.has(name)) return name
    const library = libraries.get(path)
    const { body, exported } =
      library === undefined
        ? moduleOf(path, (from) => add(join(dirname(path), from)))
        : libraryOf(readFileSync(library, 'utf8'))
    if (exported === '' && path !== ENTRY) throw new Error(`${path} has no export of a known form`)
    joined.set(name, `const ${name} = (() => {\n${body}\nreturn {${exported}}\n})()\n`)
    return name
  }
  add(ENTRY)
  return [...joined.values()].join('')
}

/** A module of the page, which imports and exports in two forms each. */
function moduleOf(path: string, add: (from: string) => string) {
  const names: string[] = []
  const body = readFileSync(join(PAGE, path), 'utf8')
    .replaceAll(/^import (?:(\w+)|\{([^}]*)\}) from '(.+)'$/gm, (_all, whole?: string, parts = '', from = '') => {
      const imported = whole === undefined ? parts.replaceAll(' as ', ': ') : `default: ${whole}`
      return `const {${imported}} = ${add(from)}`
    })
    .replaceAll(/^export (?=(?:async )?(?:function|class|const) (\w+))/gm, (_all, name: string) => {
      names.push(name)
      return ''
    })
  const [unknown] = /^(?:import|export)\b.*/m.exec(body) ?? []
  if (unknown !== undefined) throw new Error(`${path} has another form of import or export: ${unknown}`)
  return { body, exported: names.join(', ') }
}

/** A library, which imports nothing, and exports a list of names or a default. */
function libraryOf(text: string) {
  const body = text.replace(/^\/\/# sourceMappingURL=.*/m, '')
  const [list, names] = /(?<=^|;)export ?\{([^}]*)\}/m.exec(body) ?? []
  return list === undefined || names === undefined
    ? { body: body.replace(/(?<=^|;)export default /m, 'const exported = '), exported: 'default: exported' }
    : { body: body.replace(list, ''), exported: names.replaceAll(/([\w$]+) as (\w+)/g, '$2: $1') }
}

/** Joins `index.css` with the files that it imports. */
export function pageStyle(): string {
  const libraries = new Map(pageLibraries().map(({ path, folder, file }) => [path, join(folder, file)]))
  const read = (path: string) => readFileSync(libraries.get(path) ?? join(PAGE, path), 'utf8')
  return read('index.css').replaceAll(/^@import '(.+)';$/gm, (_all, path: string) => read(path))
}
