import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'

/** The status of an answer to a request whose `Host` is this one, which `fetch` cannot set. */
export async function statusFor(host: string, url: string, headers: Record<string, string> = {}, method = 'GET') {
  const sent = request(url, { method, headers: { host, ...headers }, agent: false }).end()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the event has
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.destroy()
  return response.statusCode
}
