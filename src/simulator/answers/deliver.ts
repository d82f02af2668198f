import type { ServerResponse } from 'node:http'

import type { Reply } from './http.ts'
import type { RecordedResponse } from './responses.ts'

const DRIP_BYTES = 8
const DRIP_MS = 100

/** Writes an answer to the connection according to its `delivery`. Records in `response` whether all of it was sent. */
export function deliver(reply: Reply, raw: ServerResponse, response: RecordedResponse): void {
  raw.once('close', () => {
    response.delivered = raw.writableFinished
  })
  if (reply.delivery === 'hang') return
  if (reply.delivery === 'reset') {
    raw.socket?.resetAndDestroy()
    return
  }
  // Otherwise the server would add a Date of its own.
  raw.sendDate = false
  const body = Buffer.from(reply.body)
  raw.writeHead(reply.status, { ...reply.headers, 'content-length': body.length })
  if (reply.delivery === 'whole') raw.end(body)
  else if (reply.delivery === 'drip') drip(raw, body)
  else raw.write(body.subarray(0, body.length / 2), () => raw.destroy())
}

function drip(raw: ServerResponse, body: Buffer): void {
  let sent = 0
  const timer = setInterval(() => {
    raw.write(body.subarray(sent, sent + DRIP_BYTES))
    sent += DRIP_BYTES
    if (sent < body.length) return
    clearInterval(timer)
    raw.end()
  }, DRIP_MS)
  timer.unref()
  raw.once('close', () => clearInterval(timer))
}
