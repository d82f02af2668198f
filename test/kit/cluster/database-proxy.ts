import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A proxy between the daemons and one server of the database. Changed in place. */
export type DatabaseProxy = {
  readonly port: number
  /** How long each answer takes on top (milliseconds). */
  delay: number
  /** Cuts the connection on which the next commit of counts is requested: before it can be answered, or as it is. */
  cutNext: 'before the answer' | 'instead of the answer' | undefined
  /** Connections that were cut so. */
  cuts: number
  close: () => void
}

/** What is in the statement of each commit that counts something, and in no other: the name of a durable series. */
const COUNTING = Buffer.from('callwatch_calls_')

/** What PostgreSQL answers to the COMMIT behind it. */
const DONE = Buffer.from('COMMIT')

/** Forwards everything to a port of loopback, unless set otherwise. */
export async function databaseProxy(target: number): Promise<DatabaseProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host: '127.0.0.1', port: target, noDelay: true })
    client.setNoDelay()
    let isDoomed = false
    const cut = () => {
      client.resetAndDestroy()
      upstream.destroy()
    }
    const cutOnPurpose = () => {
      proxy.cuts += 1
      cut()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', cut)
      socket.on('close', () => {
        sockets.delete(socket)
        cut()
      })
    }
    client.on('data', (request: Buffer) => {
      upstream.write(request)
      if (proxy.cutNext === undefined || !request.includes(COUNTING)) return
      if (proxy.cutNext === 'before the answer') cutOnPurpose()
      else isDoomed = true
      proxy.cutNext = undefined
    })
    let answered = Promise.resolve()
    upstream.on('data', (answer: Buffer) => {
      if (isDoomed && answer.includes(DONE)) return cutOnPurpose()
      // One after the other, also where the delay changes meanwhile.
      answered = answered.then(async () => {
        if (proxy.delay > 0) await wait(proxy.delay)
        client.write(answer)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const proxy: DatabaseProxy = {
    port: address.port,
    delay: 0,
    cutNext: undefined,
    cuts: 0,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return proxy
}
