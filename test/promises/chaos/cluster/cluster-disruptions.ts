import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '../../../kit/eventually.ts'
import { now } from '../../../kit/observed-requests.ts'
import { LEASE } from './cluster-config.ts'
import { count, silence } from '../chaos-run.ts'
import { anyDaemon, remove, recovered, startOne, type ClusterRun } from './cluster-run.ts'
import type { DatabaseProxy } from '../../../kit/cluster/database-proxy.ts'

/** Something that happens to the daemons or their database; afterwards there are as many daemons as before. */
export type Disruption = (run: ClusterRun) => Promise<void>

/** In each round each comes once, in an order that the seed draws. A run has at least one whole round. */
export const disruptions: Readonly<Record<string, Disruption>> = {
  killed: async (run) => {
    await recovered(run)
    const daemon = anyDaemon(run)
    remove(run, daemon)
    run.hitAt = now()
    const code = await daemon.end('SIGKILL')
    if (code !== null) throw new Error(`a daemon had ended by itself with ${code}:\n${daemon.output().slice(-2000)}`)
    await wait(run.draw() * 2 * LEASE * 1000)
    await startOne(run)
    count(run, 'daemon.killed')
  },
  halted: async (run) => {
    await recovered(run)
    const daemon = anyDaemon(run)
    run.interruptions += 1
    run.hitAt = now()
    daemon.child.kill('SIGSTOP')
    await wait((0.5 + run.draw()) * LEASE * 1500)
    daemon.child.kill('SIGCONT')
    run.hitAt = now()
    run.interruptions += 1
    count(run, 'daemon.halted')
  },
  replaced: async (run) => {
    await startOne(run)
    await wait(2000 + run.draw() * 3000)
    const daemon = anyDaemon(run)
    remove(run, daemon)
    const begun = now()
    const code = await daemon.end('SIGTERM')
    run.stops.push({ seconds: now() - begun, code })
    count(run, 'daemon.replaced')
  },
  cutBeforeTheAnswer: (run) => cutInCommit(run, 'before the answer', 'commit.cut_before_answer'),
  cutInPlaceOfTheAnswer: (run) => cutInCommit(run, 'instead of the answer', 'commit.answer_lost'),
  silenced: (run) => silence(run, { url: run.primary.postgres.url }),
  slow: async (run) => {
    await recovered(run)
    run.primary.proxy.delay = 100 + run.draw() * 400
    await wait(LEASE * 500)
    run.primary.proxy.delay = 0
    count(run, 'database.slow')
  },
}

/** The primary dies, and its standby takes its place. Once a run, since there is one standby. */
export async function failOver(run: ClusterRun): Promise<void> {
  const { standby, primary } = run
  if (standby === undefined) throw new Error('there is no standby')
  await recovered(run)
  run.interruptions += 1
  run.hitAt = now()
  await primary.postgres.kill()
  await standby.postgres.promote()
  primary.proxy.close()
  run.primary = standby
  run.standby = undefined
  count(run, 'database.failed_over')
}

/** Until a commit that counts is seen (seconds). */
const TIMEOUT_SECONDS = 30

async function cutInCommit(run: ClusterRun, when: DatabaseProxy['cutNext'], what: string): Promise<void> {
  const { proxy } = run.primary
  const before = proxy.cuts
  proxy.cutNext = when
  run.interruptions += 1
  await eventually(async () => (proxy.cuts > before ? true : undefined), TIMEOUT_SECONDS)
  count(run, what)
}
