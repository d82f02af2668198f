import { spawn, spawnSync, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { configFile, emptyFolder, MAIN } from '../../kit/commands/callwatch.ts'
import { runningTime } from '../../kit/running-time.ts'
import { closedPort, localServer } from '../../kit/commands/local-server.ts'

const WAIT = { timeout: 90_000, interval: 50 }

/** A daemon that logs each poll, ten a second, and an alert that fires; and what its webhook receives. */
async function daemon(stdio: StdioOptions, command = `exec "${process.execPath}" "${MAIN}" "$@"`) {
  const { url, keys, close } = await startSimulator({ callsPerMinute: 1200, speed: 20 })
  onTestFinished(close)
  let received = 0
  const webhook = await localServer((request, response) => {
    request.resume()
    received += 1
    response.end()
  })
  const port = await closedPort()
  const file = configFile(`
targets: [{ name: a, base_url: '${url}', api_key: '${keys.fullAccess}' }]
poll: { interval: 100ms, max_requests_per_minute: 6000 }
store: { path: ':memory:' }
alerts: [{ name: Any, signal: in_progress, above: 0 }]
notify: { group_wait: 0s, group_interval: 0s, webhook: { url: '${webhook.url}' } }
http: { host: 127.0.0.1, port: ${port} }
log: { level: trace }
`)
  const child = spawn('sh', ['-c', command, 'sh', 'run', '--config', file], {
    stdio,
    env: { PATH: process.env['PATH'], HOME: '/dev/null' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const counter = async (sample: string) => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const [, value = '0'] =
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${sample} `))
        ?.split(' ') ?? []
    return Number(value)
  }
  const polls = () => counter('callwatch_polls_total{target="a",outcome="incremental"}')
  return {
    received: () => received,
    dropped: () => counter('callwatch_log_lines_dropped_total'),
    /** Resolves after some more polls. */
    polled: async () => {
      const before = await vi.waitFor(polls, WAIT)
      await vi.waitFor(async () => expect(await polls()).toBeGreaterThan(before + 5), WAIT)
    },
    endedWithin: async (seconds: number) => {
      const taken = runningTime(child)
      child.kill('SIGTERM')
      const [code] = await ended
      expect(taken()).toBeLessThan(seconds)
      return code
    },
  }
}

/** A file whose every write fails. */
function failing(path: string, flags: string): number {
  const file = openSync(path, flags)
  onTestFinished(() => closeSync(file))
  return file
}

/** A pipe that is full, and that nobody reads. */
function fullPipe(): number {
  const path = join(emptyFolder(), 'pipe')
  spawnSync('mkfifo', [path])
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(pipe))
  const block = Buffer.alloc(4096)
  const fill = () => {
    while (writeSync(pipe, block) > 0);
  }
  expect(fill).toThrow('EAGAIN')
  return pipe
}

/** The first page of this process's memory: nothing is there, which is an error of input and output. */
const EIO = ['EIO', '/proc/self/mem', 'r+'] as const
const ENOSPC = ['ENOSPC', '/dev/full', 'w'] as const

describe('a daemon whose log fails', () => {
  test.each([ENOSPC, EIO])('with %s counts and notifies, and counts the lines', async (_error, path, flags) => {
    const log = failing(path, flags)
    const { received, dropped, polled, endedWithin } = await daemon(['ignore', log, log])
    await polled()
    await vi.waitFor(() => expect(received()).toBeGreaterThan(0), WAIT)
    expect(await dropped()).toBeGreaterThan(5)
    expect(await endedWithin(9)).toBe(0)
  })

  test('continues its log in a line of its own once there is room again', async () => {
    const log = join(emptyFolder(), 'log')
    // A limit of two kilobytes for each file cuts a line as a full disk does.
    const limited = `ulimit -f 4; exec "${process.execPath}" "${MAIN}" "$@" >> "${log}"`
    const { dropped, polled, endedWithin } = await daemon(['ignore', 'ignore', 'inherit'], limited)
    await polled()
    await vi.waitFor(async () => expect(await dropped()).toBeGreaterThan(0), WAIT)
    expect(readFileSync(log, 'utf8')).toMatch(/[^\n]$/)
    truncateSync(log)
    const [restOfCutLine, firstLine] = await vi.waitFor(() => {
      const read = readFileSync(log, 'utf8').split('\n')
      expect(read.length).toBeGreaterThan(2)
      return read
    }, WAIT)
    expect(restOfCutLine).toBe('')
    expect(JSON.parse(firstLine!)).toMatchObject({ level: expect.any(String), msg: expect.any(String) })
    expect(await endedWithin(9)).toBe(0)
  })

  test('counts and notifies though nobody reads its full pipe, and ends within ten seconds', async () => {
    const pipe = fullPipe()
    const { received, polled, endedWithin } = await daemon(['ignore', pipe, pipe])
    await polled()
    await vi.waitFor(() => expect(received()).toBeGreaterThan(0), WAIT)
    expect(await endedWithin(10)).toBe(0)
  })
})

test.each([
  ['fails', () => failing(ENOSPC[1], ENOSPC[2])],
  ['is a full pipe', fullPipe],
])('a daemon that cannot start ends with its exit code, also if its standard error %s', (_what, open) => {
  const output = open()
  const { status, signal } = spawnSync(process.execPath, [MAIN, 'run'], {
    stdio: ['ignore', output, output],
    cwd: emptyFolder(),
    env: { PATH: process.env['PATH'] },
    timeout: 150_000,
    killSignal: 'SIGKILL',
  })
  expect({ status, signal }).toEqual({ status: 2, signal: null })
})
