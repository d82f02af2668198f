/** How much of an answer the client gets: all, nothing (at once or never), all but very slowly, or its first half. */
export type Delivery = 'whole' | 'reset' | 'hang' | 'drip' | 'truncated'

export type Reply = { status: number; headers: Record<string, string>; body: string; delivery: Delivery }

export function jsonReply(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return jsonTextReply(status, JSON.stringify(value), headers)
}

/** @param body JSON */
export function jsonTextReply(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body,
    delivery: 'whole',
  }
}

export function errorReply(status: number, code: string, message: string, headers?: Record<string, string>): Reply {
  return jsonReply(status, { error: { code, message, devMessage: message, source: 'calls-service' } }, headers)
}

export function htmlReply(status: number, title: string): Reply {
  const body = `<html>\r\n<head><title>${title}</title></head>\r\n<body><center><h1>${title}</h1></center></body>\r\n</html>\r\n`
  return { status, headers: { 'content-type': 'text/html' }, body, delivery: 'whole' }
}
