import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/*
 * The first step of `npm run package`: writes what the published package has beside the program, and a package.json for its
 * users. That names no dependencies, since they are built in.
 */

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'dist/package')
/** Of package.json, what only the repository needs. */
const OURS = ['private', 'scripts', 'dependencies', 'devDependencies', 'allowScripts']

const manifest: { files: string[]; repository?: { url: string } } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)
const published = Object.fromEntries(Object.entries(manifest).filter(([key]) => !OURS.includes(key)))

rmSync(FOLDER, { recursive: true, force: true })
// The build writes dist.
const patterns = ['README.md', 'LICENSE', ...manifest.files.filter((name) => !/^!?dist\b/.test(name))]
for (const name of globSync(patterns, { cwd: ROOT })) {
  cpSync(join(ROOT, name), join(FOLDER, name), { recursive: true })
}
for (const page of globSync('**/*.md', { cwd: FOLDER })) {
  const file = join(FOLDER, page)
  writeFileSync(file, withLinksThatWork(readFileSync(file, 'utf8'), dirname(file)))
}
writeFileSync(join(FOLDER, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)

/** A link to a file that only the repository has leads there, or is its text where the repository is not known. */
function withLinksThatWork(text: string, folder: string): string {
  const url = manifest.repository?.url.replace(/^git\+/, '').replace(/\.git$/, '')
  return text.replaceAll(
    /\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g,
    (link, label: string, to: string, at = '') => {
      const file = join(folder, to)
      if (existsSync(file)) return link
      return url === undefined ? label : `[${label}](${url}/blob/HEAD/${relative(FOLDER, file)}${at})`
    },
  )
}
