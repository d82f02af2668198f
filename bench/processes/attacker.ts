import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from './answer.ts'

/** So many requests at once, for so many seconds. */
export type Attack = {
  url: string
  /** Method and path. */
  request: string
  count: number
  seconds: number
  /** The type of the answer that is asked for. */
  accept?: string
  /** Connections that read nothing of the answer. */
  deaf?: boolean
  /** A body of that many bytes is announced, and sent byte by byte. */
  body?: number
}

/** How often each HTTP status was answered, and how many connections the other side closed. */
export type Attacked = { statuses: Record<string, number>; closed: number }

const DRIP_MS = 100

answer(async ({ url, request, count, seconds, accept = '*/*', deaf = false, body }: Attack): Promise<Attacked> => {
  const { hostname, port } = new URL(url)
  const statuses: Record<string, number> = {}
  let closed = 0
  const length = body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${body}\r\n`
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.once('close', () => (closed += 1))
    socket.once('data', (chunk: Buffer) => {
      const status = /^HTTP\/1.1 (\d+)/.exec(chunk.toString('latin1'))?.[1] ?? 'none'
      statuses[status] = (statuses[status] ?? 0) + 1
      if (deaf) socket.pause()
      else socket.resume()
    })
    socket.write(`${request} HTTP/1.1\r\nhost: ${hostname}\r\naccept: ${accept}\r\n${length}\r\n`)
    sockets.push(socket)
  }
  const dripping =
    body === undefined ? undefined : setInterval(() => sockets.forEach((each) => each.write(' ')), DRIP_MS)
  await sleep(seconds * 1000)
  clearInterval(dripping)
  const cut = closed
  for (const socket of sockets) socket.destroy()
  return { statuses, closed: cut }
})
