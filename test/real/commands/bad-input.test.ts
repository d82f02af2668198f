import { isLoopback } from '../../../src/network/loopback.ts'
import { spawnSync } from 'node:child_process'
import { describe, expect, test, vi } from 'vitest'
import type { Sample } from '../../kit/metrics/read-exposition.ts'
import { configTo, daemonInProcess, RETRIES, type DaemonInProcess } from '../../kit/daemon/daemon-in-process.ts'
import {
  answering,
  notListening,
  withBadCertificate,
  withKey,
  withoutHost,
  type BadService,
} from '../../kit/commands/bad-service.ts'

type Problem = {
  what: string
  service: () => Promise<BadService>
  code: string
  /** In the log, and in `/api/v1/state`. */
  reason: RegExp
  /** Requests of one poll: a request that cannot succeed is not retried. */
  requests: number
  needsOpenssl?: true
}

const AGAIN = RETRIES + 1
const PROBLEMS: Problem[] = [
  {
    what: 'a wrong key',
    service: () => withKey(() => 'no such key'),
    code: '401',
    reason: /answered 401 AUTH_ERR_APIKEY_NOT_FOUND/,
    requests: 1,
  },
  {
    what: 'no key',
    service: () => withKey(() => ''),
    code: '401',
    reason: /answered 401 AUTH_ERR_EMPTY_APIKEY/,
    requests: 1,
  },
  {
    what: 'a key of scope authOnly',
    service: () => withKey(({ authOnly }) => authOnly),
    code: '403',
    reason: /answered 403 AUTH_ERR_NO_ACCESS/,
    requests: 1,
  },
  {
    what: 'an expired subscription, which it answers with the status 200',
    service: () =>
      answering((_request, response) =>
        response.end('{"error":{"code":"ERR_SUBSCRIPTION_EXPIRED","message":"The subscription has expired."}}'),
      ),
    code: 'plan',
    reason: /the subscription of the app has expired; renew it in the service's dashboard/,
    requests: 1,
  },
  {
    what: 'a refused connection',
    service: notListening,
    code: 'network',
    reason: /connection refused: ECONNREFUSED/,
    requests: AGAIN,
  },
  {
    what: 'a host that is not found, as with a wrong region',
    service: withoutHost,
    code: 'network',
    reason: /host not found; check app_id, region|the DNS lookup failed/,
    requests: AGAIN,
    needsOpenssl: true,
  },
  {
    what: 'an untrusted TLS certificate',
    service: withBadCertificate,
    code: 'network',
    reason: /TLS certificate is not trusted \(NODE_EXTRA_CA_CERTS/,
    requests: AGAIN,
    needsOpenssl: true,
  },
  {
    what: 'no response',
    service: () => answering(() => undefined),
    code: 'timeout',
    reason: /did not answer in full within 1 s/,
    requests: AGAIN,
  },
  {
    what: 'a slow drip of a response',
    service: () =>
      answering((request, response) => {
        response.write('{"data":[')
        const drip = setInterval(() => response.write(' '), 50)
        request.socket.once('close', () => clearInterval(drip))
      }),
    code: 'timeout',
    reason: /did not answer in full within 1 s/,
    requests: AGAIN,
  },
  {
    what: 'HTML instead of JSON',
    service: () => answering((_request, response) => response.end('<!doctype html><h1>Sign in</h1>')),
    code: 'invalid',
    reason: /answered 200 with something that is neither a JSON.*an HTML page/,
    requests: AGAIN,
  },
  {
    what: "a proxy's error page",
    service: () => answering((_request, response) => response.writeHead(502).end('<h1>Bad gateway</h1>')),
    code: '502',
    reason: /answered 502 without an error body/,
    requests: AGAIN,
  },
  {
    what: 'JSON of another shape',
    service: () => answering((_request, response) => response.end('{"hello":["world"]}')),
    code: 'invalid',
    reason: /without a `data` array/,
    requests: AGAIN,
  },
  {
    what: 'JSON that is no object',
    service: () => answering((_request, response) => response.end('[{"sessionId":"a","status":"ended"}]')),
    code: 'invalid',
    reason: /answered List Calls without a `data` array/,
    requests: AGAIN,
  },
  {
    what: 'half a body and a reset connection',
    service: () =>
      answering((_request, response) => {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('{"data":[{"sessionId":"half","status":"ended"', () => response.destroy())
      }),
    code: 'network',
    reason: /connection reset/,
    requests: AGAIN,
  },
  {
    what: 'half a body of a complete response',
    service: () => answering((_request, response) => response.end('{"data":[{"sessionId":"half","status":"ended"')),
    code: 'invalid',
    reason: /answered 200 with something that is neither a JSON/,
    requests: AGAIN,
  },
]

const noOpenssl = spawnSync('openssl', ['version']).error !== undefined

describe.each(PROBLEMS)('a service with $what', ({ service, code, reason, requests, needsOpenssl = false }) => {
  test('fails each poll, which is one log line an outage, counts nothing, and recovers', async (context) => {
    if (needsOpenssl && noOpenssl && process.env['CI'] !== 'true') {
      context.skip('openssl is not on the PATH: apt-get install openssl')
    }
    const { url, breakDown, mend } = await service()
    const interval = isLoopback(new URL(url).hostname) ? 0.1 : 1
    const isSlow = code === 'timeout'
    const watching = await daemonInProcess(url, isSlow ? { interval, timeout: 1 } : { interval })
    const { polls, log, morePolls, recovered, readyz, ready, reload } = watching
    // What answers is to succeed, also on a machine that stands still for seconds.
    const patience = async (timeout: number) => {
      if (!isSlow) return
      await reload({ poll: configTo(url, { interval, timeout }).poll })
      // One that was under way still has the other patience.
      await morePolls(1)
    }

    // From the start: nothing was ever listed.
    await morePolls(2)
    await vi.waitFor(async () => expect((await readyz()).status).toBe(503), { timeout: 60_000 })
    expect(await problemOf(watching)).toMatch(reason)
    expect(await countsOf(watching)).toEqual([])
    expect(await valueOf(watching, 'callwatch_up')).toBe(0)
    expectLines(1)
    for (const poll of polls) expect(poll.requests.map((request) => request.code)).toEqual(Array(requests).fill(code))
    const asked = await valueOf(watching, 'callwatch_api_requests_total', { operation: 'list_calls', code })
    expect(asked).toBeGreaterThanOrEqual(2 * requests)

    await mend()
    await patience(30)
    await recovered()
    await ready()
    expect(await valueOf(watching, 'callwatch_up')).toBe(1)
    expect((await countsOf(watching)).length).toBeGreaterThan(0)

    // Later: the counts stay, though calls continue at the service.
    await patience(1)
    await breakDown()
    await morePolls(2)
    const before = await countsOf(watching)
    await morePolls(3)
    expect(await countsOf(watching)).toEqual(before)
    expect(await valueOf(watching, 'callwatch_up')).toBe(0)
    await vi.waitFor(async () => expect((await readyz()).status).toBe(503), { timeout: 60_000 })
    expect(await problemOf(watching)).toMatch(reason)
    expectLines(2)

    function expectLines(outages: number): void {
      // A poll that was under way when the service broke down may miss the answers to Get Call alone; a reload may end one early.
      const complaints = log.filter(({ level, msg }) => level >= 40 && !/^Get Call fails|was ended early/.test(msg))
      expect(complaints, complaints.map(({ msg }) => msg).join('; ')).toHaveLength(outages)
      for (const { target } of complaints) expect(target).toBe('production')
      expect(complaints.at(-1)?.msg).toMatch(reason)
    }
  })
})

/** The counters of calls and the calls in progress, without zeros. */
async function countsOf({ samples }: DaemonInProcess): Promise<Sample[]> {
  const counts = /^callwatch_(?:calls?_|participants?_|minutes_)/
  return (await samples()).filter(({ name, value }) => counts.test(name) && value !== 0)
}

async function problemOf({ daemon }: DaemonInProcess): Promise<unknown> {
  const { targets } = JSON.parse(await (await fetch(`${daemon.url}api/v1/state`)).text())
  return targets[0].problem
}

async function valueOf({ samples }: DaemonInProcess, name: string, labels: Record<string, string> = {}) {
  const all = { target: 'production', ...labels }
  const found = (await samples()).filter((sample) => sample.name === name)
  return found.find((sample) => Object.entries(all).every(([label, value]) => sample.labels[label] === value))?.value
}
