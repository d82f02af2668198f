import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readDockerfile, stagesOf } from '../../../kit/container/dockerfile.ts'
import { healthOf, podman, removeContainers, ROOT, start } from '../podman.ts'
import { countedMoreThan, fallen, started, type Counters } from './counters.ts'

const IMAGE = 'localhost/callwatch'
const PORT = 19464
const WAIT = { timeout: 30_000, interval: 200 }

describe.skipIf(ROOT === '')('the built image', { timeout: 120_000 }, () => {
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') console.log(logs())
    removeContainers()
  })

  test('is at most 60 MB above its base', () => {
    const dockerfile = readFileSync(join(import.meta.dirname, '../../../../Dockerfile'), 'utf8')
    const sizeOf = (image: string) => Number(podman('image', 'inspect', '--format={{.Size}}', image)) / 1e6
    const size = sizeOf(IMAGE) - sizeOf(stagesOf(readDockerfile(dockerfile)).at(-1)!.from)
    console.log(`The image is ${size.toFixed(1)} MB above its base.`)
    expect(size).toBeGreaterThan(0)
    expect(size).toBeLessThanOrEqual(60)
  })

  test('runs read-only, without capabilities, as its user, and becomes healthy', async () => {
    simulate()
    monitor()
    expect(podman('inspect', '--format={{.State.Health.Status}}', 'callwatch')).toBe('starting')
    await vi.waitFor(() => expect(healthOf('callwatch')).toBe('healthy'), WAIT)
    const inside = (script: string) => podman('exec', 'callwatch', 'node', '--print', script)
    const status = inside("fs.readFileSync('/proc/1/status', 'utf8')")
    expect(status).toMatch(/^Uid:\s1000\s1000\s1000\s1000$/m)
    for (const set of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`^${set}:\\s0+$`, 'm'))
    expect(status).toMatch(/^NoNewPrivs:\s1$/m)
    const write = (path: string) =>
      inside(`try { fs.writeFileSync('${path}', ''), 'written' } catch ({ code }) { code }`)
    expect(['/app/x', '/usr/x', '/data/x'].map(write)).toEqual(['EROFS', 'EROFS', 'written'])
  })

  test('runs the demo, whose page the published port shows', async () => {
    start('demo', `--publish=127.0.0.1:${PORT}:9464`, IMAGE, 'demo')
    await countedMoreThan(10, PORT)
    expect(await (await fetch(`http://127.0.0.1:${PORT}/`)).text()).toContain('callwatch')
  })

  test('polls, stops at SIGTERM, and continues to count on the same volume', async () => {
    simulate()
    monitor()
    const before = await countedMoreThan(10, PORT)
    podman('stop', '--time=10', 'callwatch')
    // Podman would have killed it after ten seconds: 137.
    expect(podman('inspect', '--format={{.State.Status}} {{.State.ExitCode}}', 'callwatch')).toBe('exited 0')
    expect(podman('logs', 'callwatch')).toContain('"msg":"stopped"')
    podman('rm', 'callwatch')

    monitor()
    await continuesFrom(before)
  })
})

/** The first counters that it exports contain those of before, and they grow. */
async function continuesFrom(before: Counters): Promise<void> {
  const first = await countedMoreThan(0, PORT)
  expect(fallen(before, first)).toEqual([])
  await countedMoreThan(started(first), PORT)
}

/** What the containers said, for a test that failed. */
function logs(): string {
  const names = podman('ps', '--all', '--format={{.Names}}').split('\n').filter(Boolean)
  return names.map((name) => `${name}: ${podman('logs', '--tail=20', name)}`).join('\n')
}

/** The simulated service in a container of its own, which has the network of both. */
function simulate(): void {
  const options = ['--port', '8080', '--speed', '20', '--calls-per-minute', '600']
  start('simulator', `--publish=127.0.0.1:${PORT}:9464`, IMAGE, 'simulate', ...options)
}

function monitor(): void {
  const settings = { BASE_URL: 'http://127.0.0.1:8080/v3', API_KEY: 'simulator-full-access', POLL_INTERVAL: '1s' }
  const env = Object.entries(settings).map(([name, value]) => `--env=CALLWATCH_${name}=${value}`)
  start('callwatch', '--network=container:simulator', '--tmpfs=/tmp', '--volume=data:/data', ...env, IMAGE)
}
