import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { emptyFolder, start, type Ended } from '../../kit/commands/callwatch.ts'

const TARGET = { CALLWATCH_BASE_URL: 'http://127.0.0.1:1/v3', CALLWATCH_API_KEY: 'k' }

/** Runs a command to its end; the packages of which it loaded anything, by name. */
async function packagesOf(args: string[]): Promise<{ ended: Ended; packages: string[] }> {
  const record = join(emptyFolder(), 'urls')
  const hook = `
    import { appendFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    registerHooks({
      load: (url, context, load) => {
        appendFileSync(${JSON.stringify(record)}, url + '\\n')
        return load(url, context)
      },
    })`
  const env = { ...TARGET, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` }
  const ended = await start(args, { env }).ended
  const names = readFileSync(record, 'utf8').matchAll(/.*\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/g)
  return { ended, packages: [...new Set([...names].map(([, name = '']) => name))].toSorted() }
}

test.each([
  [['--version'], ['commander']],
  [['--help'], ['commander']],
  [['run', '--help'], ['commander']],
  [['simulate', '--help'], ['commander']],
  [['check'], ['commander', 'croner', 're2js', 'yaml', 'zod']],
])('callwatch %j loads no packages but %j', async (args, expected) => {
  const { ended, packages } = await packagesOf(args)
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(packages).toEqual(expected)
})

describe('compiled code', () => {
  const version = (env: Record<string, string>) => start(['--version'], { env }).ended

  test('is kept for the next start in the cache folder of the user', async () => {
    const folder = emptyFolder()
    expect(await version({ HOME: folder })).toMatchObject({ code: 0, stderr: '' })
    const kept = readdirSync(join(folder, '.cache/callwatch'), { recursive: true })
    expect(kept.length).toBeGreaterThan(5)
    expect(await version({ HOME: folder })).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\./) })
    const [of = ''] = readdirSync(join(folder, '.cache/callwatch'))
    // Damaged files are replaced.
    for (const name of kept.slice(1)) writeFileSync(join(folder, '.cache/callwatch', String(name)), of)
    expect(await version({ HOME: folder })).toMatchObject({ code: 0, stderr: '' })

    expect(await version({ HOME: '/dev/null', XDG_CACHE_HOME: folder })).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(join(folder, 'callwatch'))).toEqual([of])
  })

  test('is not kept for a user without a home', async () => {
    const folder = emptyFolder()
    expect(await version({ HOME: join(folder, 'nowhere') })).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([
    ['others may write', (folder: string) => chmodSync(folder, 0o777)],
    ['its group may write', (folder: string) => chmodSync(folder, 0o770)],
  ])('is neither kept nor used in a folder in which %s', async (_who, open) => {
    const caches = emptyFolder()
    const folder = join(caches, 'callwatch')
    mkdirSync(folder)
    open(folder)
    expect(await version({ XDG_CACHE_HOME: caches })).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(folder)).toEqual([])
  })

  test.skipIf(process.getuid?.() !== 0)('is neither kept nor used in a folder of another user', async () => {
    const caches = emptyFolder()
    const folder = join(caches, 'callwatch')
    mkdirSync(folder)
    chownSync(folder, 1000, 0)
    expect(await version({ XDG_CACHE_HOME: caches })).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([{ HOME: '/dev/null' }, { HOME: '' }, { XDG_CACHE_HOME: '/proc' }])(
    'is not needed where it cannot be kept: %j',
    async (env) => {
      const cwd = emptyFolder()
      const { code, stdout, stderr } = await start(['check'], { cwd, env: { ...TARGET, ...env } }).ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain('api_key: "********"')
      expect(readdirSync(cwd)).toEqual([])
    },
  )
})
