/** One HTTP request, sent to a path below the base address. */
export type TransportRequest = {
  method: 'GET' | 'POST'
  /** Below the base address, percent-encoded, with its query: `/calls?page=1`. */
  path: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

/** Header names are in lower case. */
export type TransportResponse = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

/**
 * Sends one request and reads the whole answer. Rejects if there is none: refused, reset, too large, aborted. Tests replace
 * it.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>
