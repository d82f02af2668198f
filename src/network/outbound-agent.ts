import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici'
import { isLoopback } from './loopback.ts'

/**
 * Connections to an address: through HTTP_PROXY or HTTPS_PROXY where they are set and NO_PROXY does not except it. A
 * loopback address never: the proxy is another machine, and would be handed the secrets of plain HTTP.
 */
export function outboundAgent(address: string, options: Agent.Options = {}): Dispatcher {
  const { hostname } = new URL(address)
  return isLoopback(hostname) ? new Agent(options) : new EnvHttpProxyAgent(options)
}
