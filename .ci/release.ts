import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS } from '../src/store/migrations.ts'

/*
 * The steps of a release. A maintainer prepares it on main, and pushes; .github/workflows/release.yml does the others on the tag.
 *
 *   npx node .ci/release.ts prepare 1.0.0    the commit of the release, and its tag
 *   npx node .ci/release.ts check v1.0.0     whether the tag is that of this commit's version
 *   npx node .ci/release.ts notes v1.0.0     its section of the changelog
 *   npx node .ci/release.ts artifacts OUT    the package and its checksum, in a folder that is made
 */

const ROOT = join(import.meta.dirname, '..')
const CHANGELOG = join(ROOT, 'CHANGELOG.md')
/** Where the version is named, beside package.json. */
const GUIDE = join(ROOT, 'docs/kubernetes.md')

/** A mistake of whoever releases: a sentence is enough. */
class Refused extends Error {}

const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
const versionOf = (): string => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version

/** The text of a section of the changelog, without its heading; undefined where there is none. */
function sectionOf(name: string): string | undefined {
  const [, ...sections] = readFileSync(CHANGELOG, 'utf8').split(/^## /m)
  return sections
    .find((section) => section.startsWith(`[${name}]`))
    ?.replace(/^.*\n/, '')
    .trim()
}

function prepare(version: string): void {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number)
  if (parts === undefined) throw new Refused('name the version, such as 1.0.0')
  const before = versionOf().split('.').map(Number)
  const first = parts.findIndex((part, i) => part !== before[i])
  if (first === -1 || parts[first]! < before[first]!) throw new Refused(`${version} is not later than ${versionOf()}`)
  if (git('status', '--porcelain') !== '') throw new Refused('commit or stash the changes of the working tree first')
  if (git('branch', '--show-current') !== 'main') throw new Refused('a release is made on main: git switch main')
  if (git('tag', '--list', `v${version}`) !== '') throw new Refused(`there is a tag v${version}`)
  if (!sectionOf('Unreleased')) throw new Refused('CHANGELOG.md has nothing below [Unreleased]: say what is new')
  for (const [end, { length }] of Object.entries({ db: MIGRATIONS.sqlite, sql: MIGRATIONS.postgres })) {
    if (existsSync(join(ROOT, `test/store/upgrade/version-${length}.${end}.gz`))) continue
    throw new Refused(`no store of version ${length} of the schema is kept: CONTRIBUTING.md, "The schema"`)
  }
  execFileSync('npm', ['version', version, '--no-git-tag-version'], { cwd: ROOT, stdio: 'pipe' })
  const date = new Date().toISOString().slice(0, 10)
  const replace = (file: string, pattern: RegExp, text: string) =>
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(pattern, text))
  replace(CHANGELOG, /^## \[Unreleased\]$/gm, `## [Unreleased]\n\n## [${version}] - ${date}`)
  replace(GUIDE, /(?<=\/callwatch:)\d+\.\d+\.\d+/g, version)
  git('commit', '--quiet', '--all', '--message', `release: ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `callwatch ${version}`)
  console.log(`v${version} is committed and tagged; \`git push --atomic origin main v${version}\` publishes it`)
}

function check(tag: string): void {
  if (tag !== `v${versionOf()}`) throw new Refused(`${tag} is not the tag of version ${versionOf()} in package.json`)
  notes(tag)
}

function notes(tag: string): string {
  const section = sectionOf(tag.slice(1))
  if (!section) throw new Refused(`CHANGELOG.md has no section [${tag.slice(1)}]`)
  return section
}

function artifacts(folder: string): void {
  mkdirSync(folder)
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  npm('run', 'package')
  npm('pack', './dist/package', '--pack-destination', folder)
  const sums = readdirSync(folder).map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
    return `${sum}  ${name}\n`
  })
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
}

const steps: Record<string, (given: string) => void> = {
  prepare,
  check,
  notes: (tag) => console.log(notes(tag)),
  artifacts,
}

const [name = '', given = ''] = process.argv.slice(2)
try {
  const step = steps[name]
  if (step === undefined || given === '')
    throw new Refused(`a step and what it is for: ${Object.keys(steps).join(', ')}`)
  step(given)
} catch (error) {
  if (!(error instanceof Refused)) throw error
  console.error(error.message)
  process.exitCode = 1
}
