import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici'
import { isLoopback } from './loopback.ts'

/**
 * Connections to an address, through HTTP_PROXY or HTTPS_PROXY if they are set and NO_PROXY does not exclude the address. A
 * loopback address never uses a proxy: the proxy may be another machine, and would see secrets in plain HTTP.
 */
export function outboundAgent(address: string, options: Agent.Options = {}): Dispatcher {
  const { hostname } = new URL(address)
  return isLoopback(hostname) ? new Agent(options) : new EnvHttpProxyAgent(options)
}
