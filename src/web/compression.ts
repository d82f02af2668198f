import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** Compressing less than this saves no packet. */
const LEAST_BYTES = 1024
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/

const gzipped = promisify(gzip)

/**
 * Compresses JSON above a kilobyte for clients that accept gzip. Other answers are not compressed: a stream of events must not
 * wait in a buffer, and compressing metrics for a local network would only slow down polls.
 */
export function compressJson(app: FastifyInstance): void {
  app.addHook('onSend', async ({ headers }, reply, payload: unknown) => {
    if (!String(reply.getHeader('content-type')).startsWith('application/json')) return payload
    void reply.header('vary', 'accept-encoding')
    const isLong = typeof payload === 'string' && payload.length > LEAST_BYTES
    if (!isLong || !GZIP.test(headers['accept-encoding'] ?? '')) return payload
    void reply.header('content-encoding', 'gzip').removeHeader('content-length')
    return gzipped(payload)
  })
}
