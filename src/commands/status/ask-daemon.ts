import { daemonUrl } from '../../config/daemon-url.ts'
import type { Config } from '../../config/config.ts'
import { parseMap } from '../../schema/path.ts'
import { state, type State } from '../../views/state/state.ts'
import type { CommandContext } from '../command.ts'

/** How long the daemon may take to say that it works (milliseconds). The image allows its health check ten seconds. */
const HEALTH_TIMEOUT_MS = 4000
/** How long it may take to say its state (milliseconds): as long as the page waits for it. */
export const STATE_TIMEOUT_MS = 10_000

type GetOptions = { auth?: Config['http']['auth']; timeout?: number }
export type Daemon = Awaited<ReturnType<typeof daemonOf>>

/** The daemon of a configuration file on this machine, whatever mistakes the file has got meanwhile. */
export async function daemonOf({ config: file }: { config?: string | undefined }, context: CommandContext) {
  const { Agent, request } = await import('undici')
  const url = daemonUrl({ ...(file !== undefined && { file }), ...context })
  // No proxy is used. The certificate has another name than localhost.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  return {
    url,
    /** The status and the text of its answer to a GET; `late` if there is none in time, undefined if nothing listens. */
    get: (path: string, { auth, timeout = HEALTH_TIMEOUT_MS }: GetOptions = {}) => {
      const signal = AbortSignal.timeout(timeout)
      const login = auth && Buffer.from(`${auth.username}:${auth.password}`).toString('base64')
      const headers = login === undefined ? {} : { authorization: `Basic ${login}` }
      const ask = async (address: string) => {
        const { statusCode: status, body } = await request(address, { dispatcher, signal, headers })
        return { status, text: await body.text() }
      }
      // A file that is not YAML does not say whether the daemon has a certificate.
      return ask(`${url}${path}`)
        .catch(() => ask(`${url}${path}`.replace('http:', 'https:')))
        .catch(() => (signal.aborted ? ('late' as const) : undefined))
    },
  }
}

/** The state of the daemon; `late` if it does not answer in time; undefined if none is there, or one of another configuration. */
export async function hear(daemon: Daemon, { http, targets }: Config): Promise<State | 'late' | undefined> {
  const answer = await daemon.get('api/v1/state', { auth: http.auth, timeout: STATE_TIMEOUT_MS })
  if (answer === 'late') return answer
  const heard = answer?.status === 200 ? state.safeParse(parseMap(answer.text)).data : undefined
  const isOurs = heard?.targets.every(({ name }) => targets.some((target) => target.name === name))
  return isOurs === true ? heard : undefined
}
