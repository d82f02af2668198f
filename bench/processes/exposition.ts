import { loadConfig } from '../../src/config/load-config.ts'
import { initSeries } from '../../src/metrics/series.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { openStore } from '../../src/store/open-store.ts'
import { answer, forkedWith } from './answer.ts'
import { measure, type Measured } from './measure.ts'
import { openedTarget, type OpenedTarget } from './open-target.ts'
import { virtualClock } from './virtual-clock.ts'

export type Exposed = Measured & { body: string }

/** callwatch's own /metrics: every target is polled, so that nothing of the last text still holds, and then scraped. */
const { file, now } = forkedWith<{ file: string; now: number }>()
const config = loadConfig({ file, env: {}, cwd: import.meta.dirname })
// So slow that the clock of the service, which stands still, stays the same as this one while all targets are polled.
const { clock, goFrom, stop } = virtualClock(now, 0.1)
const store = await openStore(config.store, [])
const targets: OpenedTarget[] = []
const metrics = metricsOf(() => targets.map(({ target }) => target), 'bench')
for (const target of config.targets) {
  initSeries(metrics.operational, 'target', target.name)
  targets.push(await openedTarget({ config, target, store, clock, metrics }))
}

answer(async ({ now }: { now: number }): Promise<Exposed> => {
  goFrom(now)
  for (const { poll } of targets) {
    const { report } = await poll()
    if (!report.successful) throw new Error(`a poll of the bench failed: ${report.problem}`)
  }
  stop()
  const { measured, result } = await measure(() => metrics.expose('prometheus'))
  return { ...measured, body: result.body }
})
