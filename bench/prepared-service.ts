import { createServer } from 'node:http'

/** Serves `--calls` finished calls, 100 a page, newest first, from memory. Prints its address; ends with its parent. */
const calls = Number(process.argv[2])
const PER_PAGE = 100
const pages = Math.ceil(calls / PER_PAGE)
const now = Math.floor(Date.now() / 1000)

/** Shaped like the published sample: two participants. */
function call(n: number): object {
  const initiatedAt = now - 60 - Math.floor((n / calls) * 80_000)
  const [startedAt, endedAt] = [initiatedAt + 7, initiatedAt + 7 + (n % 600)]
  const minutes = (endedAt - startedAt) / 60
  const participant = (uid: string) => ({
    uid,
    totalAudioMinutes: minutes,
    totalVideoMinutes: 0,
    totalDurationInMinutes: minutes,
    deviceId: `70ecae89-b71c-4bb3-8220-b99c${String(n).padStart(8, '0')}`,
    isJoined: true,
    joinedAt: startedAt,
    leftAt: endedAt,
    state: 'ended',
  })
  return {
    sessionId: `v1.us.208136f5ba34a5a2.1712662${String(n).padStart(9, '0')}`,
    totalAudioMinutes: minutes,
    totalVideoMinutes: 0,
    totalDuration: '00:00:00',
    totalDurationInMinutes: minutes,
    totalParticipants: 2,
    hasRecording: false,
    hasTranscription: false,
    mid: `6b9e8a0a-4c1c-4a6e-${n}`,
    type: 'audio',
    mode: 'call',
    receiverType: 'user',
    status: 'ended',
    initiator: 'alice',
    receiver: 'bob',
    initiatedAt,
    startedAt,
    endedAt,
    tags: [],
    metaData: [],
    participants: [participant('alice'), participant('bob')],
  }
}

const bodies = Array.from({ length: pages }, (_, page) => {
  const data = Array.from({ length: Math.min(PER_PAGE, calls - page * PER_PAGE) }, (_item, i) =>
    call(page * PER_PAGE + i),
  )
  const pagination = {
    total: calls,
    count: data.length,
    per_page: PER_PAGE,
    current_page: page + 1,
    total_pages: pages,
  }
  return Buffer.from(JSON.stringify({ data, meta: { pagination } }))
})
const server = createServer((request, response) => {
  const page = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('page') ?? 1)
  const body = bodies[page - 1]
  response.writeHead(body ? 200 : 404, { 'content-type': 'application/json', 'content-length': body?.length ?? 0 })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v3`, pages })
})
process.once('disconnect', () => process.exit(0))
