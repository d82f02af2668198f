import { onTestFinished } from 'vitest'

export type ReceivedEvent = { id: string; event: string; data: unknown }

/** Someone who reads server-sent events as they come. */
export type EventClient = {
  response: Response
  /** The next event; undefined when the server ended the stream. Rejects when the connection was cut. */
  next: () => Promise<ReceivedEvent | undefined>
}

/** Connects, and resolves when the server has greeted: what is published from then on arrives. */
export async function eventClient(url: string, headers: Record<string, string> = {}, query = ''): Promise<EventClient> {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const response = await fetch(`${url}/api/v1/events${query}`, { headers, signal: leaving.signal })
  const blocks = readBlocks(response.body!)
  await blocks.next()
  return {
    response,
    next: async () => {
      let { value } = await blocks.next()
      while (value?.startsWith(':')) ({ value } = await blocks.next())
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
