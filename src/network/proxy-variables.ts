/** Those that name a proxy; the first one that is set is used, also where it is empty. */
const PROXIES = [
  ['http_proxy', 'HTTP_PROXY'],
  ['https_proxy', 'HTTPS_PROXY'],
] as const

/** The variables of a proxy that is none, each with what was expected. Their values may have passwords, and are not shown. */
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
