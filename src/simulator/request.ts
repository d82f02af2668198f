/** One request as the service sees it, from whatever transport. Header names in lower case; the path without query. */
export type ServiceRequest = {
  method: string
  path: string
  query: string
  headers: Record<string, string | string[] | undefined>
}

/** The value of a header that may come once; `name` in lower case. */
export function header(request: ServiceRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}
