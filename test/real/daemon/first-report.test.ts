import { expect, onTestFinished, test, vi } from 'vitest'
import { configOf } from '../../../src/config/config.ts'
import { startSimulators } from '../../../src/simulator/simulator.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { daemonInProcess, KEY } from '../../kit/daemon/daemon-in-process.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'later']
const WAIT = { timeout: 90_000, interval: 20 }

/** Slack's webhook. Its first request stays without an answer until it is refused. */
async function slackWebhook() {
  const begun: string[] = []
  const accepted: string[] = []
  const refuse: (() => void)[] = []
  const { url } = await localServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.once('end', () => {
      begun.push(body)
      if (begun.length === 1) refuse.push(() => response.destroy())
      else {
        accepted.push(body)
        response.end('ok')
      }
    })
  })
  return { url, begun, accepted, refuse: () => refuse.forEach((each) => each()) }
}

inPostgres('new targets on several daemons', ({ newDatabase }) => {
  test('have one first report in Slack, though daemons die before and while it is sent', async () => {
    const services = await startSimulators(NAMES, { apiKey: KEY, history: 200, callsPerMinute: 1 })
    onTestFinished(() => services[0]!.close())
    const slack = await slackWebhook()
    const { notify } = configOf({
      targets: [{ name: 'any', base_url: services[0]!.url, api_key: KEY }],
      notify: { slack: { webhook_url: `${slack.url}/services/T/B/x` } },
    })
    const everything = services.map(({ url }, i) => ({ name: NAMES[i]!, baseUrl: url, apiKey: KEY, query: {} }))
    const targets = everything.slice(0, 6)
    const store = { url: await newDatabase(), lease: 5, history: 86_400 }
    const start = () =>
      daemonInProcess(services[0]!.url, { pageSize: 20, lookback: 86_400 }, { targets, notify, store })
    const answerAfter = (answerSeconds: number) => services.forEach((each) => each.setSwitches({ answerSeconds }))

    answerAfter(1)
    // The first of them is the leader, and after its death the next one.
    const daemons = [await start(), await start(), await start()]
    const readBy = () => daemons[0]!.daemon.targets.loaded().map(({ ledger }) => ledger.calls.size)
    await vi.waitFor(() => expect(Math.max(...readBy())).toBeGreaterThan(20), WAIT)
    expect(Math.max(...readBy())).toBeLessThan(200)
    daemons[0]!.kill()
    answerAfter(0)

    await vi.waitFor(() => expect(slack.begun).toHaveLength(1), WAIT)
    daemons[1]!.kill()
    slack.refuse()
    await vi.waitFor(() => expect(slack.accepted).toHaveLength(1), WAIT)

    const last = await start()
    await daemons[2]!.stop()
    await last.reload({ targets: everything })
    // Who reports it has looked at the others as well.
    await vi.waitFor(() => expect(slack.accepted.at(-1)).toContain('callwatch watches later'), WAIT)
    expect(slack.accepted).toEqual([expect.stringContaining('callwatch watches 6 targets'), expect.anything()])
    // The next leader makes it anew, of what is then.
    expect(slack.begun[0]).toContain('callwatch watches 6 targets')
  })
})
