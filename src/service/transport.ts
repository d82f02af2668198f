/** One HTTP request. Its path is relative to the base address. */
export type TransportRequest = {
  method: 'GET' | 'POST'
  /** The path below the base address, percent-encoded, with its query: `/calls?page=1`. */
  path: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

/** Header names are in lower case. */
export type TransportResponse = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

/**
 * Sends one request and reads the whole answer. Rejects if there is none, because it was refused, reset, too large or
 * aborted. Tests replace it.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>
