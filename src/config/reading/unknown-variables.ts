import { nearestKey } from '../../schema/nearest-key.ts'
import type { Draft } from './draft.ts'
import { VARIABLES } from './environment.ts'
import type { Environment } from './interpolate.ts'

const PREFIX = /^CALLWATCH_/i

/** What Kubernetes sets in each container for each service of the namespace. */
const OF_A_SERVICE = /_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/
const PORT_OF_A_SERVICE = /^\w+_PORT=(?:tcp|udp|sctp):\/\//

/**
 * Reports each variable `CALLWATCH_…` whose name is probably a misspelled known one, unless the file refers to it.
 *
 * @returns the other unknown ones, each in a sentence
 */
export function checkVariables(draft: Draft, env: Environment): string[] {
  const plain = (name: string) => name.replace(PREFIX, '')
  const known = VARIABLES.map(plain)
  return Object.entries(env).flatMap(([name, value]) => {
    const isOurs = PREFIX.test(name) && value !== undefined && value !== ''
    if (!isOurs || VARIABLES.includes(name) || draft.names.has(name)) return []
    if (OF_A_SERVICE.test(name) || PORT_OF_A_SERVICE.test(`${name}=${value}`)) return []
    const near = nearestKey(plain(name), known)
    if (near === undefined) return [`the variable ${name} is unknown and not used; known are ${VARIABLES.join(', ')}`]
    const meant = VARIABLES[known.indexOf(near)]!
    draft.problems.push({ path: name, message: `unknown variable; did you mean \`${meant}\`?` })
    return []
  })
}
