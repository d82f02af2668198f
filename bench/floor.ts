import { Client } from 'undici'
import { measure } from './measure.ts'

/** The floor: fetches the same pages on one keep-alive connection and parses them, and nothing else. */
const [url = '', pages = '0'] = process.argv.slice(2)
const { origin, pathname } = new URL(url)
const client = new Client(origin)
const read = async () => {
  let calls = 0
  for (let page = 1; page <= Number(pages); page++) {
    const { body } = await client.request({ method: 'GET', path: `${pathname}/calls?page=${page}&perPage=100` })
    const { data }: { data: unknown[] } = JSON.parse(await body.text())
    calls += data.length
  }
  return calls
}
const once = await measure(read)
process.send?.({ runs: [once] })
await client.close()
process.disconnect?.()
