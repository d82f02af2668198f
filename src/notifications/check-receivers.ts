import { isMap } from '../schema/path.ts'
import { unknownName } from '../schema/unknown-name.ts'
import { LOG } from './log-receiver.ts'
import { messageReceiverNames, receiverNames, receivers } from './receivers.ts'

type ReportProblem = (path: (string | number)[], message: string) => void

/** Cross-checks the names of receivers, and the routes that name them. Any value may be missing or invalid. */
export function checkReceivers(notify: Readonly<Record<string, unknown>>, report: ReportProblem): void {
  const given: unknown[] = Array.isArray(notify['receivers']) ? notify['receivers'] : []
  const named = given.map((item) => (isMap(item) ? item : {}))
  const shorthands = receiverNames.filter((type) => notify[type] !== undefined)
  named.forEach(({ name }, index) => {
    if (typeof name !== 'string' || name === '') return
    const earlier = named.findIndex((other) => other['name'] === name)
    const shorthand = shorthands.find((type) => type === name)
    const taken =
      earlier < index
        ? `the same name as \`receivers[${earlier}]\``
        : shorthand !== undefined
          ? `the same name as \`notify.${shorthand}\``
          : name === LOG
            ? `\`${LOG}\` is the name of the log, which is notified if there is no receiver`
            : undefined
    if (taken !== undefined) report(['receivers', index, 'name'], `${taken}; expected a name of its own`)
  })
  const all = [...shorthands.map((type) => ({ name: type, [type]: notify[type] })), ...named]
  checkRoutes(notify['routes'], all, report)
}

function checkRoutes(routes: unknown, all: readonly Record<string, unknown>[], report: ReportProblem): void {
  const names = all.filter((one) => notRouted(one) === undefined).map(({ name }) => name)
  if (!Array.isArray(routes)) return
  routes.forEach((item: unknown, index) => {
    const given: unknown = isMap(item) ? item['notify'] : undefined
    if (!Array.isArray(given)) return
    given.forEach((name: unknown, position) => {
      if (typeof name !== 'string' || name === '' || names.includes(name)) return
      report(['routes', index, 'notify', position], problemWith(name))
    })
  })

  function problemWith(name: string): string {
    const why = notRouted(all.find((one) => one['name'] === name) ?? {})
    if (why !== undefined) return `${why}; expected a receiver of messages`
    const shorthand = messageReceiverNames.find((type) => type === name)
    if (shorthand !== undefined) {
      return `\`${shorthand}\` is not configured; expected \`notify.${shorthand}\` as well`
    }
    return unknownName(name, 'receiver', names, '`[]`')
  }
}

/** Why a route cannot name a receiver. */
function notRouted(receiver: Record<string, unknown>): string | undefined {
  const type = receiverNames.map((name) => receiver[name] !== undefined && receivers[name]).find(Boolean)
  return type && 'notRouted' in type ? type.notRouted : undefined
}
