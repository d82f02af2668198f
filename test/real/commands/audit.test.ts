import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { AuditReport } from '../../../src/views/commands/audit.ts'
import { loadConfig } from '../../../src/config/load-config.ts'
import { targetFingerprint } from '../../../src/pipeline/target.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { callwatch, emptyFolder, type Ended } from '../../kit/commands/callwatch.ts'
import { configFor, countedCalls, countedWorld, tamper, withStore } from '../../kit/commands/counted-world.ts'

function reportOf({ stdout }: Ended): AuditReport {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own process prints
  return (JSON.parse(stdout) as { targets: AuditReport[] }).targets[0]!
}

test('audit finds everything equal beside a daemon that counts, and does not disturb it', async () => {
  const world = await countedWorld({ process: true })
  await world.finished(30)
  const { code, stdout, stderr } = await callwatch(['audit', '--config', world.patient])
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^production: equal: all \d+ finished calls that the service lists match the ledger$/m)
  expect(stdout).toMatch(/ 0 baseline,/)
  expect(stdout).toMatch(/^ {2}audio call user +\d+ calls, audio\/video minutes [\d.]+\/0, of participants/m)
  expect(stdout).not.toMatch(/uid|user-\d/)
  await world.finished(countedCalls(world.store).length + 10)
  await world.stop()
})

test('audit beside a running daemon finds a call that is missing in the store, and nothing else', async () => {
  const world = await countedWorld()
  await world.finished(20)
  const [deleted] = countedCalls(world.store)
  withStore(world.store, (db) => db.prepare('DELETE FROM calls WHERE id = ?').run(deleted!.id))
  const ended = await callwatch(['audit', '--json', '--config', world.patient])
  expect(ended.code).toBe(1)
  const { differences, daemon_polls } = reportOf(ended)
  expect(daemon_polls).toBe(true)
  expect(differences).toEqual([
    {
      call_id: null,
      session_id: deleted!.id,
      discrepancies: [{ what: 'call', counted: 'unknown', served: deleted!.finish!.status }],
    },
  ])
})

test('audit lists calls that were changed in the store or deleted from it, each with its differences', async () => {
  const world = await countedWorld({ callsPerMinute: 3000 })
  await world.finished(30)
  await world.settle()
  const [status, minutes, deleted] = countedCalls(world.store).filter(({ finish }) => finish?.status === 'ended')
  tamper(world.store, { ...status!, finish: { ...status!.finish!, status: 'rejected' } })
  tamper(world.store, { ...minutes!, minutes: minutes!.minutes.map((sum, i) => (i === 2 ? sum + 1.5 : sum)) })
  withStore(world.store, (db) => db.prepare('DELETE FROM calls WHERE id = ?').run(deleted!.id))

  const text = await callwatch(['audit', '--config', world.config])
  expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 1, stderr: '' })
  expect(text.stdout).toContain('production: NOT EQUAL: 3 calls differ from the ledger')
  expect(text.stdout).toContain(`DIFFERS ${status!.id}: status: ledger rejected, service ended\n`)
  expect(text.stdout).toContain(
    `DIFFERS ${minutes!.id}: participant audio minutes: ledger ${minutes!.minutes[2]! + 1.5},`,
  )
  expect(text.stdout).toContain(`DIFFERS ${deleted!.id}: ended at the service, unknown to the ledger\n`)
  expect(text.stdout).toContain('no daemon polled during the audit')

  const json = await callwatch(['audit', '--json', '--config', world.config])
  expect(json.code).toBe(1)
  const report = reportOf(json)
  expect(report).toMatchObject({ target: 'production', equal: false, problem: null, notes: [], daemon_polls: false })
  expect(report.differences.map(({ session_id }) => session_id).toSorted()).toEqual(
    [status!.id, minutes!.id, deleted!.id].toSorted(),
  )
  const calls = (side: 'ledger' | 'service') => report.sums.reduce((sum, sums) => sum + sums[side].calls, 0)
  expect(calls('service') - calls('ledger')).toBe(1)
  expect(calls('service')).toBe(report.listed.equal + 3)
})

test('audit finds a call that ended after the set-up, but is neither counted nor in the history', async () => {
  const world = await countedWorld({ callsPerMinute: 3000 })
  await world.finished(30)
  await world.settle()
  const [missed] = countedCalls(world.store).filter(({ finish }) => finish?.status === 'ended')
  withStore(world.store, (db) => {
    db.exec("UPDATE targets SET sync = json_set(sync, '$.horizon', 9e9)")
    db.exec('UPDATE calls SET tracked = 0')
  })
  const evicted = await callwatch(['audit', '--full', '--config', world.config])
  expect(evicted.stdout).toContain('production: equal: ')
  withStore(world.store, (db) => db.prepare('DELETE FROM calls WHERE id = ?').run(missed!.id))
  const { code, stdout } = await callwatch(['audit', '--full', '--config', world.config])
  expect(code).toBe(1)
  expect(stdout).toContain('production: NOT EQUAL: 1 call differs from the ledger')
  expect(stdout).toContain(`DIFFERS ${missed!.id}: ended at the service, unknown to the ledger\n`)
})

