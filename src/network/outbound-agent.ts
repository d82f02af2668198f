import { aborted } from 'node:util'
import ipaddr from 'ipaddr.js'
import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici'
import { isLoopback } from './loopback.ts'
import { proxyFor } from './proxy-variables.ts'

/**
 * Connections to an address by HTTP/1.1, through HTTP_PROXY, HTTPS_PROXY or ALL_PROXY if they are set and NO_PROXY does not exclude the address. A
 * loopback address never uses a proxy: the proxy may be another machine, and would see secrets in plain HTTP.
 *
 * A request that is aborted ends its connection, so that one that died in silence fails one request. The only connection of HTTP/2
 * would stay, and fail all that follow, and requests one after the other need no more time without it.
 */
export function outboundAgent(address: string, options: Agent.Options = {}): Dispatcher {
  const { hostname, protocol } = new URL(address)
  if (isDirect(hostname)) return new Agent({ ...options, ...HTTP1 })
  const proxy = proxyFor(protocol)
  // The client would use TLS to a SOCKS proxy that has settings of TLS.
  const proxyTls = /^socks/i.test(proxy) ? {} : { proxyTls: HTTP1 }
  return new EnvHttpProxyAgent({ ...options, ...HTTP1, ...proxyTls, httpProxy: proxy, httpsProxy: proxy })
}

const HTTP1 = { allowH2: false }

/** Sends a request. Rejects with the reason of its signal as soon as that is aborted. */
export async function request(
  agent: Dispatcher,
  sent: Dispatcher.RequestOptions & { signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  // The client heeds the signal only once it has a connection, and a proxy may never make one.
  return Promise.race([agent.request(sent), endOf(sent.signal)])
}

async function endOf(signal: AbortSignal): Promise<never> {
  await aborted(signal, signal)
  throw signal.reason
}

/**
 * Whether a host uses no proxy, by what the client does not know: loopback, and the entries of NO_PROXY that are a network
 * (`10.0.0.0/8`) or end with `*` (`10.0.*`).
 *
 * @param hostname of a URL
 */
export function isDirect(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const excluded = (process.env['no_proxy'] ?? process.env['NO_PROXY'] ?? '').toLowerCase().split(/[\s,]+/)
  return isLoopback(hostname) || excluded.some((entry) => isWithin(host, entry))
}

function isWithin(host: string, entry: string): boolean {
  if (entry.endsWith('*')) return host.startsWith(entry.slice(0, -1))
  if (!ipaddr.isValidCIDR(entry) || !ipaddr.isValid(host)) return false
  const [address, [network, bits]] = [ipaddr.process(host), ipaddr.parseCIDR(entry)]
  return address.kind() === network.kind() && address.match(network, bits)
}
