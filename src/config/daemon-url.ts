import { isMap, valueAt } from '../schema/path.ts'
import { httpSection, pageUrl } from '../web/http-section.ts'
import { draftOf } from './reading/draft.ts'
import { fillFromEnvironment } from './reading/environment.ts'
import type { Environment } from './reading/interpolate.ts'
import { noFile, readConfigFile } from './reading/read-config-file.ts'

/**
 * Where the daemon of this configuration is reached from its own machine. A running daemon keeps its address when its file gets mistakes,
 * so these do not count here; of a file that is not YAML, only the environment counts.
 */
export function daemonUrl(options: { file?: string; env: Environment; cwd: string }): string {
  let file = noFile('', options.cwd)
  try {
    file = readConfigFile(options)
  } catch {}
  const draft = draftOf(file, options.env)
  fillFromEnvironment(draft, options.env)
  const given = valueAt(draft.tree, ['http'])
  const { host, port, tls } = isMap(given) ? given : {}
  const http =
    httpSection.safeParse({ host, port }).data ?? httpSection.safeParse({ port }).data ?? httpSection.parse({})
  return pageUrl({ host: http.host, tls }, http.port)
}
