import { globSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Each section of the configuration lies with the part that it configures; `config` puts them together. */
const SECTIONS = [
  'alerts/default-rules.ts',
  'alerts/rule.ts',
  'alerts/match.ts',
  'events/events-section.ts',
  'log/log-section.ts',
  'notifications/notify-section.ts',
  'polling/poll-section.ts',
  'service/target-section.ts',
  'store/store-section.ts',
  'web/http-section.ts',
]
// Imports run one way. `types`
// are folders of which only types may be imported, `files` all that may be imported of other folders.
const ALLOWED: Record<string, { folders: string[]; types?: string[]; files?: string[] }> = {
  clock: { folders: [] },
  rx: { folders: ['clock'] },
  ledger: { folders: [] },
  alerts: { folders: ['ledger', 'schema', 'text', 'clock'] },
  events: { folders: ['ledger', 'alerts', 'store', 'views', 'clock', 'network', 'schema'] },
  network: { folders: ['clock'] },
  text: { folders: [] },
  schema: { folders: ['network'] },
  log: { folders: ['text', 'schema'] },
  service: { folders: ['ledger', 'clock', 'network', 'schema'] },
  polling: { folders: ['ledger', 'service', 'store', 'rx', 'clock', 'schema', 'text'] },
  store: { folders: ['ledger', 'alerts', 'clock', 'schema'] },
  history: { folders: ['ledger', 'alerts', 'store', 'clock', 'schema'] },
  pipeline: {
    folders: ['ledger', 'alerts', 'events', 'service', 'polling', 'store', 'rx', 'clock'],
    types: ['cluster'],
  },
  metrics: { folders: ['ledger', 'alerts'], types: ['polling', 'pipeline'] },
  cluster: { folders: ['clock', 'store'] },
  web: {
    folders: [
      'ledger',
      'alerts',
      'events',
      'history',
      'store',
      'views',
      'metrics',
      'clock',
      'network',
      'schema',
      'text',
    ],
    types: ['pipeline'],
    files: ['notifications/notified-incidents.ts'],
  },
  notifications: { folders: ['ledger', 'alerts', 'history', 'store', 'views', 'clock', 'network', 'text', 'schema'] },
  views: { folders: ['ledger', 'alerts', 'history', 'clock', 'schema', 'text'] },
  config: { folders: ['schema', 'network'], files: SECTIONS },
  daemon: {
    folders: [
      'ledger',
      'alerts',
      'events',
      'history',
      'service',
      'polling',
      'pipeline',
      'store',
      'cluster',
      'metrics',
      'web',
      'views',
      'notifications',
      'config',
      'log',
      'rx',
      'clock',
      'network',
      'text',
    ],
    files: ['../package.json'],
  },
  simulator: { folders: [] },
}

/** The only files of the program that know the simulator. */
const SIMULATES = [
  'commands/demo/compare-with-simulator.ts',
  'commands/demo/config.ts',
  'commands/demo/demo.ts',
  'commands/options/switch-options.ts',
  'commands/simulate.ts',
]
/** They are what a user calls, and import whatever they call, but not the web server, which answers in their place. */
const WIRING = ['commands', 'index.ts', 'main.ts', 'program.ts']

const src = join(import.meta.dirname, '../../src')
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

  test.each(Object.entries(ALLOWED))(
    '%s imports what it may: %j',
    (folder, { folders, types = [], files: single = [] }) => {
      const strangers = importsOf(folder).filter(({ to, file, typeOnly }) => {
        return to !== folder && !folders.includes(to) && !(typeOnly && types.includes(to)) && !single.includes(file)
      })
      expect(strangers.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
    },
  )

  test('no rooms import each other in a circle, not even types', () => {
    const uses = (folder: string) =>
      new Set(importsOf(folder).flatMap(({ to }) => (to in ALLOWED && to !== folder ? to : [])))
    const rooms = new Map(Object.keys(ALLOWED).map((folder) => [folder, uses(folder)]))
    // A room that uses none of those that are left is below them all.
    for (let below = [''], left = rooms; below.length > 0;) {
      below = [...left].flatMap(([folder, used]) => (left.keys().some((other) => used.has(other)) ? [] : folder))
      for (const folder of below) left.delete(folder)
    }
    expect([...rooms.keys()]).toEqual([])
  })

  test('only the commands that simulate know the simulator', () => {
    const importing = named.flatMap(({ name, source }) =>
      folderOf(name) !== 'simulator' && relativeImports(name, source).some(({ to }) => to === 'simulator')
        ? [name]
        : [],
    )
    expect(importing.toSorted()).toEqual(SIMULATES)
  })

  test('no command imports the web server: both ask the rooms below', () => {
    const importing = importsOf('commands').filter(({ to }) => to === 'web')
    expect(importing.map(({ from, file }) => `${from} imports ${file}`)).toEqual([])
  })

  test.each([
    // For digests.
    ['ledger', ['node:crypto']],
    ['alerts', ['re2js', 'zod']],
  ])('of packages, %s imports %j', (folder, packages) => {
    const imported = named
      .filter(({ name }) => folderOf(name) === folder)
      .flatMap(({ source }) => specifiers(source))
      .flatMap(({ from }) => (from.startsWith('.') ? [] : from))
    expect([...new Set(imported)].toSorted()).toEqual(packages)
  })

  test('what every command reads the configuration with is quickly loaded: it imports no other packages', () => {
    const loaded = new Set(['config/load-config.ts'])
    for (const name of loaded) {
      const source = files.find((file) => file.name === name)!.source
      for (const { file, typeOnly, isLazy } of relativeImports(name, source)) {
        if (!typeOnly && !isLazy) loaded.add(file)
      }
    }
    const packages = named
      .filter(({ name }) => loaded.has(name))
      .flatMap(({ source }) => specifiers(source))
      .flatMap(({ from, typeOnly, isLazy }) => (typeOnly || isLazy || /^(?:\.|node:)/.test(from) ? [] : from))
    expect([...new Set(packages)].toSorted()).toEqual(['croner', 're2js', 'yaml', 'zod'])
  })

  test('a receiver is known to the list of receivers, and no receiver knows another', () => {
    const receiverOf = (name: string) => /^notifications\/receivers\/([^/]+)\//.exec(name)?.[1]
    const strangers = named
      .flatMap(({ name, source }) => relativeImports(name, source))
      .filter(({ from, file }) => receiverOf(file) !== undefined && receiverOf(from) !== receiverOf(file))
    expect([...new Set(strangers.map(({ from }) => from))].toSorted()).toEqual(['notifications/receivers.ts'])
  })

  test('this test reads imports in all their forms', () => {
    const forms = `
import a, { type B } from '../ledger/a.ts'
import type { C } from '../store/c.ts'
import {
  d,
} from '../web/d.ts'
export * from '../clock/e.ts'
import '../notifications/f.ts'
const g = await import('../service/g.ts')
type H = import('../config/h.ts').H
`
    expect(relativeImports('polling/x.ts', forms)).toEqual([
      { from: 'polling/x.ts', to: 'ledger', file: 'ledger/a.ts', typeOnly: false, isLazy: false },
      { from: 'polling/x.ts', to: 'store', file: 'store/c.ts', typeOnly: true, isLazy: false },
      { from: 'polling/x.ts', to: 'web', file: 'web/d.ts', typeOnly: false, isLazy: false },
      { from: 'polling/x.ts', to: 'clock', file: 'clock/e.ts', typeOnly: false, isLazy: false },
      { from: 'polling/x.ts', to: 'notifications', file: 'notifications/f.ts', typeOnly: false, isLazy: false },
      { from: 'polling/x.ts', to: 'service', file: 'service/g.ts', typeOnly: false, isLazy: true },
      { from: 'polling/x.ts', to: 'config', file: 'config/h.ts', typeOnly: false, isLazy: true },
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

type Import = {
  from: string
  to: string
  file: string
  typeOnly: boolean
  /** Imported where it is needed. */
  isLazy: boolean
}

function importsOf(folder: string): Import[] {
  return named
    .filter(({ name }) => folderOf(name) === folder)
    .flatMap(({ name, source }) => relativeImports(name, source))
}

function relativeImports(name: string, source: string): Import[] {
  return specifiers(source)
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from, ...how }) => {
      const target = relative(src, resolve(src, name, '..', from))
      return { from: name, to: folderOf(target), file: target, ...how }
    })
}

function specifiers(source: string): Pick<Import, 'from' | 'typeOnly' | 'isLazy'>[] {
  const statements =
    /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm
  return [...withoutComments(source).matchAll(statements)].map(([, type, from, imported]) => ({
    from: from ?? imported!,
    typeOnly: type !== undefined,
    isLazy: imported !== undefined,
  }))
}

/** Leaves out what stands on lines of their own; the project has no other comments. */
function withoutComments(source: string): string {
  return source.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
}
