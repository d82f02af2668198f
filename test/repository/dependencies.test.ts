import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown, type Plugin } from 'rolldown'
import { expect, test } from 'vitest'
import config from '../../rolldown.config.ts'
import { bundlePage } from '../../src/web/bundle-page.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))

/** The folder of the package that a file is part of, from the root; undefined of our own files. */
function packageOf(file: string): string | undefined {
  return /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(relative(ROOT, file))?.[0]
}

/** The folders of all packages in the bundle and on its page, and of those among them that our own files import. */
async function bundled(): Promise<{ all: Set<string>; imported: Set<string> }> {
  const page = (await bundlePage()).modules.flatMap((file) => packageOf(file) ?? [])
  const [all, imported] = [new Set(page), new Set(page)]
  const collect: Plugin = {
    name: 'collect',
    generateBundle(_options, bundle) {
      const files = new Set(Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])))
      for (const file of files) {
        const its = packageOf(file)
        if (its !== undefined) {
          all.add(its)
          continue
        }
        const { importedIds = [], dynamicallyImportedIds = [] } = this.getModuleInfo(file) ?? {}
        for (const id of [...importedIds, ...dynamicallyImportedIds]) {
          const name = packageOf(id)
          if (name !== undefined) imported.add(name)
        }
      }
    },
  }
  const build = await rolldown({ ...config, cwd: ROOT, plugins: [config.plugins, collect] })
  await build.generate()
  await build.close()
  return { all, imported: imported.intersection(all) }
}

test(
  'the dependencies are the packages that are built in, and none of what is built in is there for development alone',
  { timeout: 120_000 },
  async () => {
    const { all, imported } = await bundled()
    const names = [...imported].map((folder) => folder.replace('node_modules/', ''))
    expect(names.toSorted()).toEqual(Object.keys(read('package.json').dependencies ?? {}).toSorted())
    const { packages } = read('package-lock.json')
    const forDevelopment = [...all].filter((folder) => packages[folder].dev || packages[folder].devOptional)
    expect(forDevelopment).toEqual([])
    expect(all.size).toBeGreaterThan(names.length)
  },
)
