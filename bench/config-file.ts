import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './scenario.ts'

export type ConfigFileOptions = {
  /** Names the file and, where no other path is given, the store. */
  name: string
  /** Addresses of the targets. */
  urls: readonly string[]
  storePath?: string
  /** In place of a file. */
  store?: Record<string, unknown>
  /** The user and password of the service's webhooks; default: none are accepted. */
  webhook?: { username: string; password: string }
  /** Over what holds for all rows. */
  poll?: Record<string, unknown>
}

/** How many requests a minute count as unlimited: the most that a configuration may allow. */
const UNLIMITED = 1_000_000

/**
 * Writes a configuration, which is read the way that any is: what is not said here, the alert rules above all, is what
 * callwatch ships. JSON is YAML too.
 */
export function writeConfigFile({ folder }: Pick<Bench, 'folder'>, options: ConfigFileOptions): string {
  const {
    name,
    urls,
    storePath = join(folder, `${name}.db`),
    store = { path: storePath },
    poll = {},
    webhook,
  } = options
  const file = join(folder, `${name}.yaml`)
  const config = {
    targets: urls.map((url, i) => ({ name: `app-${i}`, base_url: url, api_key: 'a-key-of-the-bench', webhook })),
    poll: { baseline: 'count', max_requests_per_minute: UNLIMITED, ...poll },
    store,
    http: { host: '127.0.0.1', port: 0 },
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}
