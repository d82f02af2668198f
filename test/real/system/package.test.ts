import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startProgram } from './program.ts'

const PROJECT = join(import.meta.dirname, '../../..')
const { version, engines } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
const [, OLDEST = ''] = /^>=(\d+)$/.exec(engines.node) ?? []
const LONG = 240_000

// Installed from its tarball, as from the registry.
describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-package-'))
  const installed = join(folder, 'node_modules/callwatch')
  const command = join(folder, 'node_modules/.bin/callwatch')
  const nodes = new Map([[process.versions.node, process.execPath]])
  let tarball = ''
  let tooOld = ''

  const inFolder = (program: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
    return { status, output: `${stdout}${stderr}` }
  }
  const tool = (name: string) => join(PROJECT, 'node_modules/.bin', name)

  beforeAll(() => {
    const npm = (...args: string[]) => execFileSync('npm', [...args, '--no-audit', '--no-fund'], { stdio: 'pipe' })
    npm('run', 'package', '--prefix', PROJECT)
    npm('pack', join(PROJECT, 'dist/package'), '--pack-destination', folder)
    tarball = join(folder, `callwatch-${version}.tgz`)
    // The oldest Node.js that the package says it runs on, and one that is too old.
    const install = (major: string) => {
      npm('install', '--prefix', join(folder, major), `node-${process.platform}-${process.arch}@${major}`)
      return join(folder, major, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
    }
    tooOld = install('20')
    const oldest = install(OLDEST)
    nodes.set(execFileSync(oldest, ['--version'], { encoding: 'utf8' }).trim().slice(1), oldest)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    // It has no dependencies: nothing need be fetched.
    npm('install', '--prefix', folder, '--offline', tarball)
  }, LONG)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is JavaScript with its licences, declarations and source maps, and needs no other package', () => {
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['callwatch'])
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'dist/licences.txt']))
    expect(files).toEqual(expect.arrayContaining(['dist/main.js', 'dist/main.js.map', 'dist/types/index.d.ts']))
    // An example that docs/events.md explains.
    const sources = files.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    expect(sources).toEqual(['config/webhooks/receiver.ts'])
    expect(files.filter((name) => /(?:^|\/)(?:src|test|bench)(?:\/|$)/.test(name))).toEqual([])
  })

  test('has a package.json of what its users need', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    const keys = ['name', 'version', 'description', 'keywords', 'license', 'bin', 'files', 'type', 'exports', 'engines']
    expect(Object.keys(manifest)).toEqual(keys)
  })

  test('is called by npx', () => {
    expect(inFolder('npx', '--offline', 'callwatch', '--version')).toEqual({
      status: 0,
      output: expect.stringContaining(`${version}\n`),
    })
  })

  test('says in a sentence that a Node.js is too old', () => {
    const { status, output } = inFolder(tooOld, command, '--version')
    expect([status, output]).toEqual([
      1,
      expect.stringMatching(`^callwatch needs Node\\.js ${OLDEST} or later, and this is 20\\.[\\d.]+\\.\\n$`),
    ])
  })

  test('has exports that publint and Are the types wrong find nothing about', { timeout: LONG }, () => {
    const linted = inFolder(tool('publint'), 'run', tarball, '--strict')
    expect([linted.status, linted.output]).toEqual([0, expect.stringContaining('All good!')])
    const resolved = inFolder(tool('attw'), tarball, '--profile', 'esm-only')
    expect(resolved.status, resolved.output).toBe(0)
  })

  test(
    'has types with which the receiver of config/webhooks compiles, and a wrong one does not',
    { timeout: LONG },
    () => {
      mkdirSync(join(folder, 'node_modules/@types'))
      for (const name of ['@types/node', 'undici-types'])
        symlinkSync(join(PROJECT, 'node_modules', name), join(folder, 'node_modules', name))
      const code = readFileSync(join(PROJECT, 'config/webhooks/receiver.ts'), 'utf8')
      const compile = (text: string) => {
        writeFileSync(join(folder, 'receiver.ts'), text)
        return inFolder(tool('tsc'), ...'--strict --noEmit --module nodenext --target esnext --types node'.split(' '), 'receiver.ts') // oxfmt-ignore
      }
      expect(compile(code)).toEqual({ status: 0, output: '' })
      expect(compile(code.replace('call.unanswered', 'call.unanswerd')).output).toContain(
        '\'"callwatch.call.unanswerd"\'',
      )
      expect(compile(code.replace('event.data', 'event.topic')).output).toContain("'topic'")
    },
  )

  test('runs the demo, exactly, on each Node.js', { timeout: LONG }, async () => {
    expect(nodes.size).toBe(2)
    for (const [release, node] of nodes) {
      const demo = startProgram(['demo'], { HOME: folder }, command, node)
      const [, page = ''] = await demo.printed(/the page: +(\S+)/)
      const get = (url: string) =>
        fetch(url).catch((error: unknown) => {
          throw new Error(`${url} does not answer, on Node.js ${release}; the demo's output: ${demo.output()}`, {
            cause: error,
          })
        })
      expect(await (await get(page)).text()).toContain('callwatch')
      expect(await (await get(`${page}runbooks/NoCalls`)).text()).toContain('<h1>NoCalls</h1>')
      const metrics = async () => (await get(`${page}metrics`)).text()
      const SOME_POLLS = /^callwatch_polls_total\{.*outcome="incremental"\} [2-9]/m
      await vi.waitFor(async () => expect(await metrics()).toMatch(SOME_POLLS), { timeout: 90_000, interval: 500 })
      const report = await get(`${page}api/v1/report?since=1d&by=day&zone=Europe/Berlin`)
      expect([release, report.status], await report.text()).toEqual([release, 200])
      expect([release, await demo.end('SIGINT')]).toEqual([release, 0])
      expect(demo.output()).toMatch(/simulator equal: all \d+ exact series/)
    }
  })
})
