import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { drawSwitches } from '../../../kit/world/draw-switches.ts'
import { random } from '../../../../src/simulator/random.ts'
import { startWorld } from '../../../kit/world/start-world.ts'
import { TRIGGERS } from '../../../../src/ledger/hint.ts'
import type { TrackedCall } from '../../../../src/ledger/tracked-call.ts'
import { callOfRow } from '../../../../src/store/call-columns.ts'
import { connect, type Connection } from '../../../../src/store/postgres/connection.ts'
import { startPostgres, startStandby } from '../../../kit/postgres/start-postgres.ts'
import { eventually } from '../../../kit/eventually.ts'
import { parseExposition } from '../../../kit/replay/exposition.ts'
import { alertHistoryRow } from '../compare-alerts.ts'
import { compareExact } from '../compare-exact.ts'
import { compareMessages } from '../compare-messages.ts'
import { running } from '../../../kit/daemon-process.ts'
import { failingSlack, shuffled } from '../failing-slack.ts'
import { failingOthers, othersRow } from '../failing-others.ts'
import { failingWebhook, webhookSection } from '../failing-webhook.ts'
import { mostInAMinute, now, observeRequests } from '../../../kit/observed-requests.ts'
import { reportRow, row, type Row } from '../promise-rows.ts'
import { textAt } from '../../../kit/scraper.ts'
import { clusterConfig, MAX_REQUESTS_PER_MINUTE, FAILOVER_SECONDS } from './cluster-config.ts'
import { failOver, disruptions } from './cluster-disruptions.ts'
import { startOne, type ClusterRun, type ClusterTarget } from './cluster-run.ts'
import { deliveriesRow, resumeWebhook } from '../compare-deliveries.ts'
import { reportProblems } from '../../../kit/store/report-problems.ts'
import { rollupProblems } from '../../../kit/store/rollup-problems.ts'
import { eventsRow } from '../compare-events.ts'
import { startEventReader } from '../event-reader.ts'
import { logCommits } from '../../../kit/postgres/log-commits.ts'
import { auditCommits } from './commit-audit.ts'
import { databaseProxy } from '../../../kit/cluster/database-proxy.ts'
import { settleCluster, statusAt } from '../../../kit/cluster/settle-cluster.ts'
import { hooksRelay, hooksRow, WEBHOOK_FAULT, type HooksRelay } from './hooks-relay.ts'
import { longestGap } from './longest-gap.ts'
import { openReader, openForCommand } from '../../../../src/store/open-store.ts'

export type ClusterChaosOptions = {
  /** How long disruptions last; setting up, healing and comparing come on top. */
  seconds: number
  seed: number
  daemons: number
  targets: number
  /** Gets each step. */
  log: (line: string) => void
}

export type ClusterReport = {
  seconds: number
  seed: number
  daemons: number
  targets: number
  promises: Row[]
  coverage: Row[]
}

/** Few faults of the services: this run is about the daemons. */
const INTENSITY = 0.2
const BETWEEN_MS = 1500

