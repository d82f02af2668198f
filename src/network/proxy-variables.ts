/** The variables that name a proxy. The first one that is set counts, even if it is empty. */
const PROXIES = [
  ['http_proxy', 'HTTP_PROXY'],
  ['https_proxy', 'HTTPS_PROXY'],
] as const

/**
 * Proxy variables with invalid values, each with what is expected. The values are not shown, because they may contain
 * passwords.
 */
export function proxyProblems(env: Readonly<Record<string, string | undefined>>): { path: string; message: string }[] {
  const used = PROXIES.flatMap((names) => names.find((name) => env[name] !== undefined) ?? [])
  const message =
    'found a value (hidden, it may have a password); expected the URL of a proxy such as ' +
    '`http://user:PASSWORD@proxy.example:3128`, with what is neither letter nor digit in user and password percent-encoded'
  return used.filter((name) => env[name] !== '' && !isProxy(env[name]!)).map((path) => ({ path, message }))
}

/** Whether the client accepts it; it throws at what is none, with the whole of it in its error. */
function isProxy(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^(?:https?|socks5?):$/.test(url.protocol)) return false
  try {
    return decodeURIComponent(`${url.username}:${url.password}`) !== ''
  } catch {
    return false
  }
}
