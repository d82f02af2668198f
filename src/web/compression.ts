import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** Below it, compression saves no packet. */
const LEAST_BYTES = 1024
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/

const gzipped = promisify(gzip)

/**
 * Compresses JSON above a kilobyte, and that which is streamed, for clients that accept gzip. All else is sent as it is: a
 * stream of events must not wait in a buffer, and metrics are read on a local network, at the cost of polls.
 */
export function compressJson(app: FastifyInstance): void {
  app.addHook('onSend', async ({ headers }, reply, payload: unknown) => {
    if (!String(reply.getHeader('content-type')).startsWith('application/json')) return payload
    void reply.header('vary', 'accept-encoding')
    const isStream = payload instanceof Readable
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (!GZIP.test(headers['accept-encoding'] ?? '') || !(isStream || (isText && payload.length > LEAST_BYTES)))
      return payload
    void reply.header('content-encoding', 'gzip').removeHeader('content-length')
    // A client that leaves destroys both.
    return isStream ? pipeline(payload, createGzip(), () => {}) : gzipped(payload)
  })
}
