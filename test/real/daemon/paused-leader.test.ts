import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Rule } from '../../../src/alerts/rule.ts'
import { configOf } from '../../../src/config/config.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { ANY_CALL } from '../../kit/daemon/any-call.ts'
import { daemonInProcess, KEY, WAIT } from '../../kit/daemon/daemon-in-process.ts'
import { pausableClock } from '../../kit/pausable-clock.ts'
import { webhookOf } from '../../kit/events/webhooks/any-webhook.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'

const IN_PROGRESS: Rule = { ...ANY_CALL, name: 'InProgress', signal: { name: 'in_progress' } }
/** So long that the paused daemon renews it only long after its posts are due. */
const LONG_LEASE = 3600

inPostgres('a paused leader', ({ newDatabase }) => {
  test('that is resumed with its clocks behind posts no alert to Alertmanager, and no event again, of what another leader has sent', async () => {
    const service = await startSimulator({ apiKey: KEY, callsPerMinute: 300, speed: 200 })
    onTestFinished(service.close)
    const posts: string[] = []
    const { url } = await localServer((request, response) => {
      void json(request).then((alerts) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon posts
        const [alert] = alerts as { endsAt: string }[]
        const [, by] = request.url!.split('/')
        if (alert !== undefined) posts.push(`${by} ${Date.parse(alert.endsAt) > Date.now() ? 'firing' : 'ended'}`)
        response.end()
      })
    })
    const events: string[] = []
    const hook = await localServer(({ headers }, response) => {
      events.push(String(headers['webhook-id']))
      response.end()
    })
    const database = await newDatabase()
    const targets = [{ name: 'production', base_url: service.url, api_key: KEY }]
    const start = (name: string, lease: number, clock?: ReturnType<typeof pausableClock>['clock']) => {
      const { notify } = configOf({ targets, notify: { alertmanager: { url: `${url}/${name}` } } })
      const store = { url: database, lease, history: 86_400 }
      const webhooks = [webhookOf({ url: hook.url })]
      const config = {
        store,
        alerts: [IN_PROGRESS],
        notify,
        events: { retention: 86_400, participants: false, webhooks },
      }
      return daemonInProcess(service.url, { interval: 1 }, config, undefined, clock)
    }
    const machine = pausableClock()
    const paused = await start('paused', LONG_LEASE, machine.clock)
    await vi.waitFor(() => expect(posts).toContain('paused firing'), WAIT)
    await start('other', 10)
    await machine.pause()

    const connection = await connect(database)
    await connection.run(
      "UPDATE callwatch.members SET ends = '-infinity' WHERE joined = (SELECT min(joined) FROM callwatch.members)",
    )
    await connection.close()
    await vi.waitFor(() => expect(posts).toContain('other firing'), WAIT)
    service.setSwitches({ arrivals: false })
    await vi.waitFor(() => expect(posts.at(-1)).toBe('other ended'), WAIT)

    posts.splice(0)
    const before = new Set(events.splice(0))
    expect(before.size).toBeGreaterThan(0)
    const knows = () => paused.log.some(({ msg }) => msg.includes('expired before it was renewed'))
    for (let i = 0; i < LONG_LEASE / 60 && !knows(); i++) await machine.hurry(60)
    expect(knows()).toBe(true)
    machine.resume()
    expect(posts.filter((post) => post.startsWith('paused'))).toEqual([])
    expect(events.filter((id) => before.has(id))).toEqual([])
  })
})
