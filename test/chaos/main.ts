import { parseArgs } from 'node:util'
import type { Row } from './promise-rows.ts'
import { runChaos } from './run-chaos.ts'

/** `npm run chaos -- --seconds N --seed S [--json]`: the daemon as a real process, with everything going wrong. */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    json: { type: 'boolean', default: false },
  },
})
const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
if (!(seconds > 0) || !Number.isSafeInteger(seed)) {
  throw new RangeError('--seconds: expected a number above 0; --seed: expected a whole number')
}
const again = `npm run chaos -- --seconds ${seconds} --seed ${seed}`
console.error(`seed ${seed}; again: ${again}`)
const report = await runChaos({ seconds, seed, tell: (line) => console.error(line) })
const rows = [...report.promises, ...report.reached]
const holds = rows.every((row) => row.holds)
if (values.json) console.log(JSON.stringify({ ...report, holds, again }, null, 2))
else {
  console.log(`\nseed ${seed}, ${seconds} s: ${report.lives} processes, ${report.requests} requests\n`)
  console.log(report.promises.map((row) => lines(row, 'pass')).join('\n'))
  console.log(`\nreached\n${report.reached.map((row) => lines(row, 'reached')).join('\n')}`)
  console.log(`\n${holds ? 'every promise holds' : 'FALLS SHORT'}; again: ${again}`)
}
process.exitCode = holds ? 0 : 1

function lines({ name, figure, holds, details }: Row, good: string): string {
  const verdict = holds ? good : 'FALLS SHORT'
  return [`${verdict.padEnd(12)}${name}: ${figure}`, ...details.map((detail) => `${' '.repeat(14)}${detail}`)].join(
    '\n',
  )
}
