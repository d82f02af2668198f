import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import type { ReceiverView } from '../../../src/views/state/receiver-status.ts'
import { localServer } from '../../kit/commands/local-server.ts'
import { ANY_CALL } from '../../kit/daemon/any-call.ts'
import { daemonInProcess, KEY, WAIT } from '../../kit/daemon/daemon-in-process.ts'

/** A receiver that accepts all, and what was posted to it; `status` is its answer. */
async function receiver(first = 200) {
  let status = first
  const posted: { path: string; body: string }[] = []
  const { url } = await localServer((request, response) => {
    void text(request).then((body) => {
      posted.push({ path: request.url ?? '', body })
      response.writeHead(status).end()
    })
  })
  return { url, posted, recovers: () => void (status = 200) }
}

test('several receivers of each type are notified by their own names, as routes say, and one that fails delays no other', async () => {
  const [first, second, ops, others, failing] = await Promise.all([
    receiver(),
    receiver(),
    receiver(),
    receiver(),
    receiver(503),
  ])
  const webhook = (name: string, url: string) => ({
    name,
    type: 'webhook' as const,
    config: { url, headers: {} },
  })
  const service = await startSimulator({ apiKey: KEY, callsPerMinute: 60, speed: 20, history: 50 })
  onTestFinished(service.close)
  const { samples, daemon } = await daemonInProcess(
    service.url,
    // Without a first report.
    { baseline: 'skip' },
    {
      alerts: [ANY_CALL],
      notify: {
        groupBy: ['target', 'severity'],
        groupWait: 0,
        groupInterval: 0,
        receivers: [
          { name: 'am-1', type: 'alertmanager', config: { url: first.url } },
          { name: 'am-2', type: 'alertmanager', config: { url: second.url } },
          webhook('failing', failing.url),
          webhook('ops', ops.url),
          webhook('others', others.url),
        ],
        routes: [{ match: { alert: ANY_CALL.name }, notify: ['failing', 'ops'] }],
        inhibit: [],
        mutes: [],
        reports: [],
      },
    },
  )
  await vi.waitFor(() => {
    for (const { posted } of [first, second, ops, failing]) expect(posted.length).toBeGreaterThan(0)
  }, WAIT)
  expect(new Set([...first.posted, ...second.posted].map(({ path }) => path))).toEqual(new Set(['/api/v2/alerts']))
  expect(ops.posted.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
    { kind: 'alerts', alerts: [{ alert: ANY_CALL.name, state: 'firing' }] },
  ])
  expect(others.posted).toEqual([])
  const values = async (metric: string, outcome?: string) => {
    const found = (await samples()).filter(({ name, labels }) => name === metric && labels['outcome'] === outcome)
    return Object.fromEntries(found.map(({ labels, value }) => [labels['receiver'], value]))
  }
  await vi.waitFor(async () => {
    const sent = await values('callwatch_notifications_total', 'sent')
    expect(sent).toMatchObject({ 'am-1': 1, 'am-2': 1, failing: 0, ops: 1, others: 0 })
    expect((await values('callwatch_notifications_total', 'retried'))['failing']).toBeGreaterThan(0)
    expect(await values('callwatch_notifications_pending')).toMatchObject({ failing: 1, ops: 0, others: 0 })
  }, WAIT)
  const shown = async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own answer
    const { receivers } = (await (await fetch(`${daemon.url}api/v1/state`)).json()) as { receivers: ReceiverView[] }
    return receivers.find(({ name }) => name === 'failing')
  }
  expect(await shown()).toMatchObject({ pending: 1, problem: expect.stringContaining('503') })
  expect(Date.parse((await shown())?.failing_since ?? '')).toBeGreaterThan(Date.now() - 60_000)
  failing.recovers()
  await vi.waitFor(async () => expect(await shown()).toEqual({ name: 'failing', pending: 0 }), WAIT)
})
