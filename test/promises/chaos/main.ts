import { parseArgs } from 'node:util'
import type { Row } from './promise-rows.ts'
import { runClusterChaos } from './cluster/run-cluster-chaos.ts'
import { runChaos } from './run-chaos.ts'

/**
 * `npm run chaos -- --seconds N --seed S [--json]`: the daemon as a real process, under every disruption.
 * With `--daemons N`, so many of them on one PostgreSQL and its standby, with `--targets N` (60).
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    daemons: { type: 'string', default: '1' },
    targets: { type: 'string', default: '60' },
    json: { type: 'boolean', default: false },
  },
})
// A signal ends the started processes as well.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
if (!(seconds > 0) || !Number.isSafeInteger(seed)) {
  throw new RangeError('--seconds: expected a number above 0; --seed: expected a whole number')
}
const [daemons, targets] = [Number(values.daemons), Number(values.targets)]
if (!(daemons >= 1) || !(targets >= 1)) throw new RangeError('--daemons, --targets: expected a whole number above 0')
const log = (line: string) => console.error(line)
const size = daemons === 1 ? '' : ` --daemons ${daemons} --targets ${targets}`
const again = `npm run chaos -- --seconds ${seconds} --seed ${seed}${size}`
console.error(`seed ${seed}; again: ${again}`)
const report =
  daemons === 1
    ? await runChaos({ seconds, seed, log })
    : await runClusterChaos({ seconds, seed, daemons, targets, log })
const rows = [...report.promises, ...report.coverage]
const holds = rows.every((row) => row.holds)
if (values.json) console.log(JSON.stringify({ ...report, holds, again }, null, 2))
else {
  console.log(`\nseed ${seed}, ${seconds} s: ${whatRan()}\n`)
  console.log(report.promises.map((row) => lines(row, 'pass')).join('\n'))
  console.log(`\ncoverage\n${report.coverage.map((row) => lines(row, 'covered')).join('\n')}`)
  console.log(`\n${holds ? 'every promise holds' : 'FAILED'}; again: ${again}`)
}
process.exitCode = holds ? 0 : 1

function whatRan(): string {
  if ('lives' in report) return `${report.lives} processes, ${report.requests} requests`
  return `${report.daemons} daemons, ${report.targets} targets`
}

function lines({ name, figure, holds, details }: Row, good: string): string {
  const verdict = holds ? good : 'FAILED'
  return [`${verdict.padEnd(12)}${name}: ${figure}`, ...details.map((detail) => `${' '.repeat(14)}${detail}`)].join(
    '\n',
  )
}