/** One run: services, receiver and proxies in this process, the daemons and the two servers of the database in their own. */
export async function runClusterChaos({
  seconds,
  seed,
  daemons,
  targets,
  log,
}: ClusterChaosOptions): Promise<ClusterReport> {
  const folder = mkdtempSync(join(tmpdir(), 'callwatch-chaos-'))
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    log('starting the database and its standby')
    const primary = await startPostgres({ durable: true })
    closing.push(primary.stop)
    const standby = await startStandby(primary)
    closing.push(standby.stop)
    const proxies = [await databaseProxy(primary.port), await databaseProxy(standby.port)] as const
    for (const { close } of proxies) closing.push(close)
    const relay = await hooksRelay(() => run)
    closing.push(relay.close)
    const clusterTargets = await Promise.all(
      Array.from({ length: targets }, (_, i) => startTarget(`target-${i + 1}`, `${seed} ${i}`, relay)),
    )
    for (const { simulator, requests } of clusterTargets) closing.push(requests.stop, simulator.close)
    const slack = await failingSlack(random(seed, 'slack'), () => run.interruptions)
    closing.push(slack.close)
    slack.heal()
    const others = await failingOthers(random(seed, 'others'))
    closing.push(others.close)
    const webhook = await failingWebhook(random(seed, 'webhook'))
    closing.push(webhook.close)
    const run: ClusterRun = {
      draw: random(seed, 'chaos'),
      targets: clusterTargets,
      files: { config: join(folder, 'callwatch.yaml'), order: join(folder, 'order') },
      daemons: [],
      size: daemons,
      primary: { postgres: primary, proxy: proxies[0] },
      standby: { postgres: standby, proxy: proxies[1] },
      outputs: [],
      reached: new Map(),
      interruptions: 0,
      stops: [],
      hitAt: -Infinity,
    }
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')
    writeFileSync(
      run.files.config,
      clusterConfig({
        targets: clusterTargets.map(({ name, simulator }) => ({
          name,
          url: simulator.url,
          apiKey: simulator.keys.fullAccess,
        })),
        slack: slack.url,
        others: others.section,
        store: `postgres://postgres@${hosts}/callwatch?target_session_attrs=read-write`,
      }) + webhookSection(webhook),
    )
    closing.push(() => {
      for (const child of running) child.kill('SIGKILL')
    })
    const database = latestConnection(run)
    closing.push(database.close)
    await logCommits((await database.get())!)
    for (let i = 0; i < daemons; i++) await startOne(run)
    const audit = auditCommits(database.get)
    closing.push(audit.stop)
    // Another daemon each time.
    let asked = 0
    const reader = startEventReader(() => run.daemons[asked++ % run.daemons.length]?.url)
    closing.push(reader.stop)

    const begun = now()
    run.hitAt = begun
    const end = begun + seconds
    const failsOverAt = now() + seconds * (0.3 + run.draw() * 0.4)
    for (let round = 0; round === 0 || now() < end; round++) {
      for (const name of shuffled(Object.keys(disruptions), run.draw)) {
        if (round > 0 && now() >= end) break
        if (run.standby !== undefined && now() >= failsOverAt) {
          log(`${Math.ceil(end - now())} s left: the primary of the database dies`)
          await failOver(run)
          await wait(BETWEEN_MS)
        }
        log(`${Math.ceil(end - now())} s left: ${name}`)
        await disruptions[name]!(run)
        if (webhook.isGone()) await resumeWebhook(run.files.config)
        await wait(BETWEEN_MS)
      }
    }
    if (run.standby !== undefined) await failOver(run)
    log('healing')
    const gap = longestGap(new Map(clusterTargets.map(({ name, requests }) => [name, requests.requests])), begun, now())
    webhook.heal()
    others.heal()
    if (webhook.isGone()) await resumeWebhook(run.files.config)
    const undone = await settleCluster(run, () => slack.attempts.length + others.messages())
    await audit.read()
    const compared = await compareTargets(run, await database.get())
    const hooks = await endsRow(run, relay)
    const views = await viewsOf(run)
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
    const most = Math.max(...clusterTargets.map(({ requests }) => mostInAMinute(requests.requests)))
    const differences = compared.flatMap((each) => each.differences)
    const doubles = audit.problems()
    // The leader puts the last events in order.
    await eventually(async () => {
      const unordered = await (await database.get())!.run('SELECT FROM callwatch.events WHERE position IS NULL LIMIT 1')
      return unordered.length === 0 ? true : undefined
    }, 60)
    const left = await openForCommand({ url: run.primary.postgres.url })
    const events = await eventsRow(reader, left, await countersOf(database.get))
    const deliveries = await deliveriesRow(webhook, left)
    const history = await openReader({ url: run.primary.postgres.url })
    const names = clusterTargets.map(({ name }) => name)
    const reported = await Promise.all([
      ...names.map((name) => reportProblems(history, name)),
      rollupProblems(history, names),
    ])
    const alerts = await alertHistoryRow(history, left)
    const messages = clusterTargets.map(({ name }) =>
      compareMessages(
        slack.attempts.filter(({ message }) => message.target === name),
        alerts.episodes.filter(({ target }) => target === name),
        'slack',
      ),
    )
    const problems = messages.flatMap((each, i) =>
      each.problems.map((problem) => `${clusterTargets[i]!.name}: ${problem}`),
    )
    const duplicates = sum(messages.map((each) => each.duplicates))
    await left.close()
    await history.close()
    return {
      seconds,
      seed,
      daemons,
      targets,
      promises: [
        row('after healing, nothing is left to do', undone.length === 0 ? 'yes' : 'no', undone.length === 0, undone),
        row(
          'exact series equal what the simulator recorded',
          `${differences.length} of ${sum(compared.map((each) => each.series))} series of ${targets} targets differ`,
          differences.length === 0,
          differences,
        ),
        row(
          'no sequence number is repeated, omitted, or committed by a previous owner',
          `${doubles.length} in ${audit.commits()} commits; targets changed owners ${audit.epochs()} times`,
          doubles.length === 0 && audit.commits() > targets,
          doubles,
        ),
        row(
          'every committed notification is delivered',
          `${sum(messages.map((each) => each.distinct))} messages, ${sum(messages.map((each) => each.lost))} lost, ` +
            `${duplicates} repeated after one of ${run.interruptions} interruptions`,
          problems.length === 0,
          problems,
        ),
        row(
          'longest time without a request',
          `${gap.seconds.toFixed(1)} s (${gap.target}, from second ${Math.round(gap.from - begun)} on), of ${FAILOVER_SECONDS} s`,
          gap.seconds <= FAILOVER_SECONDS,
        ),
        events,
        deliveries,
        alerts.row,
        othersRow(others, alerts.episodes),
        hooks,
        reportRow(reported.flat()),
        row('all daemons show the same targets', `${views} views of ${run.daemons.length} daemons`, views === 1),
        row('requests in any 60 s', `${most} of ${MAX_REQUESTS_PER_MINUTE}`, most <= MAX_REQUESTS_PER_MINUTE),
        row(
          'SIGTERM to exit',
          run.stops.map(({ seconds: took, code }) => `${took.toFixed(1)} s, code ${code}`).join('; ') || 'none',
          run.stops.every(({ seconds: took, code }) => took <= 10 && code === 0),
        ),
      ],
      coverage: REQUIRED.map((what) => row(what, `${run.reached.get(what) ?? 0} times`, run.reached.has(what))),
    }
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}

