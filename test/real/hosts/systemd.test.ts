import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

const PROJECT = join(import.meta.dirname, '../../..')
const UNIT = readFileSync(join(PROJECT, 'config/systemd/callwatch.service'), 'utf8')
/** Of 10, which is a service that may do everything. */
const MAX_EXPOSURE = 2

const isMissing = spawnSync('systemd-analyze', ['--version']).status !== 0
if (isMissing) console.warn('the unit for systemd is not checked: there is no systemd-analyze')

describe('the unit for systemd', () => {
  const valuesOf = (key: string) =>
    UNIT.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []))

  /** Its file, and what systemd-analyze says of it. */
  function analyze(unit: string, ...args: string[]) {
    const path = join(temporaryFolder(), 'callwatch.service')
    writeFileSync(path, unit)
    const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, path], { encoding: 'utf8' })
    return { status, output: `${stdout}${stderr}` }
  }

  test.skipIf(isMissing)('is valid', () => {
    // As if it were installed there.
    const installed = UNIT.replace('/usr/local/bin/callwatch', process.execPath)
    expect(installed).not.toBe(UNIT)
    expect(analyze(installed, 'verify')).toEqual({ status: 0, output: '' })
    expect(analyze(installed.replace('PrivateTmp', 'PrivateTemp'), 'verify').output).toContain("'PrivateTemp'")
  })

  test.skipIf(isMissing)('may do little else than read its files, write its store, and talk to the network', () => {
    const options = ['security', '--offline=true', `--threshold=${MAX_EXPOSURE * 10}`, '--no-pager']
    const analyzed = analyze(UNIT, ...options)
    expect(analyzed.status, analyzed.output).toBe(0)
    const lax = analyze(UNIT.replace(/^(?:Private|Protect|Restrict|SystemCall).*$/gm, ''), ...options)
    expect(lax.status, lax.output).toBe(1)
  })

  test('and the configuration of the guide make a daemon, which is started again unless its configuration is wrong', () => {
    const guide = readFileSync(join(PROJECT, 'docs/install.md'), 'utf8')
    const [, yaml = ''] = /^## With systemd$.*?^```yaml\n(.*?)^```/ms.exec(guide) ?? []
    const folder = temporaryFolder()
    const inFolder = (path: string) => path.replace(/^\/etc\/callwatch/, folder)
    const places: Record<string, string> = { '%S': '/var/lib', '%C': '/var/cache' }
    const env: Record<string, string> = { CREDENTIALS_DIRECTORY: folder }
    for (const setting of valuesOf('Environment').flatMap((line) => line.split(' '))) {
      const [name = '', value = ''] = setting.split('=')
      env[name] = inFolder(value).replaceAll(/%\w/g, (place) => places[place]!)
    }
    for (const credential of valuesOf('LoadCredential'))
      writeFileSync(join(folder, credential.split(':')[0]!), 'the key')
    writeFileSync(inFolder('/etc/callwatch/callwatch.yaml'), yaml)
    const { store, targets } = loadConfig({ env, cwd: folder })
    expect(store).toMatchObject({ path: '/var/lib/callwatch/callwatch.db' })
    expect(targets).toEqual([expect.objectContaining({ apiKey: 'the key' })])
    const inGuide = inFolder('/etc/callwatch/callwatch.yaml')
    const start = (config: string, variables: Record<string, string> = {}) =>
      spawnSync(process.execPath, ['src/main.ts', 'run', '--config', config], {
        cwd: PROJECT,
        env: { PATH: process.env['PATH'], ...env, ...variables },
        encoding: 'utf8',
      })
    const mistaken = join(folder, 'mistaken.yaml')
    writeFileSync(mistaken, `${yaml}\npol: {}\n`)
    expect(valuesOf('RestartPreventExitStatus')).toEqual([String(start(mistaken).status)])
    const url = { CALLWATCH_STORE_PATH: '', CALLWATCH_STORE_URL: 'postgres://me@127.0.0.1:1/x' }
    for (const [early, sentence] of [
      [start(inGuide, url), 'ECONNREFUSED'],
      [start(join(folder, 'none.yaml')), 'none.yaml` does not exist'],
      [
        start(inGuide, { CREDENTIALS_DIRECTORY: join(folder, 'none') }),
        'api_key_file: the file named there does not exist',
      ],
    ] as const)
      expect(early).toMatchObject({ status: 1, stderr: expect.stringContaining(sentence) })
    expect(valuesOf('Restart')).toEqual(['on-failure'])
  })
})
