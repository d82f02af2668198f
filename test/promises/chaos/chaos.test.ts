import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test, type TestContext } from 'vitest'
import { skipWithoutPostgres } from '../../kit/postgres/in-postgres.ts'
import { seedsOfCommit } from '../../kit/seeds-of-commit.ts'
import type { Row } from './promise-rows.ts'

const SECONDS = 1000

/** All that a run may take: each disruption once, however long that takes, its seconds and extra ones, and until it has settled. */
const LONGEST_RUN = 900 * SECONDS

/** A fixed one, which shows a regression, and that of the commit. */
const [OF_COMMIT = 0, WITH_FAILOVER = 0] = seedsOfCommit(2)
const SEEDS = [7, OF_COMMIT]

type Report = { promises: Row[]; coverage: Row[]; again: string }

async function run({ onTestFinished }: TestContext, ...args: string[]): Promise<Report> {
  const runner = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), '--json', ...args], {
    stdio: 'pipe',
  })
  onTestFinished(() => void runner.kill('SIGKILL'))
  const [output, errors] = await Promise.all([text(runner.stdout), text(runner.stderr), once(runner, 'exit')])
  if (output === '') throw new Error(`the run broke off:\n${errors}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own runner prints
  return JSON.parse(output) as Report
}

// The runs mostly wait: for calls to end, for a daemon to start, for a lock to be released.
test.concurrent.for(SEEDS)(
  'a chaos run keeps every promise: kills, a full and a locked store, a failing service and receiver (seed %i)',
  { timeout: LONGEST_RUN },
  async (seed, context) => {
    const { promises, coverage, again } = await run(context, '--seconds', '60', '--seed', String(seed))
    expect(promises.length).toBeGreaterThan(8)
    // How long so short an exit takes depends on how busy the machine is with other tests.
    const broken = promises.filter(({ name, holds }) => !holds && name !== 'second SIGTERM to exit')
    expect(broken, again).toEqual([])
    // How often each fault occurs in so short a run depends on the machine; that it was killed in every way does not.
    expect(coverage.find(({ name }) => name === 'kills')?.holds, again).toBe(true)
  },
)

test.concurrent(
  'a chaos run of three daemons counts and notifies everything once, over a failover of the database',
  { timeout: LONGEST_RUN },
  async (context) => {
    skipWithoutPostgres(context)
    const { promises, coverage, again } = await run(
      context,
      ...'--daemons 3 --targets 8 --seconds 40 --seed'.split(' '),
      String(WITH_FAILOVER),
    )
    expect(promises.length).toBeGreaterThan(6)
    // The longest gap depends on how busy the machine is with other tests.
    const broken = promises.filter(({ name, holds }) => !holds && name !== 'longest time without a request')
    expect(broken, again).toEqual([])
    expect(coverage.find(({ name }) => name === 'database.failed_over')?.holds, again).toBe(true)
  },
)
