import { onTestFinished } from 'vitest'

export type ReceivedEvent = { id: string; event: string; data: unknown }

/** A client of server-sent events. */
export type EventClient = {
  response: Response
  /** The next event; undefined when the server has ended the stream. Rejects when the connection was reset. */
  next: () => Promise<ReceivedEvent | undefined>
}

/** Connects, and resolves after the greeting of the server: events published from then on arrive. */
export async function eventClient(url: string, headers: Record<string, string> = {}, query = ''): Promise<EventClient> {
  const aborting = new AbortController()
  onTestFinished(() => aborting.abort())
  const response = await fetch(`${url}/api/v1/events${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: aborting.signal,
  })
  const blocks = readBlocks(response.body!)
  await blocks.next()
  return {
    response,
    next: async () => {
      let { value } = await blocks.next()
      while (value?.includes('data:') === false) ({ value } = await blocks.next())
      return value === undefined ? undefined : readEvent(value)
    },
  }
}

async function* readBlocks(body: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      yield text.slice(0, end)
      text = text.slice(end + 2)
    }
  }
  return undefined
}

function readEvent(block: string): ReceivedEvent {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)))
  return { id: fields.id, event: fields.event, data: JSON.parse(fields.data) }
}
