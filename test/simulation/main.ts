import { parseArgs } from 'node:util'
import { simulateRun, type RunReport } from './simulate-run.ts'

/** `npm run simtest -- --seeds N --days D [--calls-per-day C] [--first S] [--log]`: virtual days of the daemon, seed by seed. */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '6' },
    days: { type: 'string', default: '1' },
    'calls-per-day': { type: 'string', default: '5000' },
    first: { type: 'string', default: '1' },
    log: { type: 'boolean', default: false },
  },
})
const first = Number(values.first)
const days = Number(values.days)
const callsPerDay = Number(values['calls-per-day'])
const reached = new Map<string, number>()
const crashes = new Map<string, number>()
let failed = 0
let virtualDays = 0
const begun = performance.now()
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  const from = performance.now()
  const report = await simulateRun({ seed, days, callsPerDay })
  virtualDays += days
  add(reached, report.reached)
  add(crashes, Object.entries(report.crashes))
  console.log(line(report, (performance.now() - from) / 1000))
  if (values.log) console.log(report.lines.join('\n'))
  if (report.differences.length === 0) continue
  failed += 1
  for (const difference of report.differences.slice(0, 20)) console.log(`    ${difference}`)
  console.log(`    again: npm run simtest -- --first ${seed} --seeds 1 --days ${days} --calls-per-day ${callsPerDay}`)
}
console.log(`\n${virtualDays} virtual days in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
console.log(`crashes and refused commits: ${list(crashes)}`)
console.log(`reached: ${list(reached)}`)
console.log(failed === 0 ? 'no differences' : `${failed} seeds with differences`)
process.exitCode = failed === 0 ? 0 : 1

function line(
  { seed, polls, requests, crashes: died, notifications, differences }: RunReport,
  seconds: number,
): string {
  const deaths = Object.values(died).reduce((sum, count) => sum + count, 0)
  const looks = Object.entries(polls).map(([outcome, count]) => `${outcome} ${count}`)
  const verdict = differences.length === 0 ? 'equal' : `${differences.length} DIFFERENCES`
  return `seed ${seed}: ${verdict}; polls ${looks.join(', ')}; ${requests} requests, ${deaths} crashes, ${notifications} messages; ${seconds.toFixed(1)} s`
}

function add(sums: Map<string, number>, counts: Iterable<[string, number]>): void {
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count)
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
