import { createServer } from 'node:http'
import { HOSTILE_PAGES, harmlessPage } from '../hostile-pages.ts'
import { answer } from './answer.ts'

/** A calls service with a correct list, until it is given a hostile page, which then is each of its pages. */
let hostile: Buffer | undefined

const server = createServer((request, response) => {
  const page = Number(new URL(request.url ?? '', 'http://service').searchParams.get('page') ?? 1)
  const body = hostile ?? Buffer.from(harmlessPage(page))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v3`
  answer(({ attack }: { attack?: string }) => {
    hostile = attack === undefined ? undefined : Buffer.from(HOSTILE_PAGES[attack]!())
    return { url }
  })
})
