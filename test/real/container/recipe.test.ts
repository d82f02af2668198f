import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { closedPort } from '../../kit/commands/local-server.ts'
import { only } from '../../kit/container/dockerfile.ts'
import { runningTime } from '../../kit/running-time.ts'
import { buildImage, type Image } from './image.ts'

// Performs the Dockerfile's own steps in a folder, which needs no container engine; `npm run test:container` builds it.
describe('the image', () => {
  let image: Image
  beforeAll(() => void (image = buildImage()), 240_000)
  afterAll(() => image.remove())

  test('is made of the Node.js that the tests run on', () => {
    expect(new Set(image.bases)).toEqual(new Set([`node:${process.versions.node}-slim`]))
  })

  test('holds the built program and no packages', () => {
    expect(readdirSync(image.settings.cwd).toSorted()).toEqual(['LICENSE', 'dist'])
    expect(existsSync(join(image.settings.cwd, 'dist/licences.txt'))).toBe(true)
  })

  test('exposes the port that callwatch listens on by default', () => {
    const { settings } = image
    const env = { ...settings.env, CALLWATCH_BASE_URL: 'http://127.0.0.1:1', CALLWATCH_API_KEY: 'k' }
    const checked = spawnSync('node', ['dist/main.js', 'check'], { ...settings, env, encoding: 'utf8' })
    expect(checked.stdout).toContain(`port: ${only(image.instructions, 'EXPOSE')}\n`)
    expect(checked.stdout).toContain('host: "::"\n')
  })

  test('keeps the store in its volume', () => {
    const volume = join(image.root, only(image.instructions, 'VOLUME'))
    expect(statSync(volume).isDirectory()).toBe(true)
    expect(image.settings.env['CALLWATCH_STORE_PATH']).toBe(join(volume, 'callwatch.db'))
  })

  test('opens no debugger at a signal', () => {
    expect(image.command.slice(0, 2)).toEqual([expect.stringMatching(/node$/), '--disable-sigusr1'])
    expect(image.command.slice(-2)).toEqual(['dist/main.js', 'run'])
  })

  test('names its user by number, and that is not root', () => {
    expect(only(image.instructions, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })

  test('leaves the program to root, so that its user cannot change it', (context) => {
    if (image.settings.uid === undefined) context.skip('only root can start a process as another user')
    for (const path of ['', 'dist', 'dist/main.js']) {
      const { uid, mode } = statSync(join(image.settings.cwd, path))
      expect([uid, mode & 0o022]).toEqual([0, 0])
    }
  })

  test('starts, becomes healthy and ready, keeps its store, and stops at SIGTERM', async () => {
    const simulator = await startSimulator()
    onTestFinished(simulator.close)
    const port = String(await closedPort())
    const env = {
      ...image.settings.env,
      CALLWATCH_BASE_URL: simulator.url,
      CALLWATCH_API_KEY: simulator.keys.fullAccess,
      CALLWATCH_POLL_INTERVAL: '200ms',
      CALLWATCH_HTTP_HOST: '127.0.0.1',
      CALLWATCH_HTTP_PORT: port,
    }
    const [file = '', ...args] = image.command
    const container = spawn(file, args, { ...image.settings, env, stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void container.kill('SIGKILL'))
    let output = ''
    for (const stream of [container.stdout, container.stderr]) stream.on('data', (text) => (output += String(text)))

    const isReady = async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status, output).toBe(200)
    await vi.waitFor(isReady, { timeout: 120_000, interval: 50 })
    await vi.waitFor(() => expect(healthcheck()).toBe(0), 60_000)
    const store = statSync(image.settings.env['CALLWATCH_STORE_PATH']!)
    if (image.settings.uid !== undefined) expect(store.uid).toBe(image.settings.uid)

    const exited = once(container, 'exit')
    const taken = runningTime(container)
    container.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    // `docker stop` waits for ten seconds before it kills.
    expect(taken()).toBeLessThan(10)
    expect(output).toContain('"msg":"stopped"')
    expect(healthcheck()).toBe(1)

    function healthcheck(): number | null {
      const [program = '', ...parameters] = image.healthcheck
      return spawnSync(program, parameters, { ...image.settings, env, timeout: 30_000 }).status
    }
  })
})

test('all that the Dockerfile copies gets past .dockerignore, and nothing else does', () => {
  const project = join(import.meta.dirname, '../../..')
  const lines = (name: string) => readFileSync(join(project, name), 'utf8').split('\n')
  const [everything, ...exceptions] = lines('.dockerignore').filter((line) => line !== '' && !line.startsWith('#'))
  expect(everything).toBe('*')
  const copied = lines('Dockerfile').flatMap((line) =>
    /^COPY (?!--from)/.test(line) ? line.split(' ').slice(1, -1) : [],
  )
  expect(exceptions.toSorted()).toEqual(copied.map((name) => `!${name}`).toSorted())
})
