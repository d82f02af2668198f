import { isMap } from '../schema/path.ts'
import { unknownName } from '../schema/unknown-name.ts'
import { LOG } from './log-receiver.ts'
import { alertReceiverNames, messageReceiverNames } from './receivers.ts'

type ReportProblem = (path: (string | number)[], message: string) => void

/** The cross-check of the names of receivers, and of the routes that name them. Any value may be missing or wrong. */
export function checkReceivers(notify: Readonly<Record<string, unknown>>, report: ReportProblem): void {
  const given: unknown[] = Array.isArray(notify['receivers']) ? notify['receivers'] : []
  const named = given.map((item) => (isMap(item) ? item : {}))
  const shorthands = alertReceiverNames.filter((type) => notify[type] !== undefined)
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
            ? `\`${LOG}\` is the log, which is notified where there is no receiver`
            : undefined
    if (taken !== undefined) report(['receivers', index, 'name'], `${taken}; expected a name of its own`)
  })
  const isAlertmanager = ({ alertmanager }: Record<string, unknown>) => alertmanager !== undefined
  const all = [...shorthands.map((type) => ({ name: type, [type]: notify[type] })), ...named]
  checkRoutes(notify['routes'], {
    messages: all.filter((one) => !isAlertmanager(one)).map(({ name }) => name),
    alertmanagers: all.filter(isAlertmanager).map(({ name }) => name),
    report,
  })
}

/** @param names.messages of the receivers that routes may name */
function checkRoutes(
  routes: unknown,
  { messages, alertmanagers, report }: { messages: unknown[]; alertmanagers: unknown[]; report: ReportProblem },
): void {
  if (!Array.isArray(routes)) return
  routes.forEach((item: unknown, index) => {
    const names: unknown = isMap(item) ? item['notify'] : undefined
    if (!Array.isArray(names)) return
    names.forEach((name: unknown, position) => {
      if (typeof name !== 'string' || name === '' || messages.includes(name)) return
      report(['routes', index, 'notify', position], problemWith(name))
    })
  })

  function problemWith(name: string): string {
    if (alertmanagers.includes(name)) {
      return 'an Alertmanager gets every alert, and selects by routes of its own; expected a receiver of messages'
    }
    const shorthand = messageReceiverNames.find((type) => type === name)
    if (shorthand !== undefined) {
      return `\`${shorthand}\` is not configured; expected \`notify.${shorthand}\` as well`
    }
    return unknownName(name, 'receiver', messages, '`[]`')
  }
}
