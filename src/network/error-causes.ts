/** An error and its causes, innermost last. */
export function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return []
  return [error, ...causesOf(error instanceof AggregateError ? error.errors[0] : error.cause)]
}

/** The innermost code of an error and its causes, such as `ECONNREFUSED`. */
export function codeOf(causes: readonly Error[]): string | undefined {
  // undici gives the error of its parser no code.
  const codes = causes.map((cause) =>
    cause.name === 'HTTPParserError' ? 'HPE_INVALID' : 'code' in cause && cause.code,
  )
  return codes.findLast((code) => typeof code === 'string')
}

/** The problem if a proxy answered instead of passing the request on, such as `the proxy answered 407`. undici says so in words. */
export function proxyProblem(causes: readonly Error[]): string | undefined {
  const statuses = causes.map(
    ({ message }) => /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(message)?.[1],
  )
  const status = statuses.find((each) => each !== undefined)
  return status === undefined ? undefined : `the proxy answered ${status}`
}

/** Why the client itself refused to send a request; undefined if it sent the request. It names the header or the part, not its value. */
export function ownRefusal(causes: readonly Error[]): string | undefined {
  const own = causes.find((cause) => /^UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED)$/.test(codeOf([cause]) ?? ''))
  return own && `callwatch cannot send such a request: ${own.message}`
}

/** Whether no connection was made to another host or port than those of the address: to a proxy. */
export function isOfProxy(causes: readonly Error[], { hostname, port, protocol }: URL): boolean {
  const own = Number(port || (protocol === 'https:' ? 443 : 80))
  return causes.some(
    (cause) => ('hostname' in cause && cause.hostname !== hostname) || ('port' in cause && cause.port !== own),
  )
}
