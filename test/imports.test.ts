import { globSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

// A reader who follows a call from the wire to the channel passes each folder once, and imports run one way. `types`
// are folders of which only types may be imported.
const ALLOWED: Record<string, { folders: string[]; types?: string[] }> = {
  clock: { folders: [] },
  ledger: { folders: [] },
  alerts: { folders: ['ledger'] },
  network: { folders: [] },
  text: { folders: [] },
  service: { folders: ['ledger', 'clock', 'network'] },
  polling: { folders: ['ledger', 'service', 'store', 'clock'] },
  store: { folders: ['ledger', 'alerts', 'clock'] },
  metrics: { folders: ['ledger', 'alerts'], types: ['store'] },
  cluster: { folders: ['clock', 'store'] },
  web: { folders: ['ledger', 'alerts', 'store', 'metrics', 'clock'], types: ['cluster'] },
  notify: { folders: ['ledger', 'alerts', 'store', 'clock', 'network', 'text'] },
  config: { folders: ['network'], types: ['alerts'] },
  daemon: {
    folders: [
      'ledger',
      'alerts',
      'service',
      'polling',
      'store',
      'cluster',
      'metrics',
      'web',
      'notify',
      'config',
      'clock',
      'network',
      'text',
    ],
  },
  simulator: { folders: [] },
}

/** The only files of the program that know the simulator. */
const SIMULATES = [
  'commands/compare-with-truth.ts',
  'commands/demo.ts',
  'commands/simulate.ts',
  'commands/switch-options.ts',
]
/** They are what a user calls, and import whatever they call. */
const WIRING = ['commands', 'main.ts', 'program.ts']

const src = join(import.meta.dirname, '../src')
const files = globSync('**/*.{ts,js}', { cwd: src }).map((name) => ({
  name,
  source: readFileSync(join(src, name), 'utf8'),
}))
const folderOf = (name: string) => name.split('/')[0]!
const named = files.filter(({ name }) => name.endsWith('.ts'))

describe('imports run one way', () => {
  test('every folder of src has its rule', () => {
    const folders = new Set(named.map(({ name }) => folderOf(name)))
    expect([...folders].filter((folder) => !WIRING.includes(folder)).toSorted()).toEqual(
      Object.keys(ALLOWED).toSorted(),
    )
  })

  test.each(Object.entries(ALLOWED))('%s imports what it may: %j', (folder, { folders, types = [] }) => {
    const strangers = importsOf(folder).filter(({ to, typeOnly }) => {
      return to !== folder && !folders.includes(to) && !(typeOnly && types.includes(to))
    })
    expect(strangers.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  })

  test('only the commands that simulate know the simulator', () => {
    const importing = named.flatMap(({ name, source }) =>
      folderOf(name) !== 'simulator' && relativeImports(name, source).some(({ to }) => to === 'simulator')
        ? [name]
        : [],
    )
    expect(importing.toSorted()).toEqual(SIMULATES)
  })

  test('the ledger, and the alerts judged by it, import no package', () => {
    const packages = named
      .filter(({ name }) => ['ledger', 'alerts'].includes(folderOf(name)))
      .flatMap(({ name, source }) => specifiers(source).map(({ from }) => ({ name, from })))
      .filter(({ from }) => !from.startsWith('.'))
    expect(packages).toEqual([])
  })

  test('this test reads imports in all their forms', () => {
    const forms = `
import a, { type B } from '../ledger/a.ts'
import type { C } from '../store/c.ts'
import {
  d,
} from '../web/d.ts'
export * from '../clock/e.ts'
import '../notify/f.ts'
const g = await import('../service/g.ts')
type H = import('../config/h.ts').H
`
    expect(relativeImports('polling/x.ts', forms)).toEqual([
      { from: 'polling/x.ts', to: 'ledger', typeOnly: false },
      { from: 'polling/x.ts', to: 'store', typeOnly: true },
      { from: 'polling/x.ts', to: 'web', typeOnly: false },
      { from: 'polling/x.ts', to: 'clock', typeOnly: false },
      { from: 'polling/x.ts', to: 'notify', typeOnly: false },
      { from: 'polling/x.ts', to: 'service', typeOnly: false },
      { from: 'polling/x.ts', to: 'config', typeOnly: false },
    ])
  })
})

describe('time comes from the clock', () => {
  const elsewhere = files.filter(({ name }) => !/^(?:clock|simulator|web\/page)\//.test(name))

  test.each(['Date.now', 'setTimeout', 'setInterval'])(
    '%s stands only in the clock, the simulator and the page',
    (word) => {
      const users = elsewhere.filter(({ source }) => withoutComments(source).includes(word))
      expect(users.map(({ name }) => name)).toEqual([])
      expect(files.some(({ source }) => source.includes(word))).toBe(true)
    },
  )
})

type Import = { from: string; to: string; typeOnly: boolean }

function importsOf(folder: string): Import[] {
  return named
    .filter(({ name }) => folderOf(name) === folder)
    .flatMap(({ name, source }) => relativeImports(name, source))
}

function relativeImports(name: string, source: string): Import[] {
  return specifiers(source)
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from, typeOnly }) => {
      const target = relative(src, resolve(src, name, '..', from))
      return { from: name, to: folderOf(target), typeOnly }
    })
}

function specifiers(source: string): { from: string; typeOnly: boolean }[] {
  const statements =
    /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm
  return [...withoutComments(source).matchAll(statements)].map(([, type, from, imported]) => ({
    from: from ?? imported!,
    typeOnly: type !== undefined,
  }))
}

/** Leaves out what stands on lines of their own; the project has no other comments. */
function withoutComments(source: string): string {
  return source.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
}
