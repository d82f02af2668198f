import { connect, createServer, type Socket } from 'node:net'

/** A way to a database that can be cut: between the two, bytes pass as they are. */
export type CuttingProxy = {
  /** The address of the database by this way. */
  url: string
  /**
   * Cuts the next connection on which a COMMIT passes, as soon as the server answers it: it was done, and no client gets that.
   * Resolves when that has happened.
   */
  cutAnswerToCommit: () => Promise<void>
  /** From now on nothing passes, though all stays connected. */
  stall: (stalled: boolean) => void
  /** How often something came from the database's clients after it had sent them something: flights there and back. */
  roundTrips: () => number
  close: () => Promise<void>
}

/** @param url of a database on loopback */
export async function cuttingProxy(url: string): Promise<CuttingProxy> {
  const { port } = new URL(url)
  const pairs = new Set<readonly [Socket, Socket]>()
  let isStalled = false
  let roundTrips = 0
  let cut: (() => void) | undefined

  const server = createServer((client) => {
    const upstream = connect({ host: '127.0.0.1', port: Number(port) })
    const pair = [client, upstream] as const
    pairs.add(pair)
    let isDoomed = false
    let hasAnswered = true
    const end = () => {
      for (const socket of pair) socket.destroy()
      pairs.delete(pair)
    }
    for (const socket of pair) {
      socket.on('error', end)
      socket.on('close', end)
      if (isStalled) socket.pause()
    }
    client.on('data', (bytes: Buffer) => {
      if (hasAnswered) roundTrips += 1
      hasAnswered = false
      if (cut !== undefined && bytes.includes('COMMIT')) isDoomed = true
      upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      hasAnswered = true
      if (!isDoomed || !bytes.includes('COMMIT')) {
        client.write(bytes)
        return
      }
      end()
      cut?.()
      cut = undefined
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const own = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: url.replace(`:${port}/`, `:${own}/`),
    cutAnswerToCommit: () => new Promise((done) => (cut = done)),
    stall: (stalled) => {
      isStalled = stalled
      for (const socket of [...pairs].flat()) {
        if (stalled) socket.pause()
        else socket.resume()
      }
    },
    roundTrips: () => roundTrips,
    close: async () => {
      for (const socket of [...pairs].flat()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
