import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import type { TargetConfig } from '../../../src/service/target-section.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { daemonInProcess, KEY, WAIT, type DaemonInProcess } from '../../kit/daemon/daemon-in-process.ts'

/** A store in which two targets have calls in progress, which last for minutes; and a daemon with some of them. */
async function storeOfTwo() {
  const service = await startSimulator({ apiKey: KEY, callsPerMinute: 600, speed: 1, history: 20 })
  onTestFinished(service.close)
  const target = (name: string): TargetConfig => ({ name, baseUrl: service.url, apiKey: KEY, query: { app: name } })
  const both = [target('a'), target('b')]
  const store: Config['store'] = { path: join(temporaryFolder(), 'callwatch.db'), history: 86_400 }
  const start = (targets: readonly TargetConfig[], resetTarget?: string) =>
    daemonInProcess(service.url, {}, { store, targets: [...targets] }, resetTarget)
  const first = await start(both)
  const open = ({ daemon }: DaemonInProcess, name: string) =>
    daemon.targets.loaded().find((loaded) => loaded.name === name)?.ledger.open.size ?? 0
  await vi.waitFor(() => expect([open(first, 'a'), open(first, 'b')].every((calls) => calls > 3)).toBe(true), WAIT)
  return { both, start, first, open }
}

/** How many calls of a target were lost; undefined where the store does not know the target. */
async function lostOf({ daemon }: DaemonInProcess, name: string): Promise<number | undefined> {
  const answer = await fetch(`${daemon.url}api/v1/report?since=1d&target=${name}`)
  if (!answer.ok) return undefined
  const { total }: { total: { calls: { lost: number } } } = JSON.parse(await answer.text())
  return total.calls.lost
}

describe('the calls in progress of a target', () => {
  test('that a reload removes are lost in its history, and continue if it is added again', async () => {
    const { both, first, open } = await storeOfTwo()
    await first.reload({ targets: [both[0]!] })
    await vi.waitFor(async () => expect(await lostOf(first, 'b')).toBeGreaterThan(3), WAIT)
    expect(await lostOf(first, 'a')).toBe(0)
    await first.reload({ targets: both })
    await vi.waitFor(async () => expect([await lostOf(first, 'b'), open(first, 'b') > 3]).toEqual([0, true]), WAIT)
    // Its counters are there once it has been polled.
    await vi.waitFor(async () => {
      const started = (await first.samples()).filter(({ name }) => name === 'callwatch_calls_lost_total')
      expect(started.map(({ value }) => value)).toEqual([0, 0])
    }, WAIT)
  })

  test('that is not in the configuration at a start are lost in its history, though no alert of it fired', async () => {
    const { both, start, first } = await storeOfTwo()
    await first.stop()
    const second = await start([both[0]!])
    expect(await lostOf(second, 'b')).toBeGreaterThan(3)
    const lost = await lostOf(second, 'b')
    await second.stop()
    // Each start finds it again, and it has been removed already.
    const third = await start([both[0]!])
    expect(await lostOf(third, 'b')).toBe(lost)
  })
})

describe('--reset-target', () => {
  test('deletes a target that is not in the configuration any more', async () => {
    const { both, start, first } = await storeOfTwo()
    await first.stop()
    const second = await start([both[0]!], 'b')
    expect([await lostOf(second, 'a'), await lostOf(second, 'b')]).toEqual([0, undefined])
  })

  test('refuses a name that neither the configuration nor the store has, and deletes nothing', async () => {
    const { both, start, first } = await storeOfTwo()
    await first.stop()
    await expect(start(both, 'c')).rejects.toThrow('there is no target c; there is: a, b')
    expect(await lostOf(await start(both), 'b')).toBe(0)
  })
})
