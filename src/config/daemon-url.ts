import { isMap, valueAt } from '../schema/path.ts'
import { httpSection, pageUrl } from '../web/http-section.ts'
import { fillFromEnvironment, interpolate, type Environment } from './reading/environment.ts'
import { readConfigFile } from './reading/read-config-file.ts'

/**
 * Where the daemon of this configuration is reached from its own machine. A running daemon keeps its address when its file gets mistakes,
 * so these do not count here; of a file that is not YAML, only the environment counts.
 */
export function daemonUrl(options: { file?: string; env: Environment; cwd: string }): string {
  let content: unknown
  try {
    content = readConfigFile(options).content
  } catch {}
  const draft = interpolate(content, options.env)
  fillFromEnvironment(draft, options.env, '')
  const given = valueAt(draft.tree, ['http'])
  const { host, port, tls } = isMap(given) ? given : {}
  const http =
    httpSection.safeParse({ host, port }).data ?? httpSection.safeParse({ port }).data ?? httpSection.parse({})
  return pageUrl({ host: http.host, tls }, http.port)
}
