import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS, newestVersion } from '../src/store/migrations.ts'

/*
 * The steps of a release. A maintainer prepares it on main, and pushes; .github/workflows/release.yml does the others on the tag.
 *
 *   npm run release -- 1.0.0                 the commit of the release, and its tag
 *   npm run release -- 1.0.0 --dry-run       package, image, checksums and notes in dist/release, and what is missing; changes nothing
 *   npx node .ci/release.ts check v1.0.0     whether the tag is that of this commit's version
 *   npx node .ci/release.ts notes v1.0.0     its section of the changelog
 *   npx node .ci/release.ts artifacts OUT    the package and its checksum, in a folder that is made
 */

const ROOT = join(import.meta.dirname, '..')
const CHANGELOG = join(ROOT, 'CHANGELOG.md')
const README = join(ROOT, 'README.md')
/** Where the version is named, beside package.json. */
const MANIFESTS = ['one-replica', 'three-replicas'].map((name) => join(ROOT, `config/kubernetes/${name}.yaml`))

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

function prepare(version: string, option?: string): void {
  const missing = missingFor(version)
  if (option === '--dry-run') {
    for (const sentence of [...missing, ...rehearse(version)]) console.log(`before the release: ${sentence}`)
    return
  }
  if (missing[0] !== undefined) throw new Refused(missing[0])
  stamp(version)
  git('commit', '--quiet', '--all', '--message', `release: ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `callwatch ${version}`)
  console.log(`v${version} is committed and tagged; \`git push --atomic origin main v${version}\` publishes it`)
}

/** What a release of this version still needs, a sentence each. */
function missingFor(version: string): string[] {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number)
  if (parts === undefined) throw new Refused('name the version, such as 1.0.0')
  const before = versionOf().split('.').map(Number)
  const first = parts.findIndex((part, i) => part !== before[i])
  if (first === -1 || parts[first]! < before[first]!) throw new Refused(`${version} is not later than ${versionOf()}`)
  const missing: string[] = []
  if (git('status', '--porcelain') !== '') missing.push('commit or stash the changes of the working tree first')
  if (git('branch', '--show-current') !== 'main') missing.push('a release is made on main: git switch main')
  if (git('tag', '--list', `v${version}`) !== '') missing.push(`there is a tag v${version}`)
  if (!sectionOf('Unreleased')) missing.push('CHANGELOG.md has nothing below [Unreleased]: say what is new')
  for (const [end, migrations] of Object.entries({ db: MIGRATIONS.sqlite, sql: MIGRATIONS.postgres })) {
    if (existsSync(join(ROOT, `test/real/upgrade/version-${newestVersion(migrations)}.${end}.gz`))) continue
    missing.push(
      `no ${end} store of version ${newestVersion(migrations)} of the schema is kept: CONTRIBUTING.md, "The schema"`,
    )
  }
  return missing
}

/** Writes the version into all files that name it. */
function stamp(version: string): void {
  execFileSync('npm', ['version', version, '--no-git-tag-version'], { cwd: ROOT, stdio: 'pipe' })
  const date = new Date().toISOString().slice(0, 10)
  const replace = (file: string, pattern: RegExp, text: string) =>
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(pattern, text))
  replace(CHANGELOG, /^## \[Unreleased\]$/gm, `## [Unreleased]\n\n## [${version}] - ${date}`)
  for (const file of MANIFESTS) replace(file, /(?<=\/callwatch:)\d+\.\d+\.\d+/g, version)
  const image = publishedImage()
  if (image === undefined) return
  const run = `docker run --rm -p 127.0.0.1:9464:9464 ${image}:${version} demo`
  const block = `With Docker:\n\n\`\`\`sh\n${run}\n\`\`\``
  replace(README, /^(?:With Docker:.*?^```\n\n)?In a clone/gms, `${block}\n\nIn a clone`)
}

/** Where the workflow publishes the image; undefined if `origin` is not on GitHub. */
function publishedImage(): string | undefined {
  const [, name] = /^origin\s+\S*github\.com[:/](\S+?)(?:\.git)?\s/m.exec(git('remote', '--verbose')) ?? []
  return name === undefined ? undefined : `ghcr.io/${name.toLowerCase()}`
}

/** Makes all that a release publishes, from a clone of the last commit. @returns what could not be made, a sentence each */
function rehearse(version: string): string[] {
  const out = join(ROOT, 'dist/release')
  rmSync(out, { recursive: true, force: true })
  using clone = mkdtempDisposableSync(join(tmpdir(), 'callwatch-release-'))
  git('clone', '--quiet', ROOT, clone.path)
  symlinkSync(join(ROOT, 'node_modules'), join(clone.path, 'node_modules'))
  const inClone = (...args: string[]) =>
    execFileSync(process.execPath, ['.ci/release.ts', ...args], { cwd: clone.path, encoding: 'utf8' })
  inClone('stamp', version)
  inClone('artifacts', out)
  const image = ['--output', `type=oci,dest=${join(out, `callwatch-${version}-image.tar`)}`, '.']
  const build = ['buildx', 'build', '--platform', 'linux/amd64,linux/arm64', ...image]
  const { status, error, stderr } = spawnSync('docker', build, { cwd: clone.path, encoding: 'utf8' })
  checksums(out)
  writeFileSync(join(out, 'notes.md'), inClone('notes', `v${version}`))
  console.log(`${out}: ${readdirSync(out).join(', ')}`)
  const [reason] = error === undefined ? stderr.split('\n') : [error.message]
  return status === 0 ? [] : [`the image needs Docker with Buildx: ${reason}`]
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
  mkdirSync(folder, { recursive: true })
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  npm('run', 'package')
  npm('pack', './dist/package', '--pack-destination', folder)
  checksums(folder)
}

/** Writes those of the package and of the image, if it is in the folder. */
function checksums(folder: string): void {
  const made = readdirSync(folder).filter((name) => name.startsWith('callwatch-'))
  const sums = made.map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
    return `${sum}  ${name}\n`
  })
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
}

const steps: Record<string, (given: string, option?: string) => void> = {
  prepare,
  stamp,
  check,
  notes: (tag) => console.log(notes(tag)),
  artifacts,
}

const [name = '', given = '', option] = process.argv.slice(2)
try {
  const step = steps[name]
  if (step === undefined || given === '')
    throw new Refused(`a step and what it is for: ${Object.keys(steps).join(', ')}`)
  step(given, option)
} catch (error) {
  if (!(error instanceof Refused)) throw error
  console.error(error.message)
  process.exitCode = 1
}
