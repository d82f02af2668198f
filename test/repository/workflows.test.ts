import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

import { ALONE, PAGE, SLOW, UNIT } from '../../vitest.config.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const { devDependencies } = JSON.parse(read('package.json'))
const WORKFLOWS = globSync('.github/workflows/*', { cwd: ROOT }).toSorted()
const FORMS = ['.github/ISSUE_TEMPLATE/bug.yml', '.github/ISSUE_TEMPLATE/feature.yml']

type Step = { id?: string; uses?: string; run?: string; name?: string; with?: Record<string, unknown> }
type Job = { uses?: string; needs?: string; container?: string; permissions?: object; env?: object; steps?: Step[] }
type Workflow = { on: Record<string, unknown>; permissions: object; jobs: Record<string, Job> }
const workflow = (name: string): Workflow => parse(read(`.github/workflows/${name}.yml`))

describe('the workflow of tests', () => {
  const { on, permissions, jobs } = workflow('test')

  test('does what .ci/run does, on each change and before each release', () => {
    expect(Object.keys(on)).toEqual(['push', 'pull_request', 'workflow_call'])
    expect(Object.keys(jobs)).toEqual(['test'])
    expect(jobs['test']?.steps).toEqual([
      { uses: expect.stringMatching(/^actions\/checkout@v\d+$/) },
      { run: '.ci/run' },
    ])
    accessSync(join(ROOT, '.ci/run'), constants.X_OK)
    expect(permissions).toEqual({ contents: 'read' })
  })

  test('has the Node.js of the project, and the Debian that has what .ci/run installs', () => {
    expect(jobs['test']?.container).toBe(`node:${devDependencies.node}-bookworm`)
    // What Debian 12 has.
    expect(read('.ci/run')).toContain('/usr/lib/postgresql/15/')
  })
})

describe('the workflow of a release', () => {
  const { on, permissions, jobs } = workflow('release')
  const steps = jobs['publish']?.steps ?? []

  test('tests, and then publishes the package, the image of both architectures and the release', () => {
    expect(on).toEqual({ push: { tags: ['v*'] } })
    expect(jobs['test']).toEqual({ uses: './.github/workflows/test.yml' })
    expect(jobs['publish']?.needs).toBe('test')
    expect(jobs['publish']?.env).toMatchObject({ IMAGE: 'ghcr.io/${{ github.repository }}' })
    const names = steps.map(({ name, uses, run }) => name ?? uses?.replace(/@v\d+$/, '') ?? run)
    expect(names).toEqual([
      'actions/checkout',
      'actions/setup-node',
      'docker/setup-qemu-action',
      'docker/setup-buildx-action',
      'npm ci',
      'Check that the tag is the version of the package',
      'Make the package and the notes',
      'Publish the image',
      'Sign the provenance of the image',
      'Sign the provenance of the package',
      'Publish the package',
      'Publish the release',
    ])
    expect(steps[1]?.with?.['node-version']).toBe(devDependencies.node)
    expect(steps[7]?.run).toContain('--platform linux/amd64,linux/arm64')
  })

  test('writes only what it publishes', () => {
    expect(permissions).toEqual({ contents: 'read' })
    expect(jobs['publish']?.permissions).toEqual({
      contents: 'write',
      packages: 'write',
      'id-token': 'write',
      attestations: 'write',
    })
  })

  test('says how image and package were made, and what the image contains', () => {
    expect(steps[7]).toMatchObject({ id: 'image', run: expect.stringContaining('--sbom=true --provenance=mode=max') })
    const { name, digest } = { name: '${{ steps.image.outputs.name }}', digest: '${{ steps.image.outputs.digest }}' }
    const signed = steps.filter(({ uses }) => uses?.startsWith('actions/attest@')).map((step) => step.with)
    expect(signed).toEqual([
      { 'subject-name': name, 'subject-digest': digest, 'push-to-registry': true },
      { 'subject-checksums': 'out/SHA256SUMS' },
    ])
    expect(steps.find((step) => step.name === 'Publish the package')?.run).toContain('npm publish --provenance')
  })

  test('has commands that a shell can read, and takes what comes from outside through variables alone', () => {
    for (const { run = '' } of steps) {
      execFileSync('bash', ['-n', '-c', run])
      expect(run).not.toContain('${{')
    }
  })
})

test('Dependabot looks after everything that names versions', () => {
  const { updates } = parse(read('.github/dependabot.yml'))
  const present = Object.entries({
    npm: 'package-lock.json',
    docker: 'Dockerfile',
    'docker-compose': 'compose.yaml',
    'github-actions': '.github/workflows',
  }).flatMap(([ecosystem, path]) => (existsSync(join(ROOT, path)) ? [ecosystem] : []))
  const covered = updates.map((update: Record<string, string>) => update['package-ecosystem'])
  expect(covered.toSorted()).toEqual(present.toSorted())
  expect(new Set(updates.map(({ directory }: { directory: string }) => directory))).toEqual(new Set(['/']))
})

test.each(FORMS)('%s is a form that GitHub takes', (path) => {
  const { name, description, body, ...others } = parse(read(path))
  expect([typeof name, typeof description, Object.keys(others)]).toEqual(['string', 'string', ['labels']])
  const fields = body.filter(({ type }: { type: string }) => type !== 'markdown')
  const ids = fields.map(({ id }: { id: string }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { id, type, attributes, validations = { required: true }, ...more } of fields) {
    expect(id).toMatch(/^[a-z_-]+$/)
    expect(['input', 'textarea', 'dropdown']).toContain(type)
    expect(attributes.label).toMatch(/^[A-Z]/)
    expect(type === 'dropdown').toBe(Array.isArray(attributes.options))
    expect([validations, more]).toEqual([{ required: true }, {}])
  }
})

test('files for contributors name only files that there are', () => {
  const files = [...WORKFLOWS, ...FORMS, '.github/pull_request_template.md', '.github/dependabot.yml', 'SECURITY.md']
  const settings = read('.vscode/settings.json')
  const named = [...files.map(read), settings].flatMap(
    (text) =>
      text.match(/(?<![\w/.-])(?:\.\/)?(?:[\w.-]+\/)*[\w-]+\.(?:ya?ml|json|md)\b|\.ci\/run|\bDockerfile\b/g) ?? [],
  )
  expect(named).toEqual(expect.arrayContaining(['.ci/run', './.github/workflows/test.yml', 'SECURITY.md']))
  // That of a user, and those of a release.
  const made = ['callwatch.yaml', 'notes.md', 'image.json', './image.json']
  expect(named.filter((file) => !made.includes(file) && !existsSync(join(ROOT, file)))).toEqual([])
  expect(JSON.parse(read('.vscode/extensions.json')).recommendations).toContain('oxc.oxc-vscode')
  expect(JSON.parse(settings)).toHaveProperty(['[javascript][typescript][json]', 'editor.defaultFormatter'])
})

test.each([...UNIT, ...PAGE, ...ALONE, ...SLOW])('%s, which vitest.config.ts names, has tests', (pattern) => {
  expect(globSync(pattern, { cwd: ROOT })).not.toEqual([])
})

test('.ci/run runs the tests of README, and those that it leaves out', () => {
  expect(read('README.md')).toContain('npm ci && npm test')
  for (const command of [
    'npm ci && npm test',
    'npm run lint',
    'npm run test:slow',
    'npm run test:container',
    'npm run bench',
  ])
    expect(read('.ci/run')).toContain(command)
})
