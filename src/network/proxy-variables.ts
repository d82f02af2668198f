/** The variables that name a proxy, by protocol. The first one that is set counts, even if it is empty. */
const PROXIES = {
  http: ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'],
  https: ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY', 'http_proxy', 'HTTP_PROXY'],
} as const

type Environment = Readonly<Record<string, string | undefined>>

/** The variable that names the proxy for a protocol; undefined if none is set. */
function variableOf(protocol: keyof typeof PROXIES, env: Environment): string | undefined {
  return PROXIES[protocol].find((name) => env[name] !== undefined)
}

/** The proxy for an address with this protocol, such as `https:`; empty if there is none. */
export function proxyFor(protocol: string, env: Environment = process.env): string {
  const name = variableOf(protocol === 'https:' ? 'https' : 'http', env)
  // The client lets each SOCKS proxy look up names, which is what the `h` of curl says.
  return name === undefined ? '' : env[name]!.replace(/^socks5h:/i, 'socks5:')
}

/**
 * Proxy variables with invalid values, each with what is expected. The values are not shown, because they may contain
 * passwords.
 */
export function proxyProblems(env: Environment): { path: string; message: string }[] {
  const used = new Set([variableOf('http', env), variableOf('https', env)].filter((name) => name !== undefined))
  const message =
    'found a value (hidden, it may have a password); expected the URL of a proxy such as ' +
    '`http://user:PASSWORD@proxy.example:3128`, with what is neither letter nor digit in user and password percent-encoded'
  return [...used].filter((name) => env[name] !== '' && !isProxy(env[name]!)).map((path) => ({ path, message }))
}

/** Whether the client accepts it; it throws at what is none, with the whole of it in its error. */
function isProxy(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^(?:https?|socks5?|socks5h):$/.test(url.protocol)) return false
  try {
    return decodeURIComponent(`${url.username}:${url.password}`) !== ''
  } catch {
    return false
  }
}
