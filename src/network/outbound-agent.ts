import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici'
import { isLoopback } from './loopback.ts'

/**
 * Connections to an address: through HTTP_PROXY or HTTPS_PROXY if they are set and NO_PROXY does not exclude it. Never
 * through a proxy to a loopback address: the proxy may be another machine, and would see the secrets of plain HTTP.
 */
export function outboundAgent(address: string, options: Agent.Options = {}): Dispatcher {
  const { hostname } = new URL(address)
  return isLoopback(hostname) ? new Agent(options) : new EnvHttpProxyAgent(options)
}
