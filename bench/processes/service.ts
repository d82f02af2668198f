import { createServer } from 'node:http'
import { answer, forkedWith } from './answer.ts'
import { callAt, callOfSession, newestCall, worldOfApp, type World } from './world.ts'

/**
 * The calls service of a world, newest call first, whatever the prefix of the path: `GET …/calls?page=N&perPage=100` and
 * `GET …/calls/<sessionId>`. Its clock stands where the parent sets it, or goes with the host's.
 */
const { world, now: fixed } = forkedWith<{ world: World; now?: number }>()
/** Pages that are kept ready while the clock stands. */
const MAX_PAGES = 1200

let clock = fixed
let shownAt: number | undefined
const ready = new Map<string, Buffer>()

const server = createServer((request, response) => {
  const now = clock ?? Math.floor(Date.now() / 1000)
  if (now !== shownAt) ready.clear()
  shownAt = now
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const sessionId = path.split('/calls/')[1]
  const app = world.apart === undefined ? 0 : Number(/\/app-(\d+)\//.exec(path)?.[1])
  const body = sessionId === undefined ? list(query, now, app) : get(decodeURIComponent(sessionId), now, app)
  response.writeHead(body === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'content-length': body?.length ?? 0,
    // Also where the clock of the calls stands still, that of the answers advances.
    date: new Date(Math.max(now * 1000, Date.now())).toUTCString(),
  })
  response.end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v3`
  answer((question: { now?: number; prepare?: boolean }) => {
    clock = question.now ?? clock
    if (question.prepare) {
      shownAt = clock
      ready.clear()
      const pages = Math.min(MAX_PAGES, Math.ceil(world.calls / 100))
      for (let page = 1; page <= pages; page++) list(`page=${page}&perPage=100`, clock!, 0)
    }
    return { url, now: clock }
  })
})

function list(query: string, now: number, app: number): Buffer {
  const known = ready.get(`${app} ${query}`)
  if (known !== undefined) return known
  const parameters = new URLSearchParams(query)
  const [page, perPage] = [Number(parameters.get('page') ?? 1), Number(parameters.get('perPage') ?? 100)]
  const first = (page - 1) * perPage
  const count = Math.max(0, Math.min(perPage, world.calls - first))
  const own = worldOfApp(world, app)
  const newest = newestCall(own, now)
  const data = Array.from({ length: count }, (_, i) => callAt(own, newest - first - i, now))
  const pagination = {
    total: world.calls,
    count,
    per_page: perPage,
    current_page: page,
    total_pages: Math.ceil(world.calls / perPage),
  }
  const body = Buffer.from(JSON.stringify({ data, meta: { pagination } }))
  if (ready.size < MAX_PAGES) ready.set(`${app} ${query}`, body)
  return body
}

function get(sessionId: string, now: number, app: number): Buffer | undefined {
  const own = worldOfApp(world, app)
  const n = callOfSession(own, sessionId, now)
  return n === undefined ? undefined : Buffer.from(JSON.stringify({ data: callAt(own, n, now) }))
}
