const form = new RegExp(
  String.raw`^(?<scheme>postgres(?:ql)?)://(?:(?<user>[^\s:@/?#]+)(?::(?<password>[^\s@/?#]*))?@)?` +
    String.raw`(?<hosts>${hosts()})/(?<database>[^\s/?#]+)(?:\?(?<query>[^\s#]*))?$`,
)

/** What such an address looks like, for editors. */
export const STORE_URL_PATTERN = form.source

/** Names or addresses of hosts, each with a port or not, with commas between them. */
function hosts(): string {
  const host = String.raw`(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::[1-9]\d{0,4})?`
  return `${host}(?:,${host})*`
}

/**
 * Whether a text is the address of a PostgreSQL database, as `store.url` takes it: a user, several hosts and parameters
 * are possible, the database has to be named, and a password stands nowhere but before the hosts.
 */
export function isStoreUrl(text: string): boolean {
  const { user = '', password = '', database = '', query = '' } = form.exec(text)?.groups ?? {}
  const names = [...new URLSearchParams(query).keys()]
  return (
    database !== '' && [user, password, database].every(isDecodable) && !names.some((name) => /password/i.test(name))
  )
}

/** The password in such an address, as it stands there and as it is meant; none where there is none. */
export function passwordsIn(url: string): string[] {
  const { password = '' } = form.exec(url)?.groups ?? {}
  return password === '' ? [] : [...new Set([password, decodeURIComponent(password)])]
}

/** Such an address as it may be shown: who, which hosts and which database, but no password. */
export function maskStoreUrl(url: string, mask: string): string {
  return url.replace(/^(\w+:\/\/[^\s:@/?#]+):[^\s@/?#]*@/, `$1:${mask}@`)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
