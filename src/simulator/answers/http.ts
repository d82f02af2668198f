/** A request as the service sees it, from any transport. Header names are in lower case; the path has no query. */
export type ServiceRequest = {
  method: string
  path: string
  query: string
  headers: Record<string, string | string[] | undefined>
}

/**
 * How much of an answer the client gets: everything, nothing (with a reset, or never), everything but very slowly, or the
 * first half.
 */
export type Delivery = 'whole' | 'reset' | 'hang' | 'drip' | 'truncated'

export type Reply = { status: number; headers: Record<string, string>; body: string; delivery: Delivery }

/** The value of a header that may occur once; `name` in lower case. */
export function header(request: ServiceRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

/** @param body JSON */
export function jsonReply(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body,
    delivery: 'whole',
  }
}

export function errorReply(status: number, code: string, message: string, headers?: Record<string, string>): Reply {
  const body = JSON.stringify({ error: { code, message, devMessage: message, source: 'calls-service' } })
  return jsonReply(status, body, headers)
}

export function htmlReply(status: number, title: string): Reply {
  const body = `<html>\r\n<head><title>${title}</title></head>\r\n<body><center><h1>${title}</h1></center></body>\r\n</html>\r\n`
  return { status, headers: { 'content-type': 'text/html' }, body, delivery: 'whole' }
}
