import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { MIGRATIONS, newestVersion } from '../../src/store/migrations.ts'

const ROOT = join(import.meta.dirname, '../..')
const VERSION = '98.7.6'
const TAG = `v${VERSION}`
const LONG = { timeout: 120_000 }

// On a clone: what is pushed from there goes nowhere. Each test continues where the one before it ended.
describe('a release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-release-'))
  const clone = join(folder, 'clone')
  const author = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  const outputs = join(folder, 'outputs')
  const workflow = { TAG, IMAGE: 'ghcr.io/Owner/Name', GITHUB_REPOSITORY: 'Owner/Name', GITHUB_OUTPUT: outputs }
  const env = { ...process.env, ...author, ...workflow }
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: clone, env, encoding: 'utf8', stdio: 'pipe' }).trim()
  const read = (name: string) => readFileSync(join(clone, name), 'utf8')
  const sentence = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['.ci/release.ts', ...args], {
      cwd: clone,
      env,
      encoding: 'utf8',
    })
    return status === 0 ? stdout : stderr
  }
  /** Runs steps of the workflow of releases, in which these programs do nothing. @returns with what they were called */
  function steps(names: readonly string[], ...programs: string[]): string {
    const bin = mkdtempSync(join(folder, 'bin-'))
    for (const program of programs) {
      writeFileSync(join(bin, program), `#!/bin/sh\necho ${program} "$@" >> ${bin}/calls\ncat > /dev/null`, {
        mode: 0o755,
      })
    }
    const { jobs } = parse(read('.github/workflows/release.yml'))
    const all: { name?: string; run?: string }[] = jobs.publish.steps
    for (const name of names) {
      const step = all.find((one) => one.name === name)
      const PATH = `${bin}:${process.env['PATH']}`
      execFileSync('bash', ['-e', '-c', step!.run!], {
        cwd: clone,
        env: { ...env, PATH },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    }
    return programs.length === 0 ? '' : readFileSync(join(bin, 'calls'), 'utf8')
  }

  beforeAll(() => {
    execFileSync('git', ['clone', '--quiet', ROOT, clone])
    git('switch', '--quiet', '--force-create', 'main')
    // What is not committed yet is tried as well.
    const listed = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
    const changed = [...listed('diff', '--name-only', 'HEAD'), ...listed('ls-files', '--others', '--exclude-standard')]
    for (const name of changed.filter((each) => each !== '' && existsSync(join(ROOT, each))))
      cpSync(join(ROOT, name), join(clone, name))
    git('add', '--all')
    git('commit', '--quiet', '--allow-empty', '--message', 'what is not committed yet')
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is refused with a sentence while something is missing', LONG, () => {
    expect(sentence()).toBe('a step and what it is for: prepare, stamp, check, notes, artifacts\n')
    expect(sentence('prepare', '1.0')).toBe('name the version, such as 1.0.0\n')
    expect(sentence('prepare', '0.0.1')).toMatch(/^0\.0\.1 is not later than \d+\.\d+\.\d+\n$/)
    appendFileSync(join(clone, 'README.md'), ' ')
    expect(sentence('prepare', VERSION)).toBe('commit or stash the changes of the working tree first\n')
    git('checkout', '--quiet', 'README.md')
    git('switch', '--quiet', '--create', 'other')
    expect(sentence('prepare', VERSION)).toContain('git switch main')
    git('switch', '--quiet', 'main')
    git('tag', TAG)
    expect(sentence('prepare', VERSION)).toBe(`there is a tag ${TAG}\n`)
    git('tag', '--delete', TAG)
    const changelog = read('CHANGELOG.md')
    writeFileSync(join(clone, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\n- All.\n')
    git('commit', '--quiet', '--all', '--message', 'nothing new')
    expect(sentence('prepare', VERSION)).toContain('nothing below [Unreleased]')
    writeFileSync(join(clone, 'CHANGELOG.md'), changelog)
    git('commit', '--quiet', '--all', '--message', 'something new')
    git('rm', '--quiet', `test/real/upgrade/version-${newestVersion(MIGRATIONS.sqlite)}.db.gz`)
    git('commit', '--quiet', '--message', 'no kept store')
    expect(sentence('prepare', VERSION)).toContain(
      `no db store of version ${newestVersion(MIGRATIONS.sqlite)} of the schema is kept`,
    )
    git('revert', '--no-edit', 'HEAD')
    expect(sentence('check', TAG)).toContain(`${TAG} is not the tag of version`)
    expect(sentence('notes', TAG)).toBe(`CHANGELOG.md has no section [${VERSION}]\n`)
  })

  test('is tried without a change: package, image, checksums, notes, and what is missing', { timeout: 240_000 }, () => {
    git('switch', '--quiet', 'other')
    const before = git('rev-parse', 'HEAD', '--all')
    const bin = mkdtempSync(join(folder, 'bin-'))
    const out = join(clone, 'dist/release')
    const dryRun = (docker: string) => {
      writeFileSync(join(bin, 'docker'), `#!/bin/sh\n${docker}`, { mode: 0o755 })
      const args = ['.ci/release.ts', 'prepare', VERSION, '--dry-run']
      const PATH = `${bin}:${process.env['PATH']}`
      return execFileSync(process.execPath, args, { cwd: clone, env: { ...env, PATH }, encoding: 'utf8' })
    }
    const image = `${out}/callwatch-${VERSION}-image.tar`
    const printed = dryRun(`echo "$@" > ${bin}/calls; touch ${image}`)
    expect(printed).toContain('before the release: a release is made on main: git switch main\n')
    expect(printed).not.toContain('Docker')
    expect([git('rev-parse', 'HEAD', '--all'), git('status', '--porcelain')]).toEqual([before, ''])
    const made = [`callwatch-${VERSION}-image.tar`, `callwatch-${VERSION}.tgz`]
    expect(readdirSync(out).toSorted()).toEqual(['SHA256SUMS', ...made, 'notes.md'])
    expect(readFileSync(join(out, 'SHA256SUMS'), 'utf8').match(/\S+$/gm)).toEqual(made)
    expect(readFileSync(join(out, 'notes.md'), 'utf8')).toMatch(/^First release/)
    expect(readFileSync(join(bin, 'calls'), 'utf8')).toBe(
      `buildx build --platform linux/amd64,linux/arm64 --output type=oci,dest=${image} .\n`,
    )
    execFileSync('tar', ['xzf', join(out, `callwatch-${VERSION}.tgz`), '-C', bin])
    expect(JSON.parse(readFileSync(join(bin, 'package/package.json'), 'utf8')).version).toBe(VERSION)
    // Of no known repository.
    expect(linksIn(join(bin, 'package')).filter((to) => !to.startsWith('http') && !existsSync(to))).toEqual([])
    // How it is packed was shown.
    const npm = `#!/bin/sh\n[ "$1" != pack ] || touch ${out}/callwatch-${VERSION}.tgz`
    writeFileSync(join(bin, 'npm'), npm, { mode: 0o755 })
    expect(dryRun('echo no builder >&2; exit 125')).toContain(
      'before the release: the image needs Docker with Buildx: no builder\n',
    )
    expect(readdirSync(out).toSorted()).toEqual(['SHA256SUMS', made[1], 'notes.md'])
    git('switch', '--quiet', 'main')
  })

  test('is prepared in a commit with a tag', LONG, () => {
    git('remote', 'set-url', 'origin', 'git@github.com:Owner/Name.git')
    const readme = read('README.md')
    const unreleased = read('CHANGELOG.md').split(/^## /m)[1]
    expect(sentence('prepare', VERSION)).toContain(`git push --atomic origin main ${TAG}`)
    expect(git('status', '--porcelain')).toBe('')
    expect(git('describe', '--exact-match')).toBe(TAG)
    expect(git('show', '--stat', '--format=%s', 'HEAD')).toMatch(/^release: 98\.7\.6\n/)
    expect(JSON.parse(read('package.json')).version).toBe(VERSION)
    expect(JSON.parse(read('package-lock.json')).packages[''].version).toBe(VERSION)
    const [, empty, section] = read('CHANGELOG.md').split(/^## /m)
    expect(empty).toBe('[Unreleased]\n\n')
    expect(section).toMatch(/^\[98\.7\.6\] - \d{4}-\d\d-\d\d\n/)
    expect(section?.replace(/^.*\n/, '')).toBe(unreleased?.replace(/^.*\n/, ''))
    for (const name of ['one-replica', 'three-replicas'])
      expect(read(`config/kubernetes/${name}.yaml`)).toContain(`image: registry.example/callwatch:${VERSION}\n`)
    // The first command of the README is that of the image.
    const run = (version: string) =>
      `With Docker:\n\n\`\`\`sh\ndocker run --rm -p 127.0.0.1:9464:9464 ghcr.io/owner/name:${version} demo\n\`\`\`\n\n`
    expect(read('README.md').split('```sh')[1]).toContain(`ghcr.io/owner/name:${VERSION} demo`)
    expect(read('README.md').replace(run(VERSION), '')).toBe(readme)
    expect(sentence('prepare', VERSION)).toContain('is not later than')
    // That of a later release replaces it.
    sentence('stamp', '98.7.7')
    expect(read('README.md').replace(run('98.7.7'), '')).toBe(readme)
    git('checkout', '--quiet', '.')
  })

  test('has a package with its checksum, and its section of the changelog', LONG, () => {
    steps(['Check that the tag is the version of the package', 'Make the package and the notes'])
    expect(readdirSync(join(clone, 'out')).toSorted()).toEqual(['SHA256SUMS', `callwatch-${VERSION}.tgz`])
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(clone, 'out'), stdio: 'pipe' })
    execFileSync('tar', ['xzf', `out/callwatch-${VERSION}.tgz`, '-C', folder], { cwd: clone })
    const packed = join(folder, 'package')
    const manifest = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'))
    // npm's provenance wants it.
    expect(manifest.repository.url).toBe('git+https://github.com/Owner/Name.git')
    expect(manifest.homepage).toBe('https://github.com/Owner/Name#readme')
    expect(manifest.bugs.url).toBe('https://github.com/Owner/Name/issues')
    expect(linksIn(packed)).toContain('https://github.com/Owner/Name/blob/HEAD/CONTRIBUTING.md')
    expect(linksIn(packed)).toContain(join(packed, 'docs/images/page-light.png'))
    expect(linksIn(packed).filter((to) => !to.startsWith('http') && !existsSync(to))).toEqual([])
    expect(read('notes.md')).toMatch(/^First release/)
  })

  test('is published as package, image and release, and says which image has to be signed', () => {
    writeFileSync(join(clone, 'image.json'), '{ "containerimage.digest": "sha256:abc" }')
    const calls = steps(['Publish the image', 'Publish the package', 'Publish the release'], 'docker', 'npm', 'gh')
    expect(calls.trim().split('\n')).toEqual([
      expect.stringMatching(/^docker login ghcr\.io /),
      expect.stringMatching(
        /^docker buildx build --platform linux\/amd64,linux\/arm64 --sbom=true --provenance=mode=max --tag ghcr.io\/owner\/name:98\.7\.6 --tag ghcr.io\/owner\/name:latest --label org\.opencontainers\.image\.version=98\.7\.6 --label org\.opencontainers\.image\.source=https:\/\/github\.com\/Owner\/Name --label org\.opencontainers\.image\.revision=\w* --metadata-file image\.json --push \.$/,
      ),
      'npm publish --provenance --access public out/callwatch-98.7.6.tgz',
      'gh release create v98.7.6 --verify-tag --notes-file notes.md out/SHA256SUMS out/callwatch-98.7.6.tgz',
    ])
    expect(readFileSync(outputs, 'utf8')).toBe('name=ghcr.io/owner/name\ndigest=sha256:abc\n')
  })
})

/** Where the links of the pages in a folder lead: files by their whole path. */
function linksIn(folder: string): string[] {
  return globSync('**/*.md', { cwd: folder }).flatMap((page) =>
    [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\((?!#)([^)#\s]+)/g)].map(([, to = '']) =>
      to.startsWith('http') ? to : join(folder, dirname(page), to),
    ),
  )
}