/** The counters of each target, as they are stored. */
async function countersOf(connected: () => Promise<Connection | undefined>) {
  const connection = await connected()
  const rows = await connection!.run(
    'SELECT name, series, value FROM callwatch.counters JOIN callwatch.targets ON target = number',
  )
  const byTarget = Map.groupBy(rows, ({ name }) => String(name))
  return new Map(
    [...byTarget].map(([name, counted]) => [
      name,
      new Map(counted.map(({ series, value }) => [String(series), Number(value)])),
    ]),
  )
}

/** What must occur for a run to be meaningful. */
const REQUIRED = [
  'daemon.killed',
  'daemon.halted',
  'daemon.replaced',
  'commit.cut_before_answer',
  'commit.answer_lost',
  'database.slow',
  'silence.added',
  'database.failed_over',
]

async function startTarget(name: string, seed: string, relay: HooksRelay): Promise<ClusterTarget> {
  const simulator = await startWorld({
    seed,
    speed: 200,
    callsPerMinute: 12,
    history: 20,
    mostRecordedResponses: 1,
  })
  simulator.sendWebhooks(relay.address(name))
  const { arrivals: _arrivals, outage: _outage, ...drawn } = drawSwitches(seed, INTENSITY, { mostDateOffset: 0 })
  // A call's row does not keep enough to take one with changed labels out of a comparison.
  const { labels_changed: _labels, ...facts } = drawn.facts
  simulator.setSwitches({
    ...drawn,
    facts,
    dateOffset: 0,
    date: 'given',
    unlisted: 'found',
    webhookFault: WEBHOOK_FAULT,
  })
  return { name, simulator, requests: observeRequests(simulator.port, () => 0) }
}

/** A connection to the server that takes commits at the moment. */
function latestConnection(run: ClusterRun): { get: () => Promise<Connection | undefined>; close: () => Promise<void> } {
  let server = run.primary.postgres
  let connection: Connection | undefined
  const close = async () => connection?.close().catch(() => undefined)
  return {
    get: async () => {
      if (connection === undefined || connection.isDropped() || server !== run.primary.postgres) {
        await close()
        server = run.primary.postgres
        connection = await connect(server.url).catch(() => undefined)
      }
      return connection
    },
    close,
  }
}

/** How many different views the daemons have of the owners and counts of the targets; while nothing happens, one. */
async function viewsOf({ daemons }: ClusterRun): Promise<number> {
  const views = async () => {
    const all = await Promise.all(daemons.map(({ url }) => statusAt(url)))
    return new Set(all.map((one) => JSON.stringify(one.map(({ name, owner, finished }) => [name, owner, finished]))))
      .size
  }
  return eventually(async () => ((await views()) === 1 ? 1 : undefined), 30).catch(views)
}

/** What living daemons counted of the ends of calls. */
async function endsRow({ targets, daemons }: ClusterRun, relay: HooksRelay): Promise<Row> {
  const texts = await Promise.all(daemons.map(({ url }) => textAt(`${url}metrics`)))
  const lost = targets.flatMap(({ simulator }) => simulator.webhooks().lost)
  return hooksRow(texts, lost.filter(isOfEnd).length + relay.doubtful())
}

/** Whether a webhook announces the end of a call. */
function isOfEnd({ trigger }: { trigger: string }): boolean {
  return Object.entries(TRIGGERS).some(([name, shows]) => name === trigger && shows === 'end')
}

async function callsOf(connection: Connection | undefined, name: string): Promise<TrackedCall[]> {
  const rows = await connection!.run(
    'SELECT * FROM callwatch.calls WHERE target = (SELECT number FROM callwatch.targets WHERE name = $1::text)',
    [name],
  )
  return rows.map(callOfRow)
}

async function compareTargets(run: ClusterRun, connection: Connection | undefined) {
  const texts = await Promise.all(run.daemons.map(({ url }) => textAt(`${url}metrics`)))
  const status = await statusAt(run.daemons[0]!.url)
  const compared = []
  for (const { name, simulator } of run.targets) {
    const exporting = texts.filter((text) => text.includes(`callwatch_up{target="${name}"}`))
    const calls = new Map((await callsOf(connection, name)).map((call) => [call.id, call]))
    const created = Date.parse(status.find((target) => target.name === name)!.created) / 1000
    const { series, differences, minutes } = compareExact(simulator, parseExposition(exporting[0] ?? '', name), {
      calls,
      created,
    })
    const found = differences.map((difference) => `${name}: ${difference}`)
    if (exporting.length !== 1) found.push(`${name}: exported by ${exporting.length} daemons`)
    if (minutes > 1e-9) found.push(`${name}: minutes differ by ${minutes}`)
    compared.push({ series, differences: found })
  }
  return compared
}
