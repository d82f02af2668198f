import { parseArgs } from 'node:util'
import { patchSwitches } from '../../../src/simulator/switches.ts'
import { defaultSwitches, switchTable, type Switches } from '../../kit/world/switches.ts'
import { hazards, isHazardName } from './hazards.ts'
import { simulateRun, type RunReport } from './simulate-run.ts'

/**
 * `npm run simtest -- --seeds N --days D [--calls-per-day C] [--first S] [--hazards a,b] [--switch JSON] [--lookback S] [--log]`: virtual days of
 * the daemon, seed by seed.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '6' },
    days: { type: 'string', default: '1' },
    'calls-per-day': { type: 'string', default: '5000' },
    first: { type: 'string', default: '1' },
    // The last ones make a finding again by itself: a run with these hazards only, and with these switches throughout.
    hazards: { type: 'string' },
    switch: { type: 'string' },
    lookback: { type: 'string' },
    log: { type: 'boolean', default: false },
  },
})
const first = Number(values.first)
const days = Number(values.days)
const callsPerDay = Number(values['calls-per-day'])
const forced = {
  ...(values.hazards === undefined ? {} : { hazards: hazardsOf(values.hazards) }),
  ...(values.switch === undefined ? {} : { switches: switchesOf(values.switch) }),
  ...(values.lookback === undefined ? {} : { lookback: Number(values.lookback) }),
}
const again = Object.entries(values)
  .filter(([name, value]) => ['hazards', 'switch', 'lookback'].includes(name) && value !== undefined)
  .map(([name, value]) => ` --${name} '${String(value)}'`)
  .join('')
const reached = new Map<string, number>()
const crashes = new Map<string, number>()
let failed = 0
let virtualDays = 0
const begun = performance.now()
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  const from = performance.now()
  const report = await simulateRun({ seed, days, callsPerDay, ...forced })
  virtualDays += days
  add(reached, report.reached)
  add(crashes, Object.entries(report.crashes))
  console.log(line(report, (performance.now() - from) / 1000))
  if (values.log) console.log(report.lines.join('\n'))
  if (report.differences.length === 0) continue
  failed += 1
  for (const difference of report.differences.slice(0, 20)) console.log(`    ${difference}`)
  console.log(
    `    again: npm run simtest -- --first ${seed} --seeds 1 --days ${days} --calls-per-day ${callsPerDay}${again}`,
  )
}
console.log(`\n${virtualDays} virtual days in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
console.log(`crashes and refused commits: ${list(crashes)}`)
console.log(`reached: ${list(reached)}`)
if (!(virtualDays > 0)) throw new Error('nothing was simulated; expected --seeds N --days D')
console.log(failed === 0 ? 'no differences' : `${failed} seeds with differences`)
process.exitCode = failed === 0 ? 0 : 1

function line(
  { seed, hazards, polls, requests, crashes: died, notifications, blind, differences }: RunReport,
  seconds: number,
): string {
  const deaths = Object.values(died).reduce((sum, count) => sum + count, 0)
  const outcomes = Object.entries(polls).map(([outcome, count]) => `${outcome} ${count}`)
  const verdict = differences.length === 0 ? 'equal' : `${differences.length} DIFFERENCES`
  return `seed ${seed}: ${verdict}; polls ${outcomes.join(', ')}; ${requests} requests, ${deaths} crashes, ${notifications} messages, no successful poll for ${blind} s at most; ${seconds.toFixed(1)} s; ${hazards.join(' ')}`
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

/** Names with commas between them; none where the text is empty. */
function hazardsOf(text: string): string[] {
  const names = text.split(',').filter((name) => name !== '')
  const unknown = names.find((name) => !isHazardName(name))
  if (unknown !== undefined)
    throw new RangeError(`unknown hazard ${unknown}; there are ${Object.keys(hazards).join(', ')}`)
  return names
}

function switchesOf(text: string): Partial<Switches> {
  const patched = patchSwitches(switchTable, defaultSwitches, JSON.parse(text))
  if ('problem' in patched) throw new RangeError(patched.problem)
  return JSON.parse(text)
}
