import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { daemonInProcess, KEY, WAIT } from '../../kit/daemon/daemon-in-process.ts'

/** Refuses new settings, as a database does whose user lost a privilege. */
const REFUSE = `
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''a privilege is missing'' USING ERRCODE = ''42501''; END';
  CREATE TRIGGER refuse BEFORE UPDATE OF settings ON callwatch.members FOR EACH ROW EXECUTE FUNCTION refuse()`

inPostgres('a refused reload', ({ newDatabase }) => {
  test('leaves the settings in a shared store as they were', async () => {
    const simulator = await startSimulator({ apiKey: KEY, callsPerMinute: 60, speed: 1, history: 0 })
    onTestFinished(simulator.close)
    const url = await newDatabase()
    const { reload, recovered } = await daemonInProcess(
      simulator.url,
      {},
      { store: { url, history: 86_400, lease: 5 } },
    )
    await recovered()
    const connection = await connect(url)
    onTestFinished(() => void connection.close())
    const settings = () => connection.run('SELECT settings, declared FROM callwatch.members')
    const before = await settings()
    await connection.run(REFUSE)
    const { problems } = await reload({ alerts: [], events: { retention: 7200, participants: true, webhooks: [] } })
    expect(problems).toMatchObject([{ message: expect.stringContaining('privilege') }])
    await connection.run('DROP TRIGGER refuse ON callwatch.members')
    // Longer than between two renewals of the lease.
    const ends = async () => (await connection.run('SELECT ends::text FROM callwatch.members'))[0]!['ends']
    const renewed = await ends()
    await expect.poll(ends, WAIT).not.toBe(renewed)
    expect(await settings()).toEqual(before)
  })
})
