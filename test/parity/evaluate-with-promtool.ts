import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Scrape } from './polled-history.ts'

/** The names of the alerts that fire, by scrape. */
export type FiringAlerts = readonly ReadonlySet<string>[]

/**
 * Evaluates a rule file with Prometheus at every scrape, in one unit test of promtool. The test expects that no alert ever
 * fires; its failures name the alerts that do.
 *
 * @param ruleFile the content of the file
 * @param interval seconds between two scrapes
 */
export async function evaluateWithPromtool(
  ruleFile: string,
  scrapes: readonly Pick<Scrape, 'at' | 'series'>[],
  interval: number,
): Promise<FiringAlerts> {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-parity-'))
  try {
    writeFileSync(join(folder, 'rules.yaml'), ruleFile)
    writeFileSync(join(folder, 'test.yaml'), stringify(unitTest(scrapes, interval), { lineWidth: 0 }))
    const output = await promtool(folder, ['test', 'rules', 'test.yaml'])
    return firingAlertsIn(output, scrapes)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function unitTest(scrapes: readonly Pick<Scrape, 'at' | 'series'>[], interval: number): object {
  const names = new Set(scrapes.flatMap(({ series }) => [...series.keys()]))
  // Half of the counters are always 0. They do not change any sum, but cost as much time as others.
  for (const name of names) if (name.includes('_total{') && scrapes.every(isZero(name))) names.delete(name)
  return {
    rule_files: ['rules.yaml'],
    evaluation_interval: `${interval}s`,
    tests: [
      {
        interval: `${interval}s`,
        input_series: [...names].map((name) => ({ series: name, values: valuesOf(name, scrapes) })),
        promql_expr_test: scrapes.map(({ at }) => ({ eval_time: `${at}s`, expr: FIRING, exp_samples: [] })),
      },
    ],
  }
}

function isZero(name: string): (scrape: Pick<Scrape, 'series'>) => boolean {
  return ({ series }) => (series.get(name) ?? 0) === 0
}

const FIRING = 'ALERTS{alertstate="firing"}'

/** A series in promtool's notation. It is stale from the first scrape that lacks it, as in Prometheus. */
function valuesOf(name: string, scrapes: readonly Pick<Scrape, 'series'>[]): string {
  let before: number | undefined
  return scrapes
    .map(({ series }) => {
      const value = series.get(name)
      const written = value === undefined ? (before === undefined ? '_' : 'stale') : String(value)
      before = value
      return written
    })
    .join(' ')
}

/** Runs promtool and returns its output, also if it fails. */
function promtool(folder: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('promtool', args, { cwd: folder })
    const output: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
    child.once('error', reject)
    child.once('close', () => resolve(Buffer.concat(output).toString()))
  })
}

function firingAlertsIn(output: string, scrapes: readonly Pick<Scrape, 'at'>[]): FiringAlerts {
  const rest = output.replaceAll(FAILURE, '').replaceAll(/^(Unit Testing: .*|\s*(FAILED|SUCCESS):?|\s*)$/gm, '')
  if (rest.trim() !== '') throw new Error(`unexpected output of promtool: ${rest.trim().slice(0, 2000)}`)
  const firing = new Map(scrapes.map(({ at }) => [at, new Set<string>()]))
  const labelsOf = new Map<string, string>()
  for (const [, time = '', got = ''] of output.matchAll(FAILURE)) {
    const alerts = firing.get(secondsOf(time))
    if (alerts === undefined) throw new Error(`promtool reports an alert at ${time}, which is not the time of a scrape`)
    for (const [labels, name = ''] of got.matchAll(/alertname="Callwatch(\w+)"[^}]*/g)) {
      alerts.add(name)
      // To Alertmanager an alert with other labels is a different alert: one would resolve and another one fire.
      if ((labelsOf.get(name) ?? labels) !== labels) throw new Error(`at ${time} ${name} has other labels: ${labels}`)
      labelsOf.set(name, labels)
    }
  }
  return [...firing.values()]
}

const FAILURE = /expr: "ALERTS[^\n]*time: (\w+),\s*exp:[^\n]*\s*got:([^\n]*)/g

/** A Go duration: `1d2h3m4s`. */
function secondsOf(text: string): number {
  const units: Record<string, number> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1 }
  return [...text.matchAll(/(\d+)([wdhms])/g)].reduce((sum, [, n, unit = '']) => sum + Number(n) * units[unit]!, 0)
}
