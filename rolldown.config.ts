import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'rolldown'
import { openApiDocument } from './src/web/api/openapi.ts'
import { ROUTES } from './src/web/api/routes.ts'
import { bundlePage } from './src/web/bundle-page.ts'

/** `npm run build`: the program with all of its dependencies, as JavaScript that needs no node_modules, in `dist`. */
export default defineConfig({
  input: ['src/main.ts', 'src/store/sqlite/thread-main.ts', 'src/store/sqlite/damage-main.ts', 'src/index.ts'],
  platform: 'node',
  // Only a clone bundles the page when it runs.
  external: [/bundle-page\.ts$/],
  // For Node.js the package names its CommonJS, of which nothing unused could be left out.
  resolve: { alias: { rxjs: resolve('node_modules/rxjs/dist/esm/index.js') } },
  plugins: [page(), document(), licences(), oneByteCharacters()],
  output: {
    dir: 'dist',
    cleanDir: true,
    // Node.js keeps the text in memory. Names stay, so that a stack names the functions of src.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    comments: { legal: false },
    // Flat, since the modules find the page and the programs of the store's thread and of its check beside themselves.
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  },
})

/** Adds the page, also compressed, and says that the files are modules. */
function page(): Plugin {
  return {
    name: 'page',
    async generateBundle() {
      const add = (fileName: string, source: string | Uint8Array) => this.emitFile({ type: 'asset', fileName, source })
      add('package.json', JSON.stringify({ type: 'module' }))
      for (const [name, text] of (await bundlePage()).files) {
        add(`page/${name}`, text)
        add(`page/${name}.br`, brotliCompressSync(text))
        add(`page/${name}.gz`, gzipSync(text, { level: 9 }))
      }
    },
  }
}

/** Adds the document of the API. */
function document(): Plugin {
  return {
    name: 'document',
    generateBundle() {
      this.emitFile({
        type: 'asset',
        fileName: 'openapi.json',
        source: JSON.stringify(openApiDocument(ROUTES), null, 2),
      })
    },
  }
}

/** Adds the licences of all packages that are in the bundle or on the page, which require that copies keep them. */
function licences(): Plugin {
  return {
    name: 'licences',
    async generateBundle(_options, bundle) {
      const bundled = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      const files = [...bundled, ...(await bundlePage()).modules]
      const packages = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []))
      const texts = [...packages].toSorted().map((folder) => {
        const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
        const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying)/i.test(file))
        return [`${name} ${version} (${license})`, ...files.map((file) => readFileSync(join(folder, file), 'utf8'))]
      })
      this.emitFile({
        type: 'asset',
        fileName: 'licences.txt',
        source: texts.map((text) => text.join('\n\n')).join('\n\n---\n\n'),
      })
    },
  }
}

/**
 * Escapes characters beyond Latin-1: with one of them, Node.js keeps the whole file in memory with two bytes a character. Not with source
 * maps, whose columns would be wrong.
 */
function oneByteCharacters(): Plugin {
  return {
    name: 'one-byte characters',
    generateBundle({ sourcemap }, bundle) {
      if (sourcemap !== undefined && sourcemap !== false) return
      const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      for (const file of Object.values(bundle))
        if (file.type === 'chunk') file.code = file.code.replace(/[^\0-\xff]/g, escaped)
    },
  }
}
