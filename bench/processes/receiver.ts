import { createServer } from 'node:http'
import { once } from 'node:events'
import { answer, forkedWith } from './answer.ts'

/** A receiver of events that accepts all, or with a status that refuses all; says how many it got. */
const { status = 204 } = forkedWith<{ status?: number }>()
let received = 0
const server = createServer((request, response) => {
  request.resume().once('end', () => {
    received += 1
    response.writeHead(status).end()
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`

answer(() => ({ url, received }))
