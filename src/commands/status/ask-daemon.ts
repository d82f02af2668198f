import { daemonUrl } from '../../config/daemon-url.ts'
import type { Config } from '../../config/config.ts'
import { parseMap } from '../../schema/path.ts'
import { state, type State } from '../../views/state/state.ts'
import type { CommandContext } from '../command.ts'

/** How long the daemon may take (milliseconds). The image allows its health check ten seconds. */
const TIMEOUT_MS = 4000

export type Daemon = Awaited<ReturnType<typeof daemonOf>>

/** The daemon of a configuration file on this machine, whatever mistakes the file has got meanwhile. */
export async function daemonOf({ config: file }: { config?: string | undefined }, context: CommandContext) {
  const { Agent, request } = await import('undici')
  const url = daemonUrl({ ...(file !== undefined && { file }), ...context })
  // No proxy is used. The certificate has another name than localhost.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  return {
    url,
    /** The status and the text of its answer to a GET; undefined if nothing answers in time. */
    get: (path: string, { auth }: Partial<Pick<Config['http'], 'auth'>> = {}) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const login = auth && Buffer.from(`${auth.username}:${auth.password}`).toString('base64')
      const headers = login === undefined ? {} : { authorization: `Basic ${login}` }
      const ask = async (address: string) => {
        const { statusCode: status, body } = await request(address, { dispatcher, signal, headers })
        return { status, text: await body.text() }
      }
      // A file that is not YAML does not say whether the daemon has a certificate.
      return ask(`${url}${path}`)
        .catch(() => ask(`${url}${path}`.replace('http:', 'https:')))
        .catch(() => undefined)
    },
  }
}

/** The state of the daemon; undefined if it does not answer, or is one of another configuration. */
export async function hear(daemon: Daemon, { http, targets }: Config): Promise<State | undefined> {
  const answer = await daemon.get('api/v1/state', http)
  const heard = answer?.status === 200 ? state.safeParse(parseMap(answer.text)).data : undefined
  const isOurs = heard?.targets.every(({ name }) => targets.some((target) => target.name === name))
  return isOurs === true ? heard : undefined
}
