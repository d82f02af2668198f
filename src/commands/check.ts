import { systemClock } from '../clock/clock.ts'
import type { Config, TargetConfig } from '../config/config.ts'
import { maskConfig } from '../config/mask-config.ts'
import { callsClient } from '../service/calls-client.ts'
import { ServiceError } from '../service/service-error.ts'
import { undiciTransport } from '../service/undici-transport.ts'

/**
 * Prints the configuration with its secrets masked, and with `probe` asks each target's service for one page.
 *
 * @returns whether every probe succeeded
 */
export async function check(
  config: Config,
  { probe }: { probe: boolean },
  print: (line: string) => void,
): Promise<boolean> {
  print(maskConfig(config).trimEnd())
  if (!probe) return true
  let good = true
  for (const target of config.targets) {
    const problem = await probeTarget(target, config)
    if (problem !== undefined) good = false
    print(`# ${target.name}: ${problem ?? `List Calls works at ${target.baseUrl}`}`)
  }
  return good
}

async function probeTarget(target: TargetConfig, { poll }: Config): Promise<string | undefined> {
  const transport = undiciTransport(target.baseUrl)
  const client = callsClient(transport.send, { ...target, ...poll, pageSize: 1, wall: systemClock.wall })
  try {
    await client.listCalls(1, AbortSignal.timeout(poll.timeout * 1000))
    return undefined
  } catch (error) {
    return explain(error, target, poll.timeout)
  } finally {
    await transport.close()
  }
}

/** What a failed probe means for whoever set the target up. */
function explain(error: unknown, { baseUrl }: TargetConfig, timeout: number): string {
  if (!(error instanceof ServiceError)) throw error
  if (error.cause instanceof DOMException && error.cause.name === 'TimeoutError') {
    return `no answer from ${baseUrl} within ${timeout} s; check the network, a firewall or HTTPS_PROXY`
  }
  switch (error.kind) {
    case 'auth':
      return `the key is not accepted at ${baseUrl}; check api_key, and app_id and region, since a key belongs to one app (${error.message})`
    case 'scope':
      return `the key may not list calls: its scope is authOnly; use a key of scope fullAccess (${error.message})`
    case 'rate_limited':
      return `the key works, but the service refuses more requests for now; lower max_requests_per_minute if this stays (${error.message})`
    case 'invalid':
      return `what answers at ${baseUrl} is not the calls service; check app_id, region and domain, or base_url (${error.message})`
    default:
      return `${error.message} (${baseUrl})`
  }
}
