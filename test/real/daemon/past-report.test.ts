import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { configOf } from '../../../src/config/config.ts'
import { startSimulators } from '../../../src/simulator/simulator.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { daemonInProcess, KEY } from '../../kit/daemon/daemon-in-process.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const WAIT = { timeout: 30_000, interval: 20 }
/** In this time a leader looks for new targets twice. */
const TWO_LOOKS_MS = 11_000

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
  test(
    'have one report of the past in Slack, though daemons die before and while it is sent',
    { timeout: 60_000 },
    async () => {
      const services = await startSimulators(NAMES, { apiKey: KEY, history: 200, callsPerMinute: 1 })
      onTestFinished(() => services[0]!.close())
      const slack = await slackWebhook()
      const { notify } = configOf({
        targets: [{ name: 'any', base_url: services[0]!.url, api_key: KEY }],
        notify: { slack: { webhook_url: `${slack.url}/services/T/B/x` } },
      })
      const targets = services.map(({ url }, i) => ({ name: NAMES[i]!, baseUrl: url, apiKey: KEY, query: {} }))
      const store = { url: await newDatabase(), lease: 2, history: 86_400 }
      const start = () =>
        daemonInProcess(services[0]!.url, { pageSize: 20, lookback: 86_400 }, { targets, notify, store })
      const answerAfter = (answerSeconds: number) => services.forEach((each) => each.setSwitches({ answerSeconds }))

      answerAfter(0.2)
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

      await start()
      await daemons[2]!.stop()
      await sleep(TWO_LOOKS_MS)
      expect(slack.accepted).toEqual([expect.stringContaining('callwatch watches 6 targets')])
      expect(slack.begun[0]).toBe(slack.accepted[0])
    },
  )
})