test('audit finds minutes that the service corrected after the last poll', async () => {
  const world = await countedWorld({ speed: 300, switches: { facts: { corrected: 1 } } })
  await world.finished(20)
  world.simulator.setSwitches({ arrivals: false })
  await world.stop()
  await vi.waitFor(
    () => {
      const expected = world.simulator.expectedCalls()
      const corrected = countedCalls(world.store).filter(
        ({ id, minutes }) => expected.get(id)!.final && expected.get(id)!.callMinutes.audio !== minutes[0],
      )
      expect(corrected.length).toBeGreaterThan(3)
    },
    { timeout: 60_000 },
  )
  const { code, stdout } = await callwatch(['audit', '--config', world.config])
  expect(code).toBe(1)
  expect(stdout).toMatch(/DIFFERS \S.*: call audio minutes: ledger [\d.]+, service [\d.]+/)
})

test('audit reports a changed final status that the ledger knows as a note, not as a difference', async () => {
  const world = await countedWorld({ sweepInterval: '1s', switches: { facts: { final_changed: 0.5 } } })
  await world.finished(30)
  world.simulator.setSwitches({ arrivals: false })
  await vi.waitFor(
    async () => {
      const ended = await callwatch(['audit', '--json', '--config', world.config])
      expect(ended).toMatchObject({ code: 0 })
      const { equal, notes, differences } = reportOf(ended)
      expect({ equal, differences }).toEqual({ equal: true, differences: [] })
      expect(notes.length).toBeGreaterThan(0)
      for (const { discrepancies } of notes) expect(discrepancies).toMatchObject([{ known: 'final_changed' }])
    },
    { timeout: 150_000, interval: 500 },
  )
})

test('audit finds a doubled counter, though each call is counted correctly', async () => {
  const world = await countedWorld({ callsPerMinute: 3000 })
  await world.finished(30)
  await world.settle()
  const held = await callwatch(['audit', '--config', world.config])
  expect(held.stdout).toMatch(/: equal: .*\n(?: {2}.*\n)* {2}the counters equal the sums of the calls in the store/)
  withStore(world.store, (db) =>
    db.exec("UPDATE counters SET value = value * 2 WHERE series LIKE 'callwatch\\_calls\\_total|%' ESCAPE '\\'"),
  )
  const calls = countedCalls(world.store).length
  const text = await callwatch(['audit', '--config', world.config])
  expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 1, stderr: '' })
  expect(text.stdout).toContain('production: NOT EQUAL: the counters differ from the sums of the calls in the store\n')
  expect(text.stdout).toContain(
    `  DIFFERS finished: ${2 * calls} in the counters, ${calls} in the calls of the store\n`,
  )
  const json = reportOf(await callwatch(['audit', '--json', '--config', world.config]))
  expect(json).toMatchObject({
    equal: false,
    differences: [],
    balanced: false,
    imbalances: [{ quantity: 'finished', counters: 2 * calls, calls }],
  })
})

describe('audit of an incomplete list', () => {
  test('with a wrong key exits 1 with a sentence without the key', async () => {
    const world = await countedWorld()
    await world.finished(1)
    const config = configFor(world.simulator.url, world.store, { apiKey: 'another-key' })
    const { code, stdout, stderr } = await callwatch(['audit', '--config', config])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toMatch(/^production: NOT VERIFIED: /)
    expect(stdout).toContain('compared incompletely: the key is not accepted; check api_key')
    expect(stdout).not.toContain('another-key')
  })

  test('of a service that refuses deep pages exits 1, though all listed calls are equal', async () => {
    const world = await countedWorld({ history: 300 })
    await world.finished(20)
    world.simulator.setSwitches({ arrivals: false, deepestPage: 2 })
    const { code, stdout } = await callwatch(['audit', '--config', world.config])
    expect(code).toBe(1)
    expect(stdout).toContain('production: NOT VERIFIED')
    expect(stdout).toContain('the service shows no page from 3 on')
  })
})

test('audit amid the first poll says that it is too early', async () => {
  const path = join(emptyFolder(), 'callwatch.db')
  const config = configFor('http://127.0.0.1:1/v3', path)
  const store = openSqliteStore({ path })
  const [target] = loadConfig({ file: config, env: {}, cwd: '/' }).targets
  await store.openTarget({ name: 'production', fingerprint: targetFingerprint(target!) }, 0, 0)
  await store.close()
  const { code, stdout, stderr } = await callwatch(['audit', '--config', config])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(stdout).toContain(
    'compared incompletely: the first poll of `callwatch run` has not succeeded yet; audit again',
  )
})

describe('audit exits 2', () => {
  const url = 'http://127.0.0.1:1/v3'
  const audit = (store: string) => callwatch(['audit', '--config', configFor(url, store)])

  test('without a store', async () => {
    const { code, stdout, stderr } = await audit(join(emptyFolder(), 'nowhere.db'))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      /^there is no store \S+nowhere\.db: its name is another one, or callwatch has not run with it yet$/m,
    )
  })

  test('for a store in memory', async () => {
    const { code, stderr } = await audit(':memory:')
    expect(code).toBe(2)
    expect(stderr).toContain('the store is in memory, where only its own daemon sees it')
  })

  test('for a store whose target had another address', async () => {
    const path = join(emptyFolder(), 'callwatch.db')
    const store = openSqliteStore({ path })
    await store.openTarget({ name: 'production', fingerprint: 'of another address' }, 0, 0)
    await store.close()
    const { code, stderr } = await audit(path)
    expect(code).toBe(2)
    expect(stderr).toContain('target production had another URL, on_behalf_of or query')
  })
})
