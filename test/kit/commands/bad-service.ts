import dns from 'node:dns'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { onTestFinished, vi } from 'vitest'
import { startSimulator, type Simulator } from '../../../src/simulator/simulator.ts'
import { listenOn } from './local-server.ts'
import { selfSigned, trusted } from './self-signed.ts'
import { KEY } from '../daemon/daemon-in-process.ts'

/** A calls service behind a failure that can be mended and broken again. It starts broken. */
export type BadService = { url: string; breakDown: () => Promise<void>; mend: () => Promise<void> }

const NO_SUCH_HOST = 'callwatch-test.invalid'

/** Responds like this instead of the service. */
export async function answering(answer: RequestListener): Promise<BadService> {
  const simulator = await busySimulator()
  let broken = true
  const server = createServer((request, response) => {
    if (broken) answer(request, response)
    else void forward(simulator, request, response)
  })
  const port = await listenOn(server)
  const switched = (to: boolean) => async () => void (broken = to)
  return { url: `http://127.0.0.1:${port}/v3`, breakDown: switched(true), mend: switched(false) }
}

/** The service gets another key than callwatch sends, as if the key was revoked or of another scope. */
export async function withKey(keyOf: (keys: Simulator['keys']) => string): Promise<BadService> {
  const simulator = await busySimulator()
  let broken = true
  const server = createServer(
    (request, response) => void forward(simulator, request, response, broken ? keyOf(simulator.keys) : undefined),
  )
  const port = await listenOn(server)
  const switched = (to: boolean) => async () => void (broken = to)
  return { url: `http://127.0.0.1:${port}/v3`, breakDown: switched(true), mend: switched(false) }
}

/** Nothing is listening on the port. */
export async function notListening(): Promise<BadService> {
  const simulator = await busySimulator()
  const server = createServer((request, response) => void forward(simulator, request, response))
  const port = await listenOn(server)
  const breakDown = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  await breakDown()
  return { url: `http://127.0.0.1:${port}/v3`, breakDown, mend: async () => void (await listenOn(server, port)) }
}

/** No host has this name. */
export async function withoutHost(): Promise<BadService> {
  const simulator = await busySimulator()
  const certificate = trusted(NO_SUCH_HOST)
  const server = createTlsServer(certificate, (request, response) => void forward(simulator, request, response))
  const port = await listenOn(server)
  const real = dns.lookup.bind(dns)
  let known = false
  const lookup = vi.spyOn(dns, 'lookup')
  onTestFinished(() => lookup.mockRestore())
  // Node.js looks names up with options and a callback; after mending, the name exists.
  const lookUp: unknown = (name: string, options: dns.LookupAllOptions, done: (...found: unknown[]) => void) =>
    real(known && name === NO_SUCH_HOST ? '127.0.0.1' : name, options, done)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one of its overloads that is used
  lookup.mockImplementation(lookUp as typeof dns.lookup)
  const breakDown = async () => {
    known = false
    server.closeAllConnections()
  }
  return { url: `https://${NO_SUCH_HOST}:${port}/v3`, breakDown, mend: async () => void (known = true) }
}

/** The certificate is self-signed, until it is replaced by a trusted one. */
export async function withBadCertificate(): Promise<BadService> {
  const simulator = await busySimulator()
  const [bad, good] = [selfSigned(NO_SUCH_HOST), trusted(NO_SUCH_HOST)]
  const server = createTlsServer(bad, (request, response) => void forward(simulator, request, response))
  const port = await listenOn(server)
  const breakDown = async () => {
    server.setSecureContext(bad)
    server.closeAllConnections()
  }
  return { url: `https://127.0.0.1:${port}/v3`, breakDown, mend: async () => server.setSecureContext(good) }
}

/** Also on a machine that stands still for seconds, no page of calls begins between two pages of a poll, which shows no order of time. */
async function busySimulator(): Promise<Simulator> {
  const simulator = await startSimulator({ apiKey: KEY, callsPerMinute: 300, speed: 20, history: 20 })
  onTestFinished(simulator.close)
  return simulator
}

async function forward(
  simulator: Simulator,
  { url, headers }: IncomingMessage,
  response: ServerResponse,
  apikey = String(headers['apikey']),
): Promise<void> {
  const answer = await fetch(new URL(url ?? '/', simulator.url), { headers: { apikey } })
  response.writeHead(answer.status, { 'content-type': 'application/json', date: answer.headers.get('date') ?? '' })
  response.end(await answer.text())
}
